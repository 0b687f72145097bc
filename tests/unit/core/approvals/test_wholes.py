"""What people push to the work of a whole Plan: nothing that would have to be asked is assumed."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.verification import Origin, Verification
from bernstein.checks.rules import cross_model, file_scope
from bernstein.core.approvals.wholes import unverifiable, without_yes
from bernstein.core.snapshot import PlanSnapshot
from bernstein.core.verification.expected.plan import specs_of
from tests.unit.core import objects
from tests.unit.core.objects import BASE, COMPARED, plan_snapshot, sha

OPENAI = {"name": "m", "provider": "openai", "model": "gpt", "key": {"name": "k", "key": "k"}}
REVIEW = {"type": "llm_review", "criteria": "It is tested."}
BRANCH = "refs/heads/bernstein/web-11112222"


def closed(name: str = "one", **spec: Any) -> Task:
    return objects.task(name, status=objects.status(TaskState.CLOSED), **spec)


def whole(*tasks: Task, **project: Any) -> PlanSnapshot:
    plan = objects.plan()
    return plan_snapshot(plan, *(tasks or (closed(),)), project=objects.project(**project))


def pushed(**facts: Any) -> Verification:
    fields: dict[str, Any] = {
        "base": BASE,
        "sha": sha(5),
        "tree": sha(9),
        "ref": "refs/bernstein/c",
    }
    origin = Origin(ref=BRANCH, sha=sha(5))
    return Verification(**(fields | {"origin": origin, "protected_by": COMPARED} | facts))


@pytest.mark.parametrize(
    ("snapshot", "named"),
    [
        (whole(closed(completionSignals=[REVIEW])), "llm_review"),
        (whole(models=[OPENAI], gates={"pipeline": [{"name": "review_rubric"}]}), "review_rubric"),
        (
            whole(models=[OPENAI], gates={"crossModel": {"enabled": True, "onIssues": "Block"}}),
            cross_model.NAME,
        ),
    ],
)
def test_what_a_model_must_say_is_said_of_one_step_alone(
    snapshot: PlanSnapshot, named: str
) -> None:
    assert named in unverifiable(snapshot)
    assert without_yes(snapshot, pushed()) == unverifiable(snapshot)


def test_where_no_model_and_nobody_must_say_anything_checks_are_enough() -> None:
    assert unverifiable(whole()) == ""
    assert without_yes(whole(), pushed()) == ""
    advice = {"crossModel": {"enabled": True, "onIssues": "Report"}}
    assert unverifiable(whole(models=[OPENAI], gates=advice)) == ""


@pytest.mark.parametrize(
    ("snapshot", "facts", "why"),
    [
        (whole(approval={"result": "Always"}), {}, "all work is asked about"),
        (whole(), {"protected": "CLAUDE.md"}, "it changes a protected path: 'CLAUDE.md'"),
        (whole(), {"protected_by": None}, "it is not known whether it changes protected paths"),
        (whole(approval={"result": "HighRisk"}), {"tests_weakened": "test_a.py"}, "'test_a.py'"),
        (
            whole(closed("one"), closed("two", role="security"), approval={"result": "HighRisk"}),
            {},
            "its role is security",
        ),
    ],
)
def test_a_yes_that_a_person_would_have_to_say_is_none(
    snapshot: PlanSnapshot, facts: dict[str, Any], why: str
) -> None:
    told = without_yes(snapshot, pushed(**facts))
    assert told.startswith("a person would have to say yes")
    assert why in told


def test_files_that_may_only_be_added_to_are_looked_at_as_those_of_a_step() -> None:
    snapshot = whole(fileScope="Enforce", appendOnly=["CHANGELOG.md"])
    assert file_scope.NAME not in [check.name for check in specs_of(snapshot)]
    (scope,) = [c for c in specs_of(snapshot, pushed()) if c.name == file_scope.NAME]
    assert scope.required
    assert scope.reads is not None
    assert (scope.reads.files, scope.reads.append_only) == ((), ("CHANGELOG.md",))


GONE = "nobody knows any more what was asked of work that is in it, as 'two' is deleted"


def rows(*tasks: tuple[Task, TaskState]) -> PlanStatus:
    each = (
        PlanTask(name=task.metadata.name, stage="-", uid=task.metadata.uid, state=state)
        for task, state in tasks
    )
    return PlanStatus(observed_generation=1, tasks=tuple(each))


def test_once_a_task_is_deleted_whose_work_is_in_it_nobody_knows_what_that_needs() -> None:
    one, two = closed("one"), closed("two", completionSignals=[REVIEW])
    status = rows((one, TaskState.CLOSED), (two, TaskState.CLOSED))
    gone = plan_snapshot(objects.plan(status=status), one)
    assert unverifiable(gone) == GONE
    assert without_yes(gone, pushed()) == GONE
    all_there = plan_snapshot(objects.plan(status=status), one, closed("two"))
    assert unverifiable(all_there) == ""


def test_so_it_is_where_another_one_of_its_name_is_there() -> None:
    two = closed("two")
    (row,) = rows((two, TaskState.CLOSED)).tasks
    other = row.model_copy(update={"uid": "of-the-first"})
    status = PlanStatus(observed_generation=1, tasks=(other,))
    assert unverifiable(plan_snapshot(objects.plan(status=status), two)) == GONE


def test_work_that_was_never_delivered_asks_for_nothing() -> None:
    one, two = closed("one"), closed("two")
    status = rows((one, TaskState.CLOSED), (two, TaskState.CANCELLED))
    assert unverifiable(plan_snapshot(objects.plan(status=status), one)) == ""


@pytest.mark.parametrize(
    ("project", "facts", "why"),
    [
        ({"approval": {"result": "Always"}}, {}, "all work is asked about"),
        ({}, {"protected": "CLAUDE.md"}, "it changes a protected path: 'CLAUDE.md'"),
        ({"approval": {"result": "HighRisk"}}, {"tests_weakened": "test_a.py"}, "'test_a.py'"),
    ],
)
def test_what_it_changes_is_asked_about_whatever_tasks_are_there(
    project: dict[str, Any], facts: dict[str, Any], why: str
) -> None:
    none = plan_snapshot(objects.plan(), project=objects.project(**project))
    assert why in without_yes(none, pushed(**facts))
