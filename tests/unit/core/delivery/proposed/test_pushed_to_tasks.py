"""Somebody has pushed to the branch of a Task's own pull request: it is verified as its work is,
and no agent's work takes its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.api.pod import Changed
from bernstein.api.programs.forge import ProposeResult, SeenPullRequest
from bernstein.api.programs.merge import LandResult, PrepareResult
from bernstein.api.project import Project
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.attestation.statement import EXTENSION
from bernstein.core.actions import RunLand, RunListen, RunPrepare
from tests.unit.core import objects, scheduled
from tests.unit.core.approvals.asked import ANN, decided, known, made
from tests.unit.core.delivery.plans import there
from tests.unit.core.delivery.proposed.test_outdated import row, told
from tests.unit.core.delivery.test_task_proposal import BRANCH, MAIN, URL, look, opened, project
from tests.unit.core.objects import BASE, COMPARED, HEAD, NOW, result_job, sha, stalled_for

THEIRS, AGAIN, SESSIONS = sha(5), sha(6), "refs/bernstein/"


def at(head: str, state: str = "Open", **more: Any) -> Project:
    behind = more.pop("behind", False)
    return project(row(state, head, behind=behind), onNewCommits="Verify", **more)


def taken() -> TaskStatus:
    return look(opened(), of=at(THEIRS)).status


def turn(status: TaskStatus) -> TaskStatus:
    """The schedule says that it is next to land."""
    delivery = told(status).model_copy(update={"step": "Next"})
    return status.model_copy(update={"delivery": delivery, "waiting": None})


def candidate(**more: Any) -> TaskStatus:
    asked = look(turn(taken()), of=at(THEIRS)).status
    fields: dict[str, Any] = {"base": BASE, "sha": THEIRS, "tree": sha(9)}
    fields["changed"] = Changed(2, True, protected_by=COMPARED)
    made = result_job(
        f"work-s1-prepare-{told(asked).round}", "prepare", PrepareResult(**(fields | more))
    )
    return look(asked, made, of=at(THEIRS)).status


def judged(*, passed: bool = True, **more: Any) -> TaskStatus:
    status = candidate(**more)
    assert status.verification is not None
    before = opened().verification
    assert before is not None
    checks = before.checks
    if not passed:
        checks = (checks[0].model_copy(update={"verdict": "Failed"}), *checks[1:])
    update = {"passed": passed, "checks": checks, "policy": before.policy}
    return status.model_copy(update={"verification": status.verification.model_copy(update=update)})


def proposed() -> TaskStatus:
    landing = look(turn(judged()), of=at(THEIRS)).status
    landed = result_job(f"work-s1-land-{told(landing).round}", "land", LandResult("Landed", THEIRS))
    pushed = look(landing, landed, of=at(THEIRS)).status
    result = ProposeResult(SeenPullRequest(7, "Open", THEIRS), URL)
    done = result_job(f"work-s1-propose-{told(pushed).round}", "propose", result)
    return look(pushed, done, of=at(THEIRS)).status


def test_it_is_put_on_the_branch_as_it_is_and_keeps_its_commits() -> None:
    (prepare,) = (
        look(turn(taken()), of=at(THEIRS)).actions
        or look(look(turn(taken()), of=at(THEIRS)).status, of=at(THEIRS)).actions
    )
    assert isinstance(prepare, RunPrepare)
    assert (prepare.ref, prepare.sha, prepare.onto) == (BRANCH, THEIRS, MAIN)
    assert (prepare.verified, prepare.as_it_is, prepare.merge) == (HEAD, True, True)
    assert prepare.candidate.startswith(SESSIONS)


def test_where_it_passes_the_same_pull_request_goes_on_with_it() -> None:
    begun = look(turn(judged()), of=at(THEIRS)).status
    (land,) = look(begun, of=at(THEIRS)).actions
    assert isinstance(land, RunLand)
    assert (land.sha, land.branch, land.branch_at) == (THEIRS, BRANCH, THEIRS)

    status = proposed()
    assert (told(status).state, told(status).sha) == ("PullRequestOpen", THEIRS)
    of = at(THEIRS, "Merged")
    merged = there(look, look(status, of=of).status, "work-s1", of=of)
    assert (merged.state, told(merged).sha) == (TaskState.CLOSED, THEIRS)


def test_where_it_does_not_no_attempt_is_spent_and_nobody_is_asked_to_let_it_go() -> None:
    status = look(judged(passed=False), of=at(THEIRS)).status
    assert (status.state, status.attempt) == (TaskState.DONE, opened().attempt)
    assert (told(status).state, stalled_for(status.conditions)) == (
        *("Unknown", "PullRequestChanged"),
    )
    assert told(status).sha == HEAD
    assert f"is at {THEIRS}, which does not pass: " in (told(status).message or "")
    again = look(status, of=at(THEIRS)).status
    assert (again.state, told(again).message) == (TaskState.DONE, told(status).message)

    back = look(again, of=at(HEAD)).status
    assert (back.state, told(back).state) == (TaskState.DONE, "PullRequestOpen")
    of = at(HEAD, "Merged")
    merged = there(look, look(back, of=of).status, "work-s1", of=of)
    assert (merged.state, told(merged).sha) == (TaskState.CLOSED, HEAD)


def test_what_does_not_merge_goes_to_no_agent() -> None:
    status = candidate(sha="", tree="", conflicts=("a.py",))
    assert (status.state, told(status).state) == (TaskState.DONE, "Unknown")
    assert "in: a.py" in (told(status).message or "")


def protected() -> TaskStatus:
    """It changes a path that a person is asked about."""
    facts = Changed(2, True, protected_by=COMPARED, protected=".github/workflows/ci.yml")
    return look(judged(changed=facts), of=at(THEIRS)).status


def test_who_must_say_yes_is_asked_about_what_was_pushed() -> None:
    status = protected()
    assert status.state is TaskState.PENDING_APPROVAL
    assert status.approval is not None
    assert (status.approval.asks.work, status.approval.asks.sha) == (THEIRS, THEIRS)


def test_while_people_are_asked_another_push_makes_that_another_question() -> None:
    status = look(protected(), of=at(AGAIN)).status
    assert status.state is TaskState.DONE
    found = told(status).pushed
    assert found is not None
    assert (found.taken, found.times) == (AGAIN, 2)


def test_what_is_said_of_it_then_goes_to_no_agent() -> None:
    red = project(row("Open", THEIRS, behind=False), onNewCommits="Verify", feedback=["Comments"])
    (watch,) = (red.status.watch,)
    assert watch is not None
    (seen,) = watch.pull_requests
    heard = watch.model_copy(update={"pull_requests": (seen.model_copy(update={"said": "x"}),)})
    of = red.model_copy(update={"status": red.status.model_copy(update={"watch": heard})})
    decision = look(proposed(), of=of)
    assert not [a for a in decision.actions if isinstance(a, RunListen)]
    assert decision.status.waiting is not None
    assert "its branch has commits that no agent has made" in decision.status.waiting.message


def test_an_agents_later_work_is_not_put_in_its_place() -> None:
    """Somebody has given the Task another round meanwhile: what it made is not pushed."""
    there = told(proposed()).model_copy(update={"state": "Pending", "step": "Next"})
    later = opened().model_copy(update={"delivery": there, "waiting": None})
    decision = look(later, of=at(THEIRS))
    assert decision.actions == ()
    assert (told(decision.status).state, told(decision.status).sha) == ("PullRequestOpen", THEIRS)
    assert look(decision.status, of=at(THEIRS)).actions == ()


@pytest.mark.parametrize("decision", ["Reject", "Retry"])
def test_a_no_is_one_to_what_was_pushed_alone(decision: str) -> None:
    of = at(THEIRS)
    subject = objects.task(status=protected())
    asked = scheduled.decide(objects.snapshot(subject, project=of), NOW)
    no = decided(made(asked), decision, reason="not that file")
    subject = objects.task(status=asked.status)
    given = objects.snapshot(subject, project=of, approvals=known(no))
    status = scheduled.decide(given, NOW).status

    assert (status.state, status.attempt) == (TaskState.DONE, opened().attempt)
    found = told(status).pushed
    assert found is not None
    assert (found.refused, told(status).sha) == (THEIRS, HEAD)
    assert f"it was not approved by {ANN}, who says: not that file" in (found.message or "")


def test_a_yes_lets_it_land() -> None:
    of = at(THEIRS)
    asked = scheduled.decide(objects.snapshot(objects.task(status=protected()), project=of), NOW)
    yes = known(decided(made(asked), "Approve"))
    given = objects.snapshot(objects.task(status=asked.status), project=of, approvals=yes)
    status = scheduled.decide(given, NOW).status
    assert status.state is TaskState.DONE

    landing = look(turn(status), of=of).status
    (land,) = look(landing, of=of).actions
    assert isinstance(land, RunLand)
    said = json.loads(land.attests)[EXTENSION]
    assert said["pushed"] == {"branch": BRANCH, "sha": THEIRS}
    assert said["approval"]["by"] == ANN
