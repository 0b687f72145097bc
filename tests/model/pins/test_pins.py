"""What began under a Project goes on under it alone, and costs what was said when it began."""

from __future__ import annotations

from collections import Counter
from typing import Any

import orjson
import pytest

from bernstein.kube.resource import JOBS, Object, Resource, uid_of
from bernstein.resources import PROJECTS, SESSIONS, TASKS
from tests.model.cluster.store import Store
from tests.model.loop import run
from tests.model.pins.changes import CHANGES, OFTEN
from tests.model.pins.oracle import JUDGES, MODEL, PRICE, PROJECT, OracleOfPins
from tests.model.scenario import generate
from tests.model.stories import story, with_events
from tests.model.world import World, lived

AGAIN = "a-project-is-made-again-while-an-agent-works"
CHANGED = "a-price-changes-while-an-agent-works"
GIVES_UP = {"at": 120.0, "do": "project", "what": "give up"}


def statuses(world: World) -> dict[str, Object]:
    return {obj["metadata"]["name"]: obj["status"] for obj in world.store.all(TASKS)}


def test_most_seeds_have_no_such_people_and_all_that_they_do_happens_in_some() -> None:
    done = [[e["what"] for e in generate(s).events if e["do"] == "project"] for s in range(300)]

    part = sum(bool(events) for events in done) / len(done)
    assert abs(part - OFTEN) < 0.08
    assert set(Counter(what for events in done for what in events)) == {*CHANGES, "give up"}


@pytest.mark.parametrize("change", [{"seconds": None}, {}], ids=["for ever", "made again"])
def test_what_began_under_a_project_that_is_gone_waits_for_a_person(change: Any) -> None:
    told = story(AGAIN)
    (delete,) = (e for e in told.events if e["do"] == "project")
    world, outcome = lived(with_events(told.without([delete]), delete | change))

    assert outcome.violations == ()
    assert statuses(world)["task-0"]["waiting"]["reason"] == "ProjectGone"


def test_a_person_may_cancel_it_then() -> None:
    world, outcome = lived(with_events(story(AGAIN), GIVES_UP))

    assert outcome.violations == ()
    assert statuses(world)["task-0"]["state"] == "Cancelled"


def test_two_projects_of_a_namespace_have_work_of_their_own() -> None:
    second = {"at": 30.0, "do": "project", "what": "second", "pick": 0.0}
    world, outcome = lived(with_events(story(CHANGED), second))

    assert outcome.violations == ()
    tasks = statuses(world)
    assert {status["state"] for status in tasks.values()} == {"Closed"}
    began = {status["projectUid"] for status in tasks.values()}
    assert began == {obj["metadata"]["uid"] for obj in world.store.all(PROJECTS)}
    assert len(began) == 2


class Again:
    """What was written in a run, shown to the rules once more."""

    def __init__(self, world: World) -> None:
        self.broken: list[str] = []
        self._rules = OracleOfPins(Store(), self._must)
        self._last: dict[str, Object] = {}
        logs = world.store.log.items()
        self._written = sorted(
            ((change, resource) for resource, log in logs for change in log),
            key=lambda written: written[0].revision,
        )

    def _must(self, holds: bool, what: str, _: str) -> None:
        if not holds:
            self.broken.append(what)

    async def play(self) -> None:
        for change, resource in self._written:
            uid = uid_of(change.object)
            new = change.object if change.type != "DELETED" else None
            self._rules.seen(resource, self._last.get(uid), new)
            self._last[uid] = change.object

    async def change(self, kind: Resource, what: bytes, into: bytes) -> None:
        """The last object of the kind in which this is: it was made otherwise; of a Task, it is
        changed."""
        texts = [orjson.dumps(c.object) for c, resource in self._written if resource == kind]
        text = [each for each in texts if what in each][-1]
        old = orjson.loads(text) if kind == TASKS else None
        self._rules.seen(kind, old, orjson.loads(text.replace(what, into)))


@pytest.mark.parametrize(
    ("kind", "what", "into", "broken"),
    [
        (JOBS, b"/app.git", b"/other.git", PROJECT),
        (JOBS, b'"sonnet"', b'"another"', MODEL),
        (SESSIONS, b'"input":"3"', b'"input":"9"', PRICE),
        (TASKS, b'"projectUid":"', b'"projectUid":"of-another-', PROJECT),
        (TASKS, b'"spendUsd":"', b'"spendUsd":"9', PRICE),
        (TASKS, b'"policy":"', b'"policy":"9', JUDGES),
    ],
)
def test_each_rule_can_be_broken(kind: Resource, what: bytes, into: bytes, broken: str) -> None:
    async def told() -> list[str]:
        await again.play()
        assert again.broken == []
        await again.change(kind, what, into)
        return again.broken

    again = Again(lived(story("a-gate-is-given-more-time-while-it-runs"))[0])

    assert run(told()) == [broken]
