"""The watch of a Project's pull requests, step by step."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime

import pytest

from bernstein.api.pod import Failure
from bernstein.api.programs.forge import SeenPullRequest, WatchResult
from bernstein.api.programs.forge_jobs import AskedForge
from bernstein.api.projects.watching import MOST_PULL_REQUESTS, PullRequestWatch
from bernstein.api.projects.workplace import Workplace
from bernstein.core import labels
from bernstein.core.actions import DeleteJobs
from bernstein.core.jobs import JobView, refusal
from bernstein.core.projects.actions import RunWatch, WatchDecision
from bernstein.core.projects.watching import WatchSnapshot, decide
from bernstein.core.reasons.waits import PROBE_SECONDS
from tests.unit.core import objects
from tests.unit.core.delivery.proposed.proposals import FORGE
from tests.unit.core.objects import NOW, Object, at, ended, failed, over, pod, running, sha

A_LOOK = 56
"""Seconds from now until a Job has had the time for one look."""

ONE = SeenPullRequest(1, "Open", sha(1), "main")
TWO = SeenPullRequest(2, "Open", sha(2), "main")
MERGED = SeenPullRequest(1, "Merged", sha(1), "main")
LOOK = 30.0


def project(watch: PullRequestWatch | None) -> Workplace:
    (repository,) = objects.project().spec.repositories
    found = objects.project(
        repositories=[{**repository.dump(), "forge": FORGE}], merge={"strategy": "pr"}
    )
    status = found.status.model_copy(update={"watch": watch})
    return found.model_copy(update={"status": status})


def step(
    watch: PullRequestWatch | None,
    *jobs: JobView,
    waits: tuple[SeenPullRequest, ...] = (ONE,),
    now: datetime = NOW,
) -> WatchDecision:
    return decide(WatchSnapshot(project(watch), {j.name: j for j in jobs}, waits), now)


def job(run: RunWatch, pod: Object | None = None) -> JobView:
    said = {labels.JOB: "watch", labels.ASKED: run.asked}
    return JobView(run.job, f"uid-{run.job}", at(-5), pod=pod, labels=said)


def begun(*waits: SeenPullRequest) -> tuple[PullRequestWatch, RunWatch]:
    decision = step(None, waits=waits or (ONE,))
    (run,) = decision.actions
    assert isinstance(run, RunWatch)
    assert decision.status is not None
    return decision.status, run


def told_by(
    *changed: SeenPullRequest, waits: tuple[SeenPullRequest, ...] = (ONE,)
) -> WatchDecision:
    watch, run = begun(*waits)
    result = WatchResult(changed, requests=9, unchanged=7)
    return step(watch, job(run, over(ended("watch", said=result))), waits=waits)


def test_where_no_plan_waits_there_is_no_job_and_nothing_to_tell() -> None:
    watch, run = begun()
    assert step(None, waits=()) == WatchDecision(None)

    over_now = step(watch, job(run, pod(running("watch"))), waits=())
    assert over_now.status is None
    assert over_now.actions == (DeleteJobs((job(run, pod(running("watch"))),)),)


def test_one_job_is_told_what_is_known_of_all() -> None:
    watch, run = begun(TWO, ONE)

    assert run == RunWatch("default--watch-0", (ONE, TWO), 1)
    assert [(row.number, row.state) for row in watch.pull_requests] == [(1, "Open"), (2, "Open")]
    assert step(watch, job(run, pod(running("watch"))), waits=(ONE, TWO)).actions == ()


def test_what_has_changed_is_known_and_the_next_job_is_told() -> None:
    decision = told_by(MERGED, waits=(ONE, TWO))
    watch = decision.status
    assert watch is not None
    assert [(row.number, row.state, row.repository) for row in watch.pull_requests] == [
        (1, "Merged", "app"),
        (2, "Open", "app"),
    ]
    assert (watch.requests, watch.unchanged, watch.number) == (9, 7, 1)

    assert step(watch, waits=(ONE, TWO)).requeue_after == LOOK
    (run, *_) = step(watch, waits=(ONE, TWO), now=at(LOOK)).actions
    assert run == RunWatch("default--watch-1", (MERGED, TWO), 1)


def test_what_ci_says_is_known_and_the_next_job_waits_for_the_time_of_a_look() -> None:
    failed_ci = replace(ONE, ci="Failed")
    watch = told_by(failed_ci).status
    assert watch is not None
    assert [row.ci for row in watch.pull_requests] == ["Failed"]

    soon = step(watch)
    assert (soon.actions, soon.requeue_after) == ((), LOOK)
    assert step(watch, now=at(LOOK)).actions == (RunWatch("default--watch-1", (failed_ci,), 1),)


def test_that_its_branch_has_moved_is_known_and_the_next_job_is_told() -> None:
    behind = replace(ONE, behind=True)
    watch = told_by(behind).status
    assert watch is not None
    assert [row.behind for row in watch.pull_requests] == [True]
    assert step(watch, now=at(LOOK)).actions == (RunWatch("default--watch-1", (behind,), 1),)


def test_one_that_alone_could_not_be_read_is_known_and_the_next_job_is_told() -> None:
    unread = replace(ONE, unread="ForgeRightsMissing")
    watch = told_by(unread, waits=(ONE, TWO)).status
    assert watch is not None
    assert [row.unread for row in watch.pull_requests] == ["ForgeRightsMissing", None]
    assert (watch.reason, watch.failures) == (None, 0)

    (run,) = step(watch, waits=(ONE, TWO), now=at(LOOK)).actions
    assert run == RunWatch("default--watch-1", (unread, TWO), 1)


def test_a_fact_that_is_not_there_makes_no_other_digest() -> None:
    assert ONE.digest == "5f271ba18b89"
    assert replace(ONE, unread="ForgeTimeout").digest != ONE.digest


def test_a_result_of_an_older_release_tells_nothing_of_ci_or_of_limits() -> None:
    watch, run = begun()
    said = {"changed": [{"number": 1, "state": "Merged", "sha": sha(1), "base": "main"}]}
    decision = step(watch, job(run, over(ended("watch", said=json.dumps(said)))))
    assert decision.status is not None
    (row,) = decision.status.pull_requests
    assert (row.state, row.ci, decision.status.remaining) == ("Merged", None, None)


@pytest.mark.parametrize(("told", "known"), [(4987, 4987), (-3, 0), (10**12, 10**9), (None, None)])
def test_what_the_forge_still_lets_us_ask_is_known(told: int | None, known: int | None) -> None:
    watch, run = begun()
    result = WatchResult((), requests=9, unchanged=7, remaining=told)
    decision = step(watch, job(run, over(ended("watch", said=result))))
    assert decision.status is not None
    assert decision.status.remaining == known


def test_a_plan_that_has_ended_is_not_looked_for_any_more() -> None:
    watch = told_by(MERGED, waits=(ONE, TWO)).status
    decision = step(watch, waits=(TWO,))
    assert decision.status is not None
    assert [row.number for row in decision.status.pull_requests] == [2]


def test_where_another_plan_waits_another_job_takes_the_place_of_the_one_at_work() -> None:
    watch, run = begun()
    at_work = job(run, pod(running("watch")))
    decision = step(watch, at_work, waits=(ONE, TWO), now=at(A_LOOK))

    new, clear = decision.actions
    assert new == RunWatch("default--watch-1", (ONE, TWO), 1)
    assert clear == DeleteJobs((at_work,))


def test_plans_that_come_and_go_keep_no_job_from_its_look() -> None:
    watch, run = begun()
    at_work = job(run, pod(running("watch")))
    decision = step(watch, at_work, waits=(ONE, TWO))
    assert decision.actions == ()
    assert decision.status is not None
    assert decision.status.number == watch.number
    assert decision.requeue_after is not None

    said = WatchResult((MERGED,), known=(ONE.digest,))
    told = step(watch, job(run, over(ended("watch", said=said))), waits=(ONE, TWO)).status
    assert told is not None
    assert [(row.number, row.state) for row in told.pull_requests] == [(1, "Merged"), (2, "Open")]


def test_what_such_a_job_says_of_one_that_is_known_otherwise_since_is_not_believed() -> None:
    watch, run = begun()
    red = replace(ONE, ci="Failed")
    said = WatchResult((MERGED,), known=(red.digest,))
    told = step(watch, job(run, over(ended("watch", said=said))), waits=(ONE, TWO)).status
    assert told is not None
    assert [row.state for row in told.pull_requests] == ["Open", "Open"]


def test_of_another_repository_nothing_is_known() -> None:
    before = told_by(MERGED).status
    assert before is not None
    assert [row.state for row in before.pull_requests] == ["Merged"]
    after = step(before.model_copy(update={"at": "another"}), now=at(LOOK)).status
    assert after is not None
    assert [row.state for row in after.pull_requests] == ["Open"]
    assert after.at == before.at


def test_a_job_of_that_name_that_was_told_something_else_is_not_believed() -> None:
    watch, _ = begun()
    stale = job(
        RunWatch("default--watch-0", (TWO,), 1),
        over(ended("watch", said=WatchResult((SeenPullRequest(1, "Closed", sha(1)),)))),
    )
    decision = step(watch, stale)
    assert decision.status is not None
    assert [row.state for row in decision.status.pull_requests] == ["Open"]
    assert decision.actions[0] == RunWatch("default--watch-1", (ONE,), 1)


def test_one_that_nobody_has_asked_about_changes_nothing() -> None:
    decision = told_by(TWO)
    assert decision.status is not None
    assert [row.number for row in decision.status.pull_requests] == [1]


def test_why_nobody_can_look_is_told_and_it_is_tried_again_after_a_while() -> None:
    watch, run = begun()
    decision = step(watch, job(run, over(failed("watch", "ForgeTokenRefused"))))
    assert decision.status is not None
    assert (decision.status.reason, decision.status.failures) == ("ForgeTokenRefused", 1)
    assert decision.requeue_after == PROBE_SECONDS
    assert [row.state for row in decision.status.pull_requests] == ["Open"]

    assert step(decision.status).requeue_after == PROBE_SECONDS
    later = step(decision.status, now=at(PROBE_SECONDS + 1))
    assert later.actions == (RunWatch("default--watch-1", (ONE,), 1, once=True),)
    assert later.status is not None
    assert later.status.reason == "ForgeTokenRefused", "until one could look"


def test_once_somebody_could_look_again_what_was_wrong_is_told_no_more() -> None:
    blind = PullRequestWatch(reason="ForgeTimeout", message="late", failures=3, number=4)
    (run,) = step(blind).actions
    assert isinstance(run, RunWatch)
    assert run.once, "it ends after one look"

    seen = step(blind, job(run, over(ended("watch", said=WatchResult(())))))
    assert seen.status is not None
    assert (seen.status.reason, seen.status.message, seen.status.failures) == (None, None, 0)
    (after,) = step(seen.status).actions
    assert isinstance(after, RunWatch)
    assert not after.once


@pytest.mark.parametrize(
    ("reason", "seconds"), [("Disrupted", 30), ("ForgeRateLimited", PROBE_SECONDS)]
)
def test_a_pod_that_is_lost_or_a_forge_that_limits_us_is_not_asked_again_at_once(
    reason: str, seconds: float
) -> None:
    watch, run = begun()
    decision = step(watch, job(run, over(failed("watch", reason))))
    assert decision.requeue_after == seconds


HOUR = 3600


def limited(after: int | None, *, requests: int = 0) -> Object:
    said = Failure("ForgeRateLimited", "wait", AskedForge(after, requests, unchanged=1))
    return over(ended("watch", 1, said=said))


@pytest.mark.parametrize("seconds", [60, HOUR, 20 * HOUR, 24 * HOUR])
def test_no_job_asks_before_the_time_that_the_forge_names(seconds: int) -> None:
    watch, run = begun()
    known = watch.model_copy(update={"remaining": 50, "requests": 100})
    decision = step(known, job(run, limited(seconds, requests=7)))
    status = decision.status
    assert status is not None
    assert (status.remaining, status.requests, status.unchanged) == (0, 107, 1)
    assert decision.requeue_after == seconds

    early = step(status, now=at(seconds - 1))
    assert (early.actions, early.requeue_after) == ((), 1)
    (again,) = step(status, now=at(seconds + 1)).actions
    assert isinstance(again, RunWatch)


@pytest.mark.parametrize("after", [None, 0, -1, 24 * HOUR + 1, 10**12])
def test_a_time_that_no_forge_means_is_none(after: int | None) -> None:
    watch, run = begun()
    assert step(watch, job(run, limited(after))).requeue_after == PROBE_SECONDS


def test_limits_without_end_are_asked_about_less_and_less() -> None:
    watch, run = begun()
    often = watch.model_copy(update={"failures": 3})
    assert step(often, job(run, limited(60))).requeue_after == 240


@pytest.mark.parametrize("seconds", [HOUR, 7 * HOUR])
def test_what_was_told_along_with_a_limit_is_no_reason_to_ask_before_its_end(seconds: int) -> None:
    watch, run = begun()
    result = WatchResult((MERGED,), retry_after=seconds, remaining=0)
    decision = step(watch, job(run, over(ended("watch", said=result))))
    assert decision.requeue_after == seconds
    assert decision.status is not None
    assert step(decision.status, now=at(seconds - 1)).actions == ()
    assert step(decision.status, now=at(seconds)).actions


def test_a_changed_project_has_another_job() -> None:
    watch, run = begun()
    changed = replace(run, generation=2)
    assert changed.asked != run.asked
    decision = step(watch, job(changed, pod(running("watch"))))
    assert decision.actions[0] == RunWatch("default--watch-1", (ONE,), 1)


def test_of_too_many_those_are_watched_that_are_open() -> None:
    closed = [SeenPullRequest(n, "Closed", sha(1)) for n in range(1, 20)]
    many = [SeenPullRequest(n, "Open", sha(1)) for n in range(20, 20 + MOST_PULL_REQUESTS)]
    watch, _ = begun(*closed, *many)
    assert [row.number for row in watch.pull_requests] == [pull.number for pull in many]


@pytest.mark.parametrize(
    "told",
    [
        ("Merged", "nonsense", ""),
        ("Sold", sha(1), ""),
        ("Open", sha(1), "Green"),
    ],
)
def test_nonsense_of_a_pod_is_no_pull_request(told: tuple[str, str, str]) -> None:
    state, commit, ci = told
    decision = told_by(SeenPullRequest(1, state, commit, ci=ci))
    assert decision.status is not None
    assert decision.status.reason == "InfrastructureError"


def test_one_that_is_refused_is_tried_again_after_a_while() -> None:
    watch, run = begun()
    decision = step(watch, refusal(run.job, "quota", NOW))
    assert decision.status is not None
    assert decision.status.reason == "PodRejected"
    assert not any(isinstance(action, RunWatch) for action in decision.actions)


@pytest.mark.parametrize("others", [1, 20])
def test_a_name_that_somebody_has_taken_is_left_for_the_next(others: int) -> None:
    watch, run = begun()
    jobs: list[JobView] = []
    for _ in range(others):
        jobs.append(refusal(run.job, "a Job of nobody's has the name", NOW, taken=True))
        decision = step(watch, *jobs)
        (run,) = (each for each in decision.actions if isinstance(each, RunWatch))
        assert run.job not in {each.name for each in jobs}
    assert decision.status is not None
    assert (decision.status.number, decision.status.reason) == (watch.number + others, None)


def test_that_too_many_names_are_taken_is_told() -> None:
    watch, run = begun()
    jobs: list[JobView] = []
    for _ in range(21):
        jobs.append(refusal(run.job, "a Job of nobody's has the name", NOW, taken=True))
        decision = step(watch, *jobs)
        run = next((each for each in decision.actions if isinstance(each, RunWatch)), run)
    assert decision.status is not None
    assert decision.status.reason == "NameConflict"
    assert not any(isinstance(action, RunWatch) for action in decision.actions)


def test_looking_again_at_the_same_changes_nothing() -> None:
    watch, run = begun()
    at_work = job(run, pod(running("watch")))
    assert step(watch, at_work).status == watch
