"""A real collector takes the trace of a Plan that the operator led to its end, and prints it."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bernstein.controllers.traces.collector import Taken
from bernstein.controllers.traces.otlp import Endpoint, OtlpCollector
from bernstein.core.traces.span import span_id
from bernstein.kube.resource import Object, uid_of
from bernstein.resources import PLANS, SESSIONS, TASKS
from tests.background import wait_for
from tests.cluster.binaries.programs import COLLECTOR
from tests.cluster.machine.paths import REPOSITORY
from tests.model.scenario import generate
from tests.model.traces.collected import Collected
from tests.model.world import World, lived
from tests.platform.traces.collector import Printed, Running, running

SEED = 9
"""Of a life in which a Plan succeeds."""


@pytest.fixture(scope="module")
def life() -> tuple[World, Collected]:
    """A Plan's, with an operator that made traces of it."""
    collected = Collected()
    return lived(generate(SEED), collected)[0], collected


@pytest.fixture(scope="module")
def collector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("collector")) as found:
        yield found


@pytest.fixture(scope="module")
def printed(life: tuple[World, Collected], collector: Running) -> dict[str, Printed]:
    """What the collector prints of the Plan's trace, by the ids of its spans."""
    spans = life[1].spans
    answer = asyncio.run(OtlpCollector(Endpoint(collector.url)).send(spans))
    assert answer == Taken()
    wait_for(lambda: len(collector.spans()) >= len(spans))
    return {span.id: span for span in collector.spans()}


def shown(obj: Object, printed: dict[str, Printed]) -> Printed:
    """The span of an object as a whole."""
    return printed[span_id(uid_of(obj)).hex()]


def the_plan(world: World) -> Object:
    (plan,) = [p for p in world.store.all(PLANS) if p["status"].get("phase") == "Succeeded"]
    return plan


def of_it(world: World) -> list[Object]:
    """Its Tasks."""
    uid = uid_of(the_plan(world))
    tasks = world.store.all(TASKS)
    return [t for t in tasks if t["metadata"].get("ownerReferences", [{}])[0].get("uid") == uid]


def test_the_plan_is_the_only_root_of_its_trace(
    life: tuple[World, Collected], printed: dict[str, Printed]
) -> None:
    root = shown(the_plan(life[0]), printed)

    assert (root.name, root.parent) == ("plan", "")
    whole = [span for span in printed.values() if span.trace == root.trace]
    assert [span for span in whole if span.parent == ""] == [root]
    assert {span.parent for span in whole} - {""} <= {span.id for span in whole}


def test_each_task_is_part_of_the_plan_and_each_session_of_its_task(
    life: tuple[World, Collected], printed: dict[str, Printed]
) -> None:
    world = life[0]
    tasks = {uid_of(task): shown(task, printed) for task in of_it(world)}
    assert tasks
    assert {span.parent for span in tasks.values()} == {shown(the_plan(world), printed).id}
    sessions = [s for s in world.store.all(SESSIONS) if s["spec"]["taskRef"]["uid"] in tasks]
    assert sessions
    for session in sessions:
        span = shown(session, printed)
        assert span.name == f"invoke_agent {session['spec']['agent']}"
        assert span.parent == tasks[session["spec"]["taskRef"]["uid"]].id


def test_jobs_and_landings_are_in_the_same_trace(
    life: tuple[World, Collected], printed: dict[str, Printed]
) -> None:
    root = shown(the_plan(life[0]), printed)
    names = {span.name for span in printed.values() if span.trace == root.trace}

    assert {"job agent", "job land", "job begin", "verify", "land", "state Done"} <= names


def test_what_models_used_is_there_in_the_words_of_the_conventions(
    printed: dict[str, Printed], collector: Running
) -> None:
    assert printed
    text = collector.text()

    assert "-> gen_ai.operation.name: Str(invoke_agent)" in text
    assert "-> gen_ai.usage.input_tokens: Int(" in text
    assert "ScopeSpans SchemaURL: https://opentelemetry.io/schemas/" in text


def test_the_pages_configuration_is_one_that_a_collector_takes(tmp_path: Path) -> None:
    page = (REPOSITORY / "docs" / "how-to" / "trace.md").read_text()
    found = re.search(r"```yaml\n(# configuration of the collector\n.*?)```", page, re.DOTALL)
    assert found is not None
    (tmp_path / "collector.yaml").write_text(found[1])
    command = [str(COLLECTOR.ensure()), "validate", "--config", f"file:{tmp_path}/collector.yaml"]

    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
