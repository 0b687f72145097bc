"""What a Plan of 2,000 steps takes in the cluster, and what one Task's move sends.

The bytes are the same on any machine; they are printed (``pytest -s``) for the reference.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from bernstein.api.meta import Condition, ConditionType, UsageCounts
from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import LedgerEntry, PlanTask
from bernstein.api.projects.gates import Gates
from bernstein.api.signals import Signal
from bernstein.api.verification import MOST_CHECKS, CheckAgain, CheckResult, Verification
from bernstein.checks.signals import of as of_signal
from bernstein.checks.spec import Subject
from bernstein.core.plans import size
from bernstein.core.plans.expansion import expand
from bernstein.core.plans.rows import in_place, names_by_stage, names_of_steps
from bernstein.core.verification import verdicts
from bernstein.core.verification.expected import required
from bernstein.kube.patches import json_patch, status_diff
from tests.unit.core import objects

STAGES, STEPS = 40, 50
MOST = 1_000_000


def test_tasks_of_a_plan_with_all_edges_do_not_grow_with_the_edges() -> None:
    stages: list[dict[str, Any]] = [
        {
            "name": f"stage {s}",
            "dependsOn": [f"stage {before}" for before in range(s)],
            "steps": [{"title": f"Write part {n} of module {s}"} for n in range(STEPS)],
        }
        for s in range(STAGES)
    ]
    made: Plan = objects.plan("a-plan-with-a-name-of-usual-length", stages=stages)
    tasks = expand(made, "default")
    names = names_by_stage(made)
    upstream = [
        sum(
            len(name) + 3
            for stage in task["spec"].get("dependsOnStages", ())
            for name in names[stage]
        )
        for task in tasks
    ]
    by_stage = sum(map(_bytes, tasks))
    print(f"Tasks of all edges {by_stage}, with names {by_stage + sum(upstream)}")
    assert by_stage < 2_500_000


def plan(steps: int = STEPS) -> Plan:
    """Of so many steps a stage, each with a line to say; all have landed."""
    stages: list[dict[str, Any]] = [
        {
            "name": f"stage {s}",
            "dependsOn": [],
            "steps": [{"title": f"Write part {n} of module {s}"} for n in range(steps)],
        }
        for s in range(STAGES)
    ]
    made: Plan = objects.plan("a-plan-with-a-name-of-usual-length", stages=stages)
    rows = in_place(made.spec, (), names_of_steps(made))
    landed = tuple(_landed(number, row) for number, row in enumerate(rows, 1))
    return made.model_copy(update={"status": made.status.model_copy(update={"tasks": landed})})


def _landed(number: int, row: PlanTask) -> PlanTask:
    return row.model_copy(
        update={
            "uid": "0b0c7c4e-0000-4000-8000-000000000000",
            "state": "Closed",
            "attempts": 3,
            "sessions": 4,
            "spend_usd": "12.345678",
            "usage": UsageCounts(input=123456, output=45678, cache_read=1234567, cache_write=12345),
            "landed": LedgerEntry(number=number, sha="a" * 40),
        }
    )


def _bytes(value: object) -> int:
    return len(json.dumps(value, separators=(",", ":")).encode())


def test_the_largest_plan_fits_with_its_status_and_a_move_sends_its_own_row() -> None:
    full = plan()
    rows = full.status.tasks
    moved = (*rows[:999], rows[999].model_copy(update={"state": "Done"}), *rows[1000:])
    before = full.status.dump()
    after: dict[str, Any] = PlanStatus(**dict(full.status) | {"tasks": moved}).dump()

    spec, status = _bytes(full.spec.dump()), _bytes(before)
    patch = _bytes(json_patch(before, after, "/status"))
    print(
        f"spec {spec}, status {status}, a row {_bytes(rows[1999].dump())}, a move {patch}, "
        f"as a merge patch {_bytes(status_diff(before, after))}"
    )
    assert spec + status + verdicts.EXCERPT_BYTES <= MOST, "what failed checks say is part of it"
    assert _bytes(_at_worst(rows[1999]).dump()) <= size._ROW_BYTES + len('"stage 39",')
    assert 2 < patch < 200
    assert not list(size.too_large(full.spec))


@pytest.mark.parametrize("character", ["x", "\N{VIOLIN}"])
def test_verdicts_are_part_of_what_a_plan_may_take(character: str) -> None:
    """The largest Plan of 200 signals that is taken, all of them failed, with much to say."""
    full = next(p for p in map(with_signals, range(STEPS, 0, -1)) if fits(p))
    every = (
        s for stage in full.spec.stages for step in stage.steps for s in step.completion_signals
    )
    signals = list({signal.command: signal for signal in every}.values())
    no_gates = objects.project(gates={"enabled": False}).spec
    changed = Subject(any_changed=True, python_changed=True, tests_changed=True, deps_changed=True)
    checks = required.required_checks(signals, no_gates, changed)
    jobs = {c.name: objects.checked(c.name, 1, said=character * 1500) for c in checks}
    results = verdicts.complete(verdicts.so_far(checks, jobs, objects.NOW, Gates()))
    judged = objects.verification(passed=False, checks=results)

    together = _bytes(full.spec.dump()) + _bytes_of_status(full, judged)
    print(f"{len(full.status.tasks)} steps with {len(checks)} signals take {together}")
    assert len(checks) == size.MOST_SIGNALS
    assert together <= size.PLAN_BYTES


@pytest.mark.parametrize("named", ["plan", "with_signals", "with_texts"])
def test_the_largest_plan_that_is_taken_fits_the_store_at_its_worst(named: str) -> None:
    """With the Project's gates, all run again, and the longest annotations that there may be."""
    of: Callable[[int], Plan] = globals()[named]
    full = next(p for p in map(of, range(STEPS, 0, -1)) if fits(p))
    worst = tuple(_at_worst(row) for row in full.status.tasks)
    checks = tuple(_judged(f"signal-{n}", title) for n, title in enumerate(_signals(full)))
    gates = tuple(
        _judged(f"{n:03}".ljust(63, "g"), "t" * 300) for n in range(MOST_CHECKS - size.MOST_SIGNALS)
    )
    said = Verification(
        base="a" * 64,
        sha="a" * 64,
        tree="a" * 64,
        ref="refs/" + "r" * 250,
        checks=(*checks, *gates),
        again=tuple(CheckAgain(check=c.name, round=999, suspected=True) for c in (*checks, *gates)),
    )
    conditions = tuple(
        Condition(
            type=each,
            status="True",
            reason="R" * 64,
            message="m" * 4096,
            last_transition_time=objects.NOW,
        )
        for each in (ConditionType.STALLED, ConditionType.VERIFIED, ConditionType.SUCCEEDED)
    )
    update = {"tasks": worst, "verification": said, "conditions": conditions}
    status = full.status.model_copy(update=update).dump()
    takes = _stored(full.spec.dump()) + _stored(status) + verdicts.EXCERPT_BYTES

    print(f"{len(worst)} steps take {takes} at their worst")
    assert 0.85 * size.PLAN_BYTES < takes <= size.PLAN_BYTES
    assert size.PLAN_BYTES + ANNOTATIONS + 10_000 < ETCD


ANNOTATIONS, ETCD = 256 * 1024, 1536 * 1024
"""Bytes that Kubernetes takes of all annotations of an object, and etcd of an object."""


def _at_worst(row: PlanTask) -> PlanTask:
    most = 10**10 - 1
    return row.model_copy(
        update={
            "name": row.name.ljust(63, "n"),
            "attempts": 999,
            "sessions": 9999,
            "rounds": 99,
            "spend_usd": "999999.999999",
            "usage": UsageCounts(input=most, output=most, cache_read=most, cache_write=most),
            "landed": LedgerEntry(number=2000, sha="a" * 64),
        }
    )


def _judged(name: str, title: str) -> CheckResult:
    return CheckResult(
        name=name,
        kind="gate",
        title=title,
        asked="a" * 32,
        verdict="TimedOut",
        reason="ImagePullBackOff",
        excused=False,
        seconds=86400,
        image="sha256:" + "a" * 64,
    )


def _signals(full: Plan) -> list[str]:
    """What the different signals of a Plan ask."""
    every = (
        s for stage in full.spec.stages for step in stage.steps for s in step.completion_signals
    )
    found = {signal.model_dump_json(): signal for signal in every}
    return [of_signal(s.type).title(s) for s in found.values()]


def _stored(value: object) -> int:
    """Bytes as Go's encoding/json writes it, which escapes what HTML does."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for each in "<>&\u2028\u2029":
        text = text.replace(each, f"\\u{ord(each):04x}")
    return len(text.encode())


def with_texts(steps: int) -> Plan:
    """So many steps a stage, with descriptions full of what is stored longer than it is."""
    made = plan(steps)
    stages = [
        stage.model_copy(
            update={
                "steps": tuple(
                    step.model_copy(update={"description": "a < b && c > d " * 10})
                    for step in stage.steps
                )
            }
        )
        for stage in made.spec.stages
    ]
    return made.model_copy(update={"spec": made.spec.model_copy(update={"stages": tuple(stages)})})


def with_signals(steps: int) -> Plan:
    """So many steps a stage; 200 different commands judge them."""
    made = plan(steps)
    stages = [
        stage.model_copy(
            update={
                "steps": tuple(
                    step.model_copy(update={"completion_signals": (_command(s * steps + n),)})
                    for n, step in enumerate(stage.steps)
                )
            }
        )
        for s, stage in enumerate(made.spec.stages)
    ]
    return made.model_copy(update={"spec": made.spec.model_copy(update={"stages": tuple(stages)})})


def _command(number: int) -> Signal:
    return Signal(type="test_passes", command=f"pytest -q tests/test_{number % 200}.py")


def fits(full: Plan) -> bool:
    return not list(size.too_large(full.spec))


def _bytes_of_status(full: Plan, judged: Verification) -> int:
    status = full.status.model_copy(update={"verification": judged}).dump()
    return len(json.dumps(status, ensure_ascii=False, separators=(",", ":")).encode())
