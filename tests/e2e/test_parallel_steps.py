"""Steps of one stage that need each other's work: middleware, wiring and tests, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from bernstein.core.plans import file as plan_file
from tests.demo import manifests
from tests.demo.manifests import Agents
from tests.e2e.conftest import Object, World
from tests.stack import Stack
from tests.unit.core.plans.plan_files import RATE_LIMIT

PLAN = "rate-limit-api"
NAMESPACE = "side-by-side"
SLOW = {"Add RateLimiter middleware": 75, "Wire middleware into FastAPI app": 60}
"""Seconds that these agents take: longer than the tests take to be written and judged."""


def as_written() -> Object:
    """The Plan of the plan file that the plan format is documented with, word for word: its stage
    `implement` has middleware, wiring and tests as three steps."""
    data = plan_file.parse(RATE_LIMIT)
    assert isinstance(data, dict)
    plan: Object = plan_file.plan_object(data, name=PLAN, namespace=NAMESPACE)
    return plan


def scenario() -> str:
    """The example's script: nobody lies, and the tests are there first."""
    found: dict[str, Any] = yaml.safe_load((manifests.EXAMPLE / "scenario.yaml").read_text())
    for task in found["tasks"]:
        honest = task["attempts"][-1]
        sleep = [{"sleep": SLOW[task["title"]]}] if task["title"] in SLOW else []
        task["attempts"] = [honest | {"steps": [*sleep, *honest["steps"]]}]
    text: str = yaml.safe_dump(found)
    return text


@pytest.fixture
def world(stack: Stack) -> Iterator[World]:
    stack.kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found")
    server, objects = manifests.demo(NAMESPACE, Agents(scenario()))
    stack.kubectl("apply", "-f", "-", stdin=manifests.as_list(objects))
    stack.kubectl("-n", NAMESPACE, "rollout", "status", f"deployment/{server.name}")
    world = World(stack, server, NAMESPACE, PLAN)
    world.apply(as_written())
    yield world
    stack.kubectl("delete", "namespace", NAMESPACE, "--wait=false")


def named(world: World, title: str) -> Object:
    return next(t for t in world.all("tasks") if t["spec"]["title"] == title)


def test_the_plan_as_written_succeeds_its_tests_wait_for_what_they_test_before_the_next_attempt(
    world: World,
) -> None:
    world.await_("plan", PLAN, lambda p: p["status"]["counts"]["closed"] >= 2, 180)
    tester = named(world, "Write rate-limiter unit tests")["metadata"]["name"]

    waits = world.await_(
        "task", tester, lambda t: t["status"]["waiting"]["reason"] == "SiblingsAtWork", 120
    )

    assert [a["reason"] for a in waits["status"]["attempts"]] == ["SignalFailed"]
    slow = [named(world, title)["metadata"]["name"] for title in SLOW]
    assert all(name in waits["status"]["waiting"]["message"] for name in slow)
    world.await_("plan", PLAN, lambda p: p["status"].get("phase") == "Succeeded", 300)
    counted = [a["reason"] for a in world.get("task", tester)["status"]["attempts"] if a["counted"]]
    assert counted == ["SignalFailed", "Succeeded"]
    assert {"src/api/middleware/rate_limiter.py", "tests/test_rate_limiter.py"} <= {*world.files()}
