"""What `make demo` does on a cluster that is up: the story in its time, and the same again."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.demo import run
from tests.stack import Clock, Stack

MOST_SECONDS = 8 * 60


@pytest.fixture
def after(stack: Stack) -> Iterator[None]:
    yield
    stack.kubectl("delete", "namespace", run.NAMESPACE, "--ignore-not-found", "--wait=false")


def plans(stack: Stack) -> list[str]:
    found = json.loads(stack.kubectl("-n", run.NAMESPACE, "get", "plans", "-o", "json"))
    return [plan["metadata"]["name"] for plan in found["items"]]


@pytest.mark.usefixtures("after")
def test_the_demo_tells_its_story_in_time_and_can_be_repeated(
    stack: Stack, capfd: pytest.CaptureFixture[str]
) -> None:
    clock = Clock()

    assert run.story(stack, clock) == 0

    told = capfd.readouterr().out
    assert "attempt 2" in told  # of the step whose agent lied
    assert "✓ Succeeded: verified and merged" in told
    assert "src/api/middleware/rate_limiter.py" in told.partition("Merged history")[2]
    assert plans(stack) == [run.PLAN]

    run.where_the_time_went(clock)
    shown = capfd.readouterr().out
    assert clock.spent.keys() == {"preparing the example", "running the plan"}
    assert all(f"{seconds:.1f} s  {what}" in shown for what, seconds in clock.spent.items())
    assert sum(clock.spent.values()) < MOST_SECONDS

    run.prepare(stack, clock)
    assert plans(stack) == []


@pytest.mark.usefixtures("after")
def test_the_demos_namespace_refuses_pods_that_are_not_restricted(stack: Stack) -> None:
    run.prepare(stack, Clock())
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "root", "namespace": run.NAMESPACE},
        "spec": {"containers": [{"name": "root", "image": "bernstein:dev", "command": ["id"]}]},
    }

    with pytest.raises(RuntimeError, match=r'violates PodSecurity "restricted'):
        stack.kubectl("create", "-f", "-", stdin=json.dumps(pod))
