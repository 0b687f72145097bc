"""The cache of a repository: a Job that fills it now and then, and what checkouts are told of it.

    no cache yet, or its time is over ──▶ at work ──▶ over ──┬──▶ checkouts are told what is there
                    ▲                                        └──▶ it could not ──▶ after a while
                    └── a pod does not get the claim: checkouts are told of none

There is one at a time for each repository. Whatever becomes of it, work goes on: without a cache
checkouts fetch what they need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from pydantic import ValidationError

from bernstein.api.programs import cached
from bernstein.api.programs.cache import CacheResult
from bernstein.api.programs.cached import CACHE, CacheSource
from bernstein.api.projects.cache import Cache, CachedContent, CacheState
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.core import diagnosis, labels, names, runs
from bernstein.core.actions import give_up
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.projects import repository_job
from bernstein.core.projects.actions import CacheDecision, RunCache
from bernstein.core.projects.repository_job import MOST_SECONDS, all_but
from bernstein.core.remedies import with_remedy
from bernstein.core.sanitise import text

_LEAST_SECONDS = 30
"""Between two Jobs where the one before could not."""
_SKEW_SECONDS = 60
_WORDS = 300
_CLAIM = "repositories[].cache.claim of the Project"
REMEDIES: Mapping[str, str] = {
    diagnosis.CLAIM_NOT_FOUND: f"Create the PersistentVolumeClaim, or correct {_CLAIM}.",
    diagnosis.CLAIM_NOT_BOUND: (
        "Look at the claim's Events; where pods run on more than one node it must be ReadWriteMany."
    ),
    diagnosis.CLAIM_NOT_MOUNTED: (
        "Look at the pod's Events; where pods run on more than one node the claim must be "
        "ReadWriteMany."
    ),
    cached.FULL: "Make the volume larger: it needs three times what the files of the branch take.",
    cached.NOT_WRITABLE: (
        "Let the group 1000 write to the volume, and remove what is there by the name of the "
        "folder in status.caches."
    ),
}
"""What helps, where it is about the volume."""


@dataclass(frozen=True)
class CacheSnapshot:
    """Everything that the decision about a cache looks at."""

    project: Workplace
    jobs: Mapping[str, JobView]
    """The repository's cache Jobs, by name."""
    trouble: Diagnosis | None = None
    """Why a pod that was told of the cache does not get the claim."""

    def with_job(self, job: JobView) -> CacheSnapshot:
        return replace(self, jobs={**self.jobs, job.name: job})

    def with_refusal(self, message: str) -> CacheSnapshot:
        raise AssertionError(f"who fills a cache makes nothing but Jobs: {message}")


def usable(project: Workplace) -> tuple[str, CacheSource] | None:
    """The claim, and what a checkout may copy from it; None: it fetches all."""
    asked, known = project.spec.repository.cache, _known(project)
    if asked is None or known is None or known.content is None or not _is_of(known, project, asked):
        return None
    return known.claim, CacheSource(known.folder, known.content.told())


def expected(project: Workplace) -> str | None:
    """The name of the Job that should be at work; None: none should."""
    known = _known(project)
    return _name(project, known) if known is not None and known.at_work else None


def _known(project: Workplace) -> CacheState | None:
    return project.status.cache_of(project.spec.repository.name)


def _name(project: Workplace, state: CacheState) -> str:
    return names.cache_job(project.metadata.name, state.number, repository_job.mark(project))


def folder_of(project: Workplace) -> str:
    """The folder of the volume for this branch of this Project's repository: of no text that
    somebody may choose."""
    repository = project.spec.repository
    digest = names.short_hash(repository.url, repository.branch, length=16)
    return f"{project.metadata.uid}-{digest}"


def _is_of(state: CacheState, project: Workplace, asked: Cache) -> bool:
    return (state.claim, state.folder) == (asked.claim, folder_of(project))


def decide(snapshot: CacheSnapshot, now: datetime) -> CacheDecision:
    """The cache's next step."""
    project = snapshot.project
    asked, state = project.spec.repository.cache, _known(project)
    if asked is None:
        return CacheDecision(None, all_but("", snapshot.jobs))
    if state is None or not _is_of(state, project, asked):
        state = CacheState(
            repository=project.spec.repository.name,
            claim=asked.claim,
            folder=folder_of(project),
            number=state.number + 1 if state is not None else 0,
        )
    if snapshot.trouble is not None and state.content is not None:
        return _set_aside(state, snapshot.trouble, now)
    if state.at_work:
        return _look(snapshot, state, now)
    left = _seconds_left(state, asked, now)
    if left > 0:
        return CacheDecision(state, all_but("", snapshot.jobs), min(left, float(MOST_SECONDS)))
    return _look(snapshot, state.model_copy(update={"at_work": True, "until": None}), now)


def _seconds_left(state: CacheState, asked: Cache, now: datetime) -> float:
    """Until the next Job; 0: it is time. A time that is too far away was set before the time of day
    went back, or while the Project said otherwise: it is over."""
    if state.until is None:
        return 0.0
    left = (state.until - now).total_seconds()
    most = MOST_SECONDS if state.reason is not None else asked.refresh_seconds
    return left if left <= most + _SKEW_SECONDS else 0.0


def _look(snapshot: CacheSnapshot, state: CacheState, now: datetime) -> CacheDecision:
    """One look at the Job at work."""
    run = _run(snapshot, state)
    job = snapshot.jobs.get(run.job)
    if job is None:
        return CacheDecision(state, (run, *all_but(run.job, snapshot.jobs)), LOOK_AGAIN_SECONDS)
    if repository_job.may_skip(snapshot.jobs, job):
        return _look(snapshot, state.model_copy(update={"number": state.number + 1}), now)
    if job.refused is not None:
        return _failed(state, repository_job.refused(job, job.refused), now)
    if job.labels.get(labels.ASKED) != run.asked:
        another = state.model_copy(update={"number": state.number + 1})
        return CacheDecision(another, all_but("", snapshot.jobs), 1.0)
    if runs.is_over(job, now):
        return _over(snapshot, state, repository_job.result_of(CacheResult, job, CACHE, now), now)
    stuck = diagnosis.to_abandon(job, now)
    if stuck is not None:
        why = diagnosis.claim_trouble(job.pod, now) if job.pod is not None else None
        ended = _set_aside(state, why or stuck, now)
        return replace(ended, actions=give_up((job,)))
    return CacheDecision(state, all_but(run.job, snapshot.jobs), LOOK_AGAIN_SECONDS)


def _run(snapshot: CacheSnapshot, state: CacheState) -> RunCache:
    repository = snapshot.project.spec.repository
    return RunCache(
        _name(snapshot.project, state),
        state.claim,
        state.folder,
        repository.url,
        repository.branch,
        state.content.told() if state.content is not None else None,
    )


def _over(
    snapshot: CacheSnapshot, state: CacheState, told: CacheResult | Diagnosis, now: datetime
) -> CacheDecision:
    """What is known now; the next Job has another number."""
    if isinstance(told, Diagnosis):
        return _failed(state, told, now)
    try:
        content = CachedContent.model_validate(asdict(told.content))
    except ValidationError:
        strange = Diagnosis(Reason.INFRASTRUCTURE_ERROR, f"{CACHE} left no result that is one")
        return _failed(state, strange, now)
    asked = snapshot.project.spec.repository.cache
    seconds = float(asked.refresh_seconds) if asked is not None else 0.0
    update = {
        "number": state.number + 1,
        "at_work": False,
        "content": content,
        "filled": now,
        "failures": 0,
        "reason": None,
        "message": None,
        "until": now + timedelta(seconds=seconds),
    }
    done = state.model_copy(update=update)
    return CacheDecision(done, (), min(seconds, float(MOST_SECONDS)))


def _set_aside(state: CacheState, why: Diagnosis, now: datetime) -> CacheDecision:
    """Checkouts are told of none: a pod that names a claim which it does not get never begins."""
    return _failed(state.model_copy(update={"content": None}), why, now)


def _failed(state: CacheState, why: Diagnosis, now: datetime) -> CacheDecision:
    """What was there stays: it is taken only where it is what it was."""
    failures = state.failures + 1
    seconds = float(min(_LEAST_SECONDS * 2 ** min(failures - 1, 7), MOST_SECONDS))
    update = {
        "number": state.number + 1,
        "at_work": False,
        "failures": failures,
        "reason": why.reason,
        "message": text(why.message, _WORDS),
        "until": now + timedelta(seconds=seconds),
    }
    return CacheDecision(state.model_copy(update=update), (), seconds)


def words(state: CacheState) -> str:
    """Why it is not filled, and what helps; of one that has a reason."""
    told = "checkouts fetch all" if state.content is None else "checkouts copy what is older"
    reason, message = state.reason or "", (state.message or "").rstrip(".")
    remedy = REMEDIES.get(reason)
    said = f"{message}; until then {told}"
    return f"{said}. Remedy: {remedy}" if remedy is not None else with_remedy(said, reason)
