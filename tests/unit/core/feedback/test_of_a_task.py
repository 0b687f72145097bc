"""What is said of a Task's pull request: it goes back to its agent, so often at most."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import Failure
from bernstein.api.programs.forge import UNREAD, ListenResult
from bernstein.api.programs.forge_jobs import AskedForge
from bernstein.api.project import Project
from bernstein.api.projects.watching import PullRequestWatch, WatchedPullRequest
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.actions import RunLand, RunListen, TaskDecision
from bernstein.core.jobs import JobView
from bernstein.core.prompts import parts
from bernstein.core.scheduling.opening import claimed
from bernstein.core.sessions.prompt import prompt
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.delivery.plans import there
from tests.unit.core.delivery.tasks import verified
from tests.unit.core.delivery.test_task_proposal import BRANCH, MAIN, URL, look, opened, told
from tests.unit.core.delivery.test_task_proposal import project as plain
from tests.unit.core.objects import HEAD, NOW, at, ended, failed, job, over, result_job, snapshot

FEEDBACK: Any = ["Comments", "CI"]
LISTEN = "work-s1-listen-0"
SAID = "ann says, of shop.py, line 2:\n> Use a constant."


def seen(said: str | None = "d1", ci: str | None = None, **pulls: Any) -> Project:
    fields = {"repository": "app", "number": 7, "state": "Open", "sha": HEAD, "base": "main"}
    row = WatchedPullRequest.model_validate({**fields, "said": said, "ci": ci})
    return plain(PullRequestWatch(pull_requests=(row,)), **({"feedback": FEEDBACK} | pulls))


def heard(*ids: str, said: str = "d1", failed: bool = False, text: str = SAID) -> JobView:
    result = ListenResult(HEAD, said, ids, failed, text)
    return result_job(LISTEN, "listen", result)


def after(status: TaskStatus, *jobs: JobView, of: Project | None = None, **spec: Any) -> TaskStatus:
    return look(status, *jobs, of=of or seen(), **spec).status


def sent_back() -> TaskStatus:
    return after(opened(), heard("line-12"))


def test_without_a_word_of_the_project_nobody_reads_what_is_said() -> None:
    decision = look(opened(), of=seen(feedback=[]))
    assert (decision.actions, decision.status.state) == ((), TaskState.DONE)


def test_what_is_new_is_read_by_a_job_that_is_told_what_has_been_read() -> None:
    assert look(opened(), of=seen()).actions == (RunListen(LISTEN, 7),)
    assert look(opened(), of=seen(said=None)).actions == ()

    only_ci = seen(said="d1", ci="Failed", feedback=["CI"])
    assert look(opened(), of=only_ci).actions == (RunListen(LISTEN, 7),)
    assert look(opened(), of=seen(ci="Failed", said=None, feedback=["Comments"])).actions == ()


def test_it_makes_one_new_attempt_that_is_told_what_was_said_as_data() -> None:
    status = sent_back()
    assert (status.state, status.history[-1].reason) == (TaskState.FAILED, "Rejected")
    assert status.rejected is not None, "the next attempt is shown the work"
    feedback = told(status).feedback
    assert feedback is not None
    assert (feedback.times, feedback.comments, feedback.said) == (1, ("line-12",), "d1")
    assert SAID not in (status.feedback or ""), "it is told apart from what was found"

    task = objects.task(status=status)
    given = snapshot(task)
    texts = prompt(task, 2, said=given.said)
    assert texts[parts.SAID] == SAID
    assert after(status).state is TaskState.OPEN


def test_the_next_attempt_goes_to_the_same_pull_request() -> None:
    status = after(sent_back())
    begun = claimed(snapshot(objects.task(status=status), project=seen()), NOW)
    delivery = told(begun)
    assert (delivery.state, delivery.branch, delivery.sha) == ("Pending", BRANCH, HEAD)
    assert delivery.pull_request is not None
    assert delivery.feedback is not None
    assert delivery.feedback.text == SAID

    landing = delivery.model_copy(update={"step": "Landing", "onto": MAIN, "round": 3})
    (land,) = look(verified(landing), of=seen()).actions
    assert isinstance(land, RunLand)
    assert (land.branch, land.branch_at) == (BRANCH, HEAD), "what we have pushed is replaced"


def test_each_comment_counts_once() -> None:
    feedback = told(sent_back()).feedback
    known = told(opened()).model_copy(update={"feedback": feedback})
    again = opened().model_copy(update={"delivery": known})
    assert look(again, of=seen()).actions == ()

    (listen,) = look(again, of=seen(said="d2")).actions
    assert listen == RunListen("work-s1-listen-1", 7, ("line-12",))
    nothing = result_job("work-s1-listen-1", "listen", ListenResult(HEAD, "d2"))
    status = after(again, nothing, of=seen(said="d2"))
    assert status.state is TaskState.DONE
    assert look(status, of=seen(said="d2")).actions == ()


def test_red_ci_counts_once_for_a_commit() -> None:
    red = seen(said=None, ci="Failed")
    text = "CI has failed:\n> test: 3 failed"
    status = after(opened(), heard(said="", failed=True, text=text), of=red)
    feedback = told(status).feedback
    assert feedback is not None
    assert (status.state, feedback.ci, feedback.text) == (TaskState.FAILED, HEAD, text)

    known = told(opened()).model_copy(update={"feedback": feedback})
    assert look(opened().model_copy(update={"delivery": known}), of=red).actions == ()


def of_times(times: int) -> TaskStatus:
    known = told(sent_back())
    assert known.feedback is not None
    feedback = known.feedback.model_copy(update={"times": times})
    delivery = told(opened()).model_copy(update={"feedback": feedback})
    return opened().model_copy(update={"delivery": delivery})


def test_above_the_cap_it_is_for_people_and_what_helps_is_told() -> None:
    decision = look(of_times(2), of=seen(said="d2"))
    waiting = decision.status.waiting
    assert decision.actions == ()
    assert waiting is not None
    assert (waiting.reason, waiting.needs_person) == ("PullRequestOpen", True)
    assert "2 rounds of feedback went back to an agent" in waiting.message
    assert "raise merge.pullRequest.maxFeedback" in waiting.message
    assert look(of_times(2), of=seen(said="d2", maxFeedback=3)).actions != ()


def test_where_no_attempt_is_left_it_is_for_people() -> None:
    decision = look(opened(), of=seen(), maxRetries=0)
    assert decision.actions == ()
    assert decision.status.waiting is not None
    assert "no attempt of the Task is left" in decision.status.waiting.message


def test_a_token_that_may_not_read_is_told_of() -> None:
    decision = look(opened(), of=seen(said=UNREAD))
    assert decision.actions == ()
    assert decision.status.waiting is not None
    assert "what people say of it cannot be read" in decision.status.waiting.message


def test_what_cannot_be_read_is_read_later_and_people_may_merge_meanwhile() -> None:
    lost = job(LISTEN, over(failed("listen", "ForgeTimeout")))
    decision = look(opened(), lost, of=seen())
    status = decision.status
    assert status.state is TaskState.DONE
    assert status.waiting is not None
    assert "could not be read" in status.waiting.message
    assert decision.requeue_after is not None
    assert look(status, lost, of=seen()).actions == ()

    given = snapshot(objects.task(status=status), jobs=(lost,), project=seen())
    assert decide(given, at(3601)).actions == (RunListen("work-s1-listen-1", 7),)


def test_it_is_read_no_earlier_than_the_forge_lets_it_be() -> None:
    said = Failure("ForgeRateLimited", "wait", AskedForge(7200, requests=1))
    status = look(opened(), job(LISTEN, over(ended("listen", 1, said=said))), of=seen()).status

    def later(seconds: float) -> TaskDecision:
        return decide(snapshot(objects.task(status=status), project=seen()), at(seconds))

    assert later(7199).actions == ()
    assert later(7201).actions == (RunListen("work-s1-listen-1", 7),)

    met = told(status).feedback
    assert met is not None
    assert (met.reason, met.until) == ("ForgeRateLimited", at(7200)), "so that others learn of it"
    over_by_now = told(status).model_copy(
        update={"feedback": met.model_copy(update={"until": None})}
    )
    answer = result_job("work-s1-listen-1", "listen", ListenResult(HEAD, "d1", (), failed=False))
    read = after(status.model_copy(update={"delivery": over_by_now}), answer)
    known = told(read).feedback
    assert known is not None
    assert (known.reason, known.message, known.failures) == (None, None, None)


@pytest.mark.parametrize("text", ["", "\x1b[0m"])
def test_nonsense_of_a_pod_makes_no_attempt(text: str) -> None:
    assert after(opened(), heard("line-12", text=text)).state is TaskState.DONE
    status = after(opened(), result_job(LISTEN, "listen", {"said": 3}))
    assert status.state is TaskState.DONE


def test_what_a_pod_tells_is_bounded_and_sanitised() -> None:
    many = tuple(f"line-{n}" + "x" * 100 for n in range(50))
    status = after(opened(), heard(*many, text="> \x1b[31mred\u202e\n" * 2000))
    feedback = told(status).feedback
    assert feedback is not None
    assert len(feedback.comments) == 20
    assert max(map(len, feedback.comments)) == 64
    assert feedback.text is not None
    assert len(feedback.text) <= 3000
    assert "\x1b" not in feedback.text
    assert "\u202e" not in feedback.text


def test_an_attempt_that_changes_nothing_leaves_the_pull_request_as_it_is() -> None:
    before = told(sent_back()).model_copy(update={"step": "Next"})
    status = verified(before, verification={"base": HEAD})
    decision = look(status, of=seen(said=None))
    assert (decision.status.state, told(decision.status).state) == (
        TaskState.DONE,
        "PullRequestOpen",
    )
    pull = told(decision.status).pull_request
    assert pull is not None
    assert (pull.url, told(decision.status).sha) == (URL, HEAD)


def test_what_people_have_merged_is_delivered_whatever_was_said() -> None:
    row = WatchedPullRequest(repository="app", number=7, state="Merged", sha=HEAD, said="d9")
    watch = PullRequestWatch(pull_requests=(row,))
    of = plain(watch, feedback=FEEDBACK)
    begun = after(opened(), of=of)
    assert begun.state is TaskState.DONE
    assert there(look, begun, "work-s1", of=of).state is TaskState.CLOSED


def test_one_whose_attempts_have_all_failed_says_that_its_pull_request_stays_open() -> None:
    failed_for_good = sent_back().model_copy(
        update={"attempt": 4, "ended_at": NOW, "waiting": objects.held("Rejected", None)}
    )
    (told_of,) = [
        c.message for c in after(failed_for_good, maxRetries=3).conditions if c.type == "Succeeded"
    ]
    assert f"{URL} stays open" in told_of
