"""All verdicts of a round are under one policy: that which it began with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.verification import Verification
from bernstein.core.actions import DeleteJobs, RunCheck, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.tasks import decide as task_decide
from bernstein.core.verification import summary
from bernstein.core.verification.expected.required import required_checks
from tests.unit.core import objects
from tests.unit.core.objects import NOW, checked, done, job, pod, project, running, snapshot
from tests.unit.core.verification.expected.test_required import CHANGED

NO_SCAN = {"name": "pii_scan", "enabled": False}
OWN = {"name": "own", "command": "true"}


def asking(*gates: dict[str, Any], **more: Any) -> Project:
    return project(gates={"pipeline": [NO_SCAN, *gates]} | more)


def look(status: TaskStatus, *jobs: JobView, of: Project) -> TaskDecision:
    return task_decide.decide(snapshot(objects.task(status=status), jobs=jobs, project=of), NOW)


def judged(decision: TaskDecision) -> Verification:
    found = decision.status.verification
    assert found is not None
    return found


def deleted(decision: TaskDecision) -> list[str]:
    asked = (action for action in decision.actions if isinstance(action, DeleteJobs))
    return [view.name for action in asked for view in action.jobs]


def at_work(*names: str) -> Iterable[JobView]:
    return [job(f"work-s1-{name}-0", pod(running("check"))) for name in names]


def begun(of: Project) -> TaskStatus:
    """The status of a round that began under this Project."""
    return look(done(), *at_work("lint", "own"), of=of).status


def test_a_round_says_what_judges() -> None:
    both = asking(OWN)
    found = look(done(), checked("work-s1-lint-0"), checked("work-s1-own-0"), of=both)

    assert judged(found).passed is True
    assert judged(found).policy == summary.digest_of_checks(required_checks((), both.spec, CHANGED))
    assert judged(look(done(), of=both)).policy == judged(found).policy


def test_work_that_is_reported_names_its_judges_so_that_the_first_look_writes_nothing() -> None:
    reports = objects.task(status=objects.with_session(TaskState.IN_PROGRESS))
    ended = snapshot(reports, sessions=(objects.dead(work=objects.work()),), project=asking(OWN))
    reported = task_decide.decide(ended, NOW).status
    first = look(reported, of=asking(OWN))

    assert reported.state is TaskState.DONE
    assert [action.job for action in first.actions if isinstance(action, RunCheck)]
    assert first.status == reported


@pytest.mark.parametrize(
    "now",
    [
        asking(),
        asking(OWN, {"name": "another", "command": "true"}),
        asking(OWN | {"timeoutSeconds": 7}),
        asking(OWN | {"required": False}),
        asking(OWN | {"image": "other:1"}),
        asking(OWN, enabled=False),
    ],
)
def test_where_the_gates_change_while_a_round_is_under_way_all_is_judged_afresh(
    now: Project,
) -> None:
    status = begun(asking(OWN))
    (own,) = at_work("own")

    changed = look(status, checked("work-s1-lint-0"), own, of=now)
    next_ = look(changed.status, checked("work-s1-lint-0"), of=now)

    assert (judged(changed).round, judged(changed).checks) == (1, ())
    assert deleted(changed) == ["work-s1-own-0"]
    assert judged(next_).policy not in (None, judged_policy(status))
    assert all(a.job.endswith("-1") for a in next_.actions if isinstance(a, RunCheck))


def judged_policy(status: TaskStatus) -> str | None:
    return status.verification.policy if status.verification is not None else None


def test_a_change_that_is_none_leaves_the_round_alone() -> None:
    status = begun(asking(OWN))
    sorted_otherwise = asking(OWN, timeoutSeconds=120)

    assert judged(look(status, *at_work("lint", "own"), of=sorted_otherwise)).round == 0


def test_the_job_of_a_gate_that_was_removed_does_not_run_on() -> None:
    """Also where an older release began the round, and nobody knows under which policy."""
    found = look(done(), *at_work("lint", "own"), of=asking())
    passed = look(done(), checked("work-s1-lint-0"), *at_work("own"), of=asking())

    assert judged(found).round == 0
    assert deleted(found) == deleted(passed) == ["work-s1-own-0"]


def test_a_policy_is_the_same_in_whatever_order_it_is_written() -> None:
    one, other = (required_checks((), asking(*gates).spec, CHANGED) for gates in _both_orders())

    assert [spec.name for spec in one] != [spec.name for spec in other]
    assert summary.digest_of_checks(one) == summary.digest_of_checks(other)


def _both_orders() -> list[list[dict[str, Any]]]:
    another = {"name": "another", "command": "true"}
    return [[OWN, another], [another, OWN]]
