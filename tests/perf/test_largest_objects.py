"""What the largest objects that the API takes cost the operator's loop at once.

Whatever is between two awaits holds everything up, the Lease of the leader included. Each step from
an object that is read to the status that is written is measured alone, as CPU time: of what the
controllers do in pieces, each piece, with nothing known of the object before. The figures are
printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import process_time
from typing import Any, TypeVar

import pytest

from bernstein.api import plan as plans
from bernstein.api import task as tasks
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.task import Task
from bernstein.checks import patterns
from bernstein.controllers.scheduler.boards import PIECE
from bernstein.core.actions import Decision
from bernstein.core.plans import judgement
from bernstein.core.plans.decide import decide, look_ahead
from bernstein.core.plans.expansion import expand
from bernstein.core.plans.tally import Tally
from bernstein.core.scheduling.schedule import Board, Schedule
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.tasks import decide as of_task
from bernstein.kube.patches import json_patch
from tests.perf.pace import TRIES, quickest
from tests.unit.core import objects
from tests.unit.core.objects import NOW, project
from tests.unit.core.scheduling.project_snapshot import ProjectSnapshot
from tests.unit.core.scheduling.schedules import schedule

MOST_SECONDS = 0.2
"""Of one step."""
LOOKS = 3
"""Of which the quickest counts: CPU time grows, too, on a machine that does other work besides."""

Object = dict[str, Any]
Step = Callable[[int], Object]
T = TypeVar("T")


def signal(pattern: str) -> Object:
    return {"type": "file_contains", "path": "a", "contains": pattern[:1024], "regex": True}


def stages(number: int, steps: int, step: Step) -> list[Object]:
    """All depend on all before."""
    return [
        {
            "name": f"stage {s}",
            "dependsOn": [f"stage {before}" for before in range(s)],
            "steps": [{"title": f"{s}.{n}", **step(s * steps + n)} for n in range(steps)],
        }
        for s in range(number)
    ]


def wide(number: int) -> str:
    return f"(?i){number}" + r"[\x00-\U0010ffff]" * 48


LARGEST: dict[str, list[Object]] = {
    "all edges": stages(40, 50, lambda _: {}),
    "wide classes": stages(4, 50, lambda n: {"completionSignals": [signal(wide(n))]}),
    "many patterns": stages(
        10,
        10,
        lambda n: {"completionSignals": [signal(f"{n}x{k}" + "(a|b)" * 200) for k in range(12)]},
    ),
    "nested groups": stages(
        10, 20, lambda n: {"completionSignals": [signal(f"{n}" + "(" * 500 + ")" * 500)]}
    ),
    "as many patterns as are judged": stages(
        4, 7, lambda n: {"completionSignals": [signal(f"{n}" + "(|)" * 340)]}
    ),
    "deep braces": stages(
        19,
        40,
        lambda n: {"files": ["{" * 100 + f"a{n}{k},b" + "}" * 100 for k in range(4)]},
    ),
    "stars": stages(19, 40, lambda n: {"files": ["*a" * 100 + f"{n}x{k}" for k in range(4)]}),
    "invisible text": stages(30, 50, lambda _: {"description": "\u200b\x1b[0" * 14}),
    "twenty signals": stages(
        40,
        10,
        lambda _: {
            "completionSignals": [{"type": "path_exists", "path": f"src/{k}.py"} for k in range(20)]
        },
    ),
}


REFUSED = {"wide classes", "many patterns", "nested groups"}
"""The API takes them; they are judged, and nothing is made of them."""


class Longest:
    """The CPU seconds of each step, or of the longest of its pieces: the quickest of LOOKS."""

    def __init__(self) -> None:
        self.steps: dict[str, float] = {}

    def of(self, name: str, step: Callable[[], T]) -> T:
        return self.of_pieces(name, lambda: (step() for _ in range(1)))

    def of_pieces(self, name: str, steps: Callable[[], Iterator[T]]) -> T:
        """What the last one gives."""
        taken = []
        for _ in range(LOOKS):
            forget()
            longest, began = 0.0, process_time()
            for piece in steps():
                found = piece
                longest = max(longest, process_time() - began)
                began = process_time()
            taken.append(max(longest, process_time() - began))
        self.steps[name] = min(taken)
        return found


def forget() -> None:
    """All that was judged before, as after a change of the Project or a restart."""
    patterns.problem.cache_clear()
    judgement.problems_of.__self__._known.clear()  # type: ignore[attr-defined]


def as_served(made: Object) -> Object:
    """A Task as the API server has it, once it was looked at."""
    meta = {"uid": f"uid-{made['metadata']['name']}", "generation": 1, "resourceVersion": "1"}
    meta["creationTimestamp"] = NOW.isoformat()
    status = {"state": "Open", "project": "default", "observedGeneration": 1}
    return made | {"metadata": made["metadata"] | meta, "status": status}


def follow(longest: Longest, given: Plan) -> bool:
    """The Plan from what is read of it to what is written of its Tasks; whether there are any."""
    obj = given.model_dump(mode="json", by_alias=True, exclude_none=True)
    read = longest.of("parse the Plan", lambda: plans.parse(obj))
    new = read.model_copy(update={"status": PlanStatus()})
    first = longest.of_pieces("decide", lambda: steps_of(new, {}))
    assert isinstance(first, Decision)
    longest.of("dump", lambda: json_patch({}, first.status.dump(), "/status"))
    if not first.status.expanded:
        return False
    made = [as_served(obj) for obj in expand(new, "default")]
    longest.of_pieces("parse a Task", lambda: (tasks.parse(obj) for obj in made))
    its = [tasks.parse(obj) for obj in made]
    by_name = {task.metadata.name: task for task in its}
    status = first.status.model_copy(update={"integration": given.status.integration})
    begun = read.model_copy(update={"status": status})
    longest.of_pieces("decide with Tasks", lambda: steps_of(new, by_name))
    longest.of_pieces("watch", lambda: steps_of(begun, by_name))
    found = longest.of_pieces("schedule", lambda: steps_of_schedule(begun, by_name))
    assert found == look(begun, by_name)
    subject = objects.snapshot(its[-1], others=tuple(its), plan=begun)
    longest.of("decide a Task", lambda: of_task.decide(subject, NOW))
    return True


def steps_of(plan: Plan, by_name: dict[str, Task]) -> Iterator[object]:
    """A look at the Plan, as its controller takes it in pieces; the last one is what is decided."""
    tally = Tally.of(plan, by_name.values(), ())
    tallied = tally.look(project())
    yield tallied
    snapshot = PlanSnapshot(plan, project(), None, by_name, tallied=tallied)
    for ahead in look_ahead(snapshot, NOW):
        snapshot = ahead
        yield snapshot
    yield decide(snapshot, NOW)


def steps_of_schedule(plan: Plan, by_name: dict[str, Task]) -> Iterator[Schedule | None]:
    """The same of the scheduler, at Tasks that nobody knew."""
    board, its = Board(), project()
    names = [*by_name]
    for start in range(0, len(names), PIECE):
        for name in names[start : start + PIECE]:
            board.put_task(name, by_name[name], plan, member=True)
        yield None
    while board.look_ahead(its, NOW, PIECE):
        yield None
    yield board.look(its, (), NOW)


def look(plan: Plan, by_name: dict[str, Task]) -> object:
    plan_of = dict.fromkeys(by_name, plan)
    return schedule(ProjectSnapshot(project(), list(by_name.values()), plan_of, by_name), NOW)


@pytest.mark.parametrize("kind", LARGEST)
def test_no_step_of_the_largest_plans_takes_the_loop_200_ms(kind: str) -> None:
    shown = []

    def measured() -> float:
        longest = Longest()
        assert follow(longest, objects.plan(stages=LARGEST[kind])) is (kind not in REFUSED)
        steps = longest.steps.items()
        shown.append(", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in steps))
        print(f"\n{kind}: {shown[-1]}")
        return max(longest.steps.values())

    longest, limit = quickest(measured, MOST_SECONDS)
    assert longest < limit, f"{limit * 1000:.0f} ms are allowed; {shown}"


def test_what_stages_hold_is_looked_up_once_and_not_for_every_task() -> None:
    """As many Tasks in one stage before as in all: what grows with the edges would be 8 times."""
    found: list[float] = []
    while len(found) < TRIES and (not found or found[-1] >= 3):
        few, many = seconds_to_schedule(6, 8), seconds_to_schedule(48, 1)
        found.append(many / few)
    assert min(found) < 3, f"each Task with each before would cost 8 times as much; {found}"


def seconds_to_schedule(steps: int, times: int) -> float:
    given = objects.plan(stages=stages(40, steps, lambda _: {}))
    new = given.model_copy(update={"status": PlanStatus()})
    first = decide(PlanSnapshot(new, project()), NOW).status
    begun_at = first.model_copy(update={"integration": given.status.integration})
    begun = new.model_copy(update={"status": begun_at})
    its = [tasks.parse(as_served(obj)) for obj in expand(begun, "default")]
    by_name = {task.metadata.name: task for task in its}
    longest = Longest()
    longest.of("schedule", lambda: [look(begun, by_name) for _ in range(times)])
    return longest.steps["schedule"]


@pytest.mark.parametrize("kind", ["many patterns", "nested groups", "wide classes"])
def test_an_invalid_plan_is_judged_once_for_what_it_says(kind: str) -> None:
    """Its patterns are forgotten between two looks: there are others, with more of them."""
    wrong = {"name": "wrong", "dependsOn": ["nobody"], "steps": [{"title": "wrong"}]}
    given = objects.plan(stages=[*LARGEST[kind], wrong])
    new = given.model_copy(update={"status": PlanStatus()})
    taken = []
    for _ in range(6):
        patterns.problem.cache_clear()
        began = process_time()
        status = decide(PlanSnapshot(new, project()), NOW).status
        taken.append(process_time() - began)
        new = new.model_copy(update={"status": status})
        assert status.phase == "Invalid"
    first, again = taken[0], min(taken[1:])
    print(f"\n{kind}: judged in {first * 1000:.0f} ms, looked at again in {again * 1000:.1f} ms")
    assert again < first / 2
