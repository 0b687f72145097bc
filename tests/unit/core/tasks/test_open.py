"""A Task that is new, waits, or is claimed."""

from __future__ import annotations

from bernstein.api.delivery import Delivery
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.verification import RejectedWork
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects, scheduled
from tests.unit.core.objects import NOW, at, project, snapshot, status, verification

REJECTED = RejectedWork(ref="refs/bernstein/1/work/s1", sha="a" * 40)


def test_a_new_task_is_opened_and_says_which_project_it_belongs_to() -> None:
    found = scheduled.decide(snapshot(objects.task()), NOW).status

    assert (found.state, found.project, found.started_at) == (TaskState.OPEN, "default", NOW)
    assert found.observed_generation == 1
    assert found.history[-1].reason == "Created"


def test_a_ready_task_is_claimed_for_its_next_session_before_the_session_is_made() -> None:
    decision = scheduled.decide(snapshot(objects.task(status=status(sessions=2, attempt=1))), NOW)

    assert decision.status.state is TaskState.CLAIMED
    assert (decision.status.sessions, decision.status.session) == (3, "work-s3")
    assert decision.actions == ()


def test_a_claim_forgets_the_verdicts_of_the_attempt_before_but_not_what_it_is_told() -> None:
    before = status(
        verification=verification(passed=False), delivery=Delivery(state="Pending"), feedback="no"
    ).model_copy(update={"rejected": REJECTED})

    found = scheduled.decide(snapshot(objects.task(status=before)), NOW).status

    assert (found.verification, found.delivery, found.feedback) == (None, None, "no")
    assert found.rejected == REJECTED


def test_a_change_of_the_project_ends_a_hold() -> None:
    hold = objects.held("SecretNotFound", at(200))
    held = objects.task(status=status(waiting=hold))

    assert scheduled.decide(snapshot(held), NOW).status.state is TaskState.OPEN
    changed = scheduled.decide(snapshot(held, project=project(generation=2)), NOW)
    assert changed.status.state is TaskState.CLAIMED


def test_another_project_of_the_namespace_does_not_count() -> None:
    limits = {"maxAgents": 1}
    mine: Project = project(limits=limits)
    busy = objects.task(
        "other", plan=None, status=status(TaskState.IN_PROGRESS, project="elsewhere")
    )

    decision = scheduled.decide(
        snapshot(objects.task(status=status()), others=(busy,), project=mine), NOW
    )

    assert decision.status.state is TaskState.CLAIMED


def test_a_task_keeps_the_uid_of_its_project_from_its_first_session_on() -> None:
    waiting = objects.task(status=status())
    claimed = scheduled.decide(snapshot(waiting), NOW).status

    assert waiting.status.project_uid is None
    assert (claimed.state, claimed.project_uid) == (TaskState.CLAIMED, "uid-default")


def test_what_the_schedule_says_of_a_task_stands_also_where_another_one_has_no_project() -> None:
    """What it depends on began under a Project that is gone. It did not itself."""
    gone = objects.waits("ProjectGone", "Project 'default' was deleted", needs_person=True)
    up = objects.task("up", plan=None, status=status(project_uid="another", waiting=gone))
    down = objects.task("down", plan=None, depends_on=["up"], status=status())
    told = scheduled.decide(snapshot(down, others=(up,)), NOW).status
    assert told.waiting is not None
    assert told.waiting.reason == "ProjectGone"

    seen = down.model_copy(update={"status": told})
    assert decide(snapshot(seen, others=(up,)), NOW).status == told
