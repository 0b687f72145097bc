"""The cache of a repository, step by step."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from bernstein.api.programs.cache import CacheResult
from bernstein.api.programs.cached import FULL, CachedFile, CachedPack
from bernstein.api.projects.cache import CacheState
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.core import labels
from bernstein.core.actions import DeleteJobs
from bernstein.core.diagnosis import CLAIM_NOT_FOUND, Diagnosis
from bernstein.core.jobs import JobView, refusal
from bernstein.core.projects import caching, readiness
from bernstein.core.projects.actions import CacheDecision, RunCache
from bernstein.core.projects.caching import CacheSnapshot, decide, usable
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object, at, ended, failed, over, pod, running

PACK = CachedPack(
    "c" * 40,
    CachedFile(f"pack-{'d' * 40}.pack", 500, "1" * 64),
    CachedFile(f"pack-{'d' * 40}.idx", 50, "2" * 64),
)
MISSING = Diagnosis(CLAIM_NOT_FOUND, "the PersistentVolumeClaim 'caches' is not in the namespace")


def project(known: CacheState | None, **cache: Any) -> Workplace:
    spec = objects.project().spec.dump()
    asked = {"claim": "caches", "refreshSeconds": 600, **cache}
    rows = [
        {**each, "cache": asked if cache.get("claim", "") is not None else None}
        for each in spec["repositories"]
    ]
    rows = [{key: value for key, value in row.items() if value is not None} for row in rows]
    found = objects.project(**{**spec, "repositories": rows})
    status = found.status.model_copy(update={"caches": () if known is None else (known,)})
    return found.model_copy(update={"status": status})


def step(
    known: CacheState | None,
    *jobs: JobView,
    now: datetime = NOW,
    trouble: Diagnosis | None = None,
    **cache: Any,
) -> CacheDecision:
    found = CacheSnapshot(project(known, **cache), {j.name: j for j in jobs}, trouble)
    return decide(found, now)


def begun(known: CacheState | None = None) -> tuple[CacheState, RunCache]:
    """What is known once a Job is asked for, and that."""
    decision = step(known)
    (run,) = decision.actions
    assert isinstance(run, RunCache)
    assert decision.status is not None
    assert decision.status.at_work
    return decision.status, run


def job(run: RunCache, of: Object | None = None) -> JobView:
    said = {labels.JOB: "cache", labels.ASKED: run.asked}
    return JobView(run.job, f"uid-{run.job}", at(-5), pod=of, labels=said)


def told(result: object, known: CacheState | None = None) -> CacheState:
    """What is known once the Job has ended with this."""
    state, run = begun(known)
    end = failed("cache", *result) if isinstance(result, tuple) else ended("cache", said=result)
    status = step(state, job(run, over(end))).status
    assert status is not None
    return status


FILLED = told(CacheResult(PACK))


def condition(state: CacheState) -> str | None:
    status = readiness.status(project(state), 0, None, None, NOW, readiness.Told((), (state,)))
    found = [each for each in status.conditions if each.type == "CacheNotFilled"]
    return f"{found[0].reason}: {found[0].message}" if found else None


def test_a_cache_is_filled_and_checkouts_are_told_what_is_there() -> None:
    assert usable(project(None)) is None
    assert (FILLED.at_work, FILLED.number, FILLED.filled) == (False, 1, NOW)
    found = usable(project(FILLED))
    assert found is not None
    claim, source = found
    assert (claim, source.folder, source.content) == ("caches", FILLED.folder, PACK)
    assert condition(FILLED) is None


def test_while_a_job_is_at_work_it_is_waited_for_alone() -> None:
    state, run = begun()
    other = JobView("another", "u", at(-50), labels={labels.JOB: "cache"})
    decision = step(state, job(run, pod(running("cache"))), other)
    assert decision.status == state
    assert decision.actions == (DeleteJobs((other,)),)


def test_it_is_looked_at_again_after_its_time_and_told_what_there_is() -> None:
    waits = step(FILLED, now=NOW + timedelta(seconds=599))
    assert (waits.status, waits.actions) == (FILLED, ())
    assert waits.requeue_after == pytest.approx(1)
    (run,) = step(FILLED, now=NOW + timedelta(seconds=601)).actions
    assert isinstance(run, RunCache)
    assert run.has == PACK


def test_a_time_of_day_that_has_gone_back_makes_nobody_wait() -> None:
    assert step(FILLED, now=NOW - timedelta(days=2)).actions
    assert not step(FILLED, now=NOW - timedelta(seconds=30)).actions


def test_another_claim_is_filled_anew() -> None:
    decision = step(FILLED, claim="larger")
    assert decision.status is not None
    assert (decision.status.content, decision.status.claim) == (None, "larger")
    assert decision.status.number == FILLED.number + 1


def test_without_a_word_of_a_cache_there_is_none_and_its_job_goes() -> None:
    left = JobView("left", "u", at(-50), labels={labels.JOB: "cache"})
    decision = step(FILLED, left, claim=None)
    assert (decision.status, decision.actions) == (None, (DeleteJobs((left,)),))
    assert usable(project(FILLED, claim=None)) is None


def test_what_fails_is_tried_later_and_later_and_what_was_there_stays() -> None:
    state = told((FULL, "the cache's volume has no room: No space left"), replace_until(FILLED))
    assert (state.content, state.reason, state.failures) == (FILLED.content, FULL, 1)
    assert usable(project(state)) is not None
    said = condition(state)
    assert said is not None
    assert said.startswith("CacheFull: the cache is not filled: the cache's volume has no room")
    assert "checkouts copy what is older. Remedy: Make the volume larger" in said
    waits = []
    for _ in range(12):
        assert state.until is not None
        waits.append((state.until - NOW).total_seconds())
        state = told((FULL, "no room"), replace_until(state))
    assert waits[:3] == [30, 60, 120]
    assert waits[-1] == 3600
    assert told(CacheResult(PACK), replace_until(state)).reason is None


def replace_until(state: CacheState) -> CacheState:
    """Its time is over."""
    return state.model_copy(update={"until": None})


def test_what_the_git_server_says_has_the_remedy_of_its_reason() -> None:
    state = told((Reason.REPOSITORY_AUTH_FAILED, "it refuses the account 'read'"))
    said = condition(state)
    assert said is not None
    assert said.startswith("RepositoryAuthFailed: ")
    assert "checkouts fetch all. Remedy: " in said


@pytest.mark.parametrize(
    "result",
    [
        '{"content":{"commit":"x","pack":{},"index":{}}}',
        CacheResult(replace(PACK, commit="--upload-pack=x")),
        CacheResult(replace(PACK, pack=CachedFile("../../evil.pack", 1, "1" * 64))),
        CacheResult(replace(PACK, index=CachedFile(PACK.index.name, -1, "1" * 64))),
    ],
    ids=["no result", "no commit", "no name", "no size"],
)
def test_a_result_that_is_none_is_told_to_nobody(result: object) -> None:
    state = told(result)
    assert (state.content, state.reason) == (None, Reason.INFRASTRUCTURE_ERROR)


def test_a_pod_that_does_not_get_the_claim_has_checkouts_go_without() -> None:
    decision = step(FILLED, trouble=MISSING)
    assert decision.status is not None
    assert (decision.status.content, decision.status.reason) == (None, CLAIM_NOT_FOUND)
    assert usable(project(decision.status)) is None
    said = condition(decision.status)
    assert said is not None
    assert "'caches' is not in the namespace; until then checkouts fetch all" in said
    assert "Remedy: Create the PersistentVolumeClaim" in said


def test_its_own_pod_that_does_not_get_the_claim_is_given_up() -> None:
    state, run = begun(replace_until(FILLED))
    words = '0/1 nodes are available: persistentvolumeclaim "caches" not found.'
    waits = pod(phase="Pending", age=20, node=None, unschedulable=words)
    waits["spec"]["volumes"] = [{"name": "c", "persistentVolumeClaim": {"claimName": "caches"}}]
    decision = step(state, job(run, waits))
    assert decision.status is not None
    assert (decision.status.content, decision.status.reason) == (None, CLAIM_NOT_FOUND)
    (gone,) = decision.actions
    assert isinstance(gone, DeleteJobs)


def test_a_job_that_is_refused_is_told() -> None:
    state, run = begun()
    status = step(state, refusal(run.job, "exceeded quota", NOW)).status
    assert status is not None
    assert (status.reason, status.number) == (Reason.POD_REJECTED, state.number + 1)


def test_a_job_of_something_else_is_no_answer() -> None:
    state, run = begun()
    other = JobView(run.job, "u", at(-5), labels={labels.ASKED: "else"})
    decision = step(state, other)
    assert decision.status is not None
    assert decision.status.number == state.number + 1
    assert decision.actions == (DeleteJobs((other,)),)


def test_folders_of_two_branches_and_two_projects_differ() -> None:
    here = project(None)
    other = here.spec.repository.model_copy(update={"branch": "next"})
    there = here.model_copy(
        update={"spec": here.spec.model_copy(update={"repositories": (other,)})}
    )
    assert caching.folder_of(here) != caching.folder_of(there)
