"""Deletes refs in one repository: a Job after another, each with a few that are written down first.

    something is due ──▶ a batch is written down ──▶ its Job ──┬──▶ it tells what became of each
         ▲                       │                             └──▶ it could not ──▶ after a while
         │                       └── somebody needs one by now: it is taken out
         └───────────────────────────────────────────────────────── after a pause

What is due comes from two places. Refs of Plans and Tasks that have ended are found by these, in
the order of their ends: how far one has come is a place in that order, so that ten thousand of them
take no more room than one. Refs of what was deleted are a list, as nothing else knows them any
more: what it has no room for waits in memory, and is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from heapq import nsmallest
from itertools import chain
from typing import TypeAlias

from bernstein.api.pod import PRUNE
from bernstein.api.programs.prune import DELETED, MOVED, REFUSED, PruneResult
from bernstein.api.projects.refs import (
    MOST_AT_ONCE,
    MOST_WAITING,
    SHOWN,
    PrunedThrough,
    RefPruning,
    RefToDelete,
)
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.core import diagnosis, labels, names, runs
from bernstein.core.actions import give_up
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.projects import repository_job
from bernstein.core.projects.actions import PruneDecision, RunPrune
from bernstein.core.projects.repository_job import MOST_SECONDS, all_but
from bernstein.core.reasons.waits import seconds_to_wait
from bernstein.core.retention.refs import Ref, folder_of
from bernstein.core.sanitise import text

PAUSE_SECONDS = 10
"""Between two Jobs, so that ten thousand Plans that are due at once are no storm."""
HELD_SECONDS = 60.0
"""Until it is looked again whether somebody still needs what is due."""
_PATIENCE = timedelta(days=1)
"""So long what has ended waits for that before the others go on without it: its refs go when it is
deleted."""
_LEAST_SECONDS = 30
"""Between two Jobs where the one before could not."""
_MOST = 10**9
_WORDS = 300
ALL = "~"
"""Behind all names of refs."""
_Due: TypeAlias = tuple[datetime, str, str]
"""When a ref of what was deleted may go, its name, and where it is."""


@dataclass(frozen=True)
class Ended:
    """A Plan, or a Task without one, that ended so long ago that its refs may go."""

    at: datetime
    uid: str
    folder: str
    refs: frozenset[Ref]
    """Those of it, its Tasks and sessions in this repository."""


@dataclass(frozen=True)
class PruneSnapshot:
    """Everything that the decision about a repository's refs looks at."""

    project: Workplace
    jobs: Mapping[str, JobView]
    """The repository's prune Jobs, by name."""
    ended: Sequence[Ended] = ()
    """What comes next behind `through`, in the order of the ends."""
    next_end: datetime | None = None
    """When the first ended behind `through` that is not due yet."""
    departed: Sequence[RefToDelete] = ()
    """Those of what was deleted, as memory has them: at least as many as there is room for, see
    `room`, of those that come first by `order`."""
    more: int = 0
    """How many others memory has that do not wait in the status either."""
    lost: int = 0
    """How many more of these memory has had no room for, since it was looked last."""
    is_held: Callable[[str], bool] = lambda _folder: False
    """Whether somebody that goes on, or may go on, has refs in this folder."""

    def with_job(self, job: JobView) -> PruneSnapshot:
        return replace(self, jobs={**self.jobs, job.name: job})

    def with_refusal(self, message: str) -> PruneSnapshot:
        raise AssertionError(f"who deletes refs makes nothing but Jobs: {message}")


def room(project: Workplace) -> int:
    """How many refs of what was deleted are written down for one repository."""
    return MOST_WAITING // len(project.whole.spec.repositories)


def is_busy(project: Workplace, now: datetime) -> bool:
    """Whether nothing is begun now: a Job is at work, or the time between two is not over."""
    known = project.status.refs_in(project.spec.repository.name)
    if known is None:
        return False
    return bool(known.batch) or repository_job.seconds_left(known.until, now) > 0


def order(state: RefPruning | None) -> Callable[[_Due], tuple[bool, _Due]]:
    """What sorts refs of what was deleted, each with when it is due: what is due first, but what is
    being deleted keeps its place, whatever else has come."""
    at_work = {(row.ref, row.sha) for row in state.batch} if state is not None else ()

    def key(ref: _Due) -> tuple[bool, _Due]:
        return ref[1:] not in at_work, ref

    return key


def waits_for_somebody(ended: datetime, seconds: int, now: datetime) -> bool:
    """Whether what ended then still waits for who goes on in its folder."""
    return now < ended + timedelta(seconds=seconds) + _PATIENCE


def expected(project: Workplace) -> str | None:
    """The name of the Job that should be at work; None: none should."""
    known = project.status.refs_in(project.spec.repository.name)
    return _name(project, known) if known is not None and known.batch else None


def _name(project: Workplace, known: RefPruning) -> str:
    return names.prune_job(project.metadata.name, known.number, repository_job.mark(project))


def decide(snapshot: PruneSnapshot, now: datetime) -> PruneDecision:
    """The next step. Without a word of what is kept, refs are kept for ever."""
    project = snapshot.project
    if not project.spec.retention.refs_seconds:
        return PruneDecision(None, all_but("", snapshot.jobs))
    known = project.status.refs_in(project.spec.repository.name)
    before = known or RefPruning(repository=project.spec.repository.name)
    state = _with_departed(before, snapshot)
    if state.batch:
        return _look(snapshot, state, now)
    left = repository_job.seconds_left(state.until, now)
    if left > 0:
        return PruneDecision(state, all_but("", snapshot.jobs), left)
    state, wait = _with_batch(snapshot, state.model_copy(update={"until": None}), now)
    # The batch is written down before there is a Job: what that says belongs to this batch alone.
    kept = state if known is not None or state != before else None
    return PruneDecision(kept, all_but("", snapshot.jobs), wait)


def _with_departed(state: RefPruning, snapshot: PruneSnapshot) -> RefPruning:
    """The list with what was deleted since, as far as there is room: what is due first."""
    rows = {(row.ref, row.sha): row for row in (*snapshot.departed, *state.waiting)}
    for row in snapshot.departed:
        same = rows[row.ref, row.sha]
        if row.due < same.due:
            rows[row.ref, row.sha] = row
    kept = nsmallest(room(snapshot.project), map(_as_due, rows.values()), key=order(state))
    return state.model_copy(
        update={
            "waiting": tuple(rows[ref, sha] for _, ref, sha in sorted(kept)),
            "unwritten": len(rows) - len(kept) + snapshot.more,
            "lost": min(state.lost + snapshot.lost, _MOST),
        }
    )


def _as_due(row: RefToDelete) -> _Due:
    return row.due, row.ref, row.sha


def _with_batch(
    snapshot: PruneSnapshot, state: RefPruning, now: datetime
) -> tuple[RefPruning, float | None]:
    """The next batch, if anything is due, and when to look again."""
    due = [row for row in state.waiting if row.due <= now]
    free = [row for row in due if not snapshot.is_held(folder_of(row.ref))][:MOST_AT_ONCE]
    batch, through, waits = _of_ended(snapshot, state, free, now)
    if batch:
        update = {"batch": tuple(batch), "next": through}
        return state.model_copy(update=update), 1.0
    if through is not None:
        return state.model_copy(update={"through": through}), 1.0
    return state, _soonest(snapshot, state, now, is_held=waits or len(due) > len(free))


def _soonest(
    snapshot: PruneSnapshot, state: RefPruning, now: datetime, *, is_held: bool
) -> float | None:
    keeps = timedelta(seconds=snapshot.project.spec.retention.refs_seconds)
    later = (row.due for row in state.waiting if row.due > now)
    ends = (snapshot.next_end + keeps,) if snapshot.next_end is not None else ()
    first = min(chain(later, ends), default=None)
    waits = [HELD_SECONDS] if is_held else []
    if first is not None:
        waits.append(min(max((first - now).total_seconds(), 1.0), float(MOST_SECONDS)))
    return min(waits, default=None)


def _of_ended(
    snapshot: PruneSnapshot, state: RefPruning, free: Sequence[RefToDelete], now: datetime
) -> tuple[list[RefToDelete], PrunedThrough | None, bool]:
    """The batch with what comes next of what has ended, how far that goes, and whether it waits
    because somebody goes on."""
    batch, through = list(free), None
    seconds = snapshot.project.spec.retention.refs_seconds
    keeps = timedelta(seconds=seconds)
    told = {(row.ref, row.sha) for row in batch}
    for each in snapshot.ended:
        if snapshot.is_held(each.folder):
            if waits_for_somebody(each.at, seconds, now):
                return batch, through, True
            through = PrunedThrough(at=each.at, uid=each.uid, ref=ALL)
            continue
        for ref, sha in _behind(each, state.through):
            if len(batch) >= MOST_AT_ONCE:
                return batch, through, False
            if (ref, sha) not in told:
                batch.append(RefToDelete(ref=ref, sha=sha, due=each.at + keeps))
            through = PrunedThrough(at=each.at, uid=each.uid, ref=ref)
        if len(batch) < MOST_AT_ONCE:
            through = PrunedThrough(at=each.at, uid=each.uid, ref=ALL)
    return batch, through, False


def _behind(ended: Ended, through: PrunedThrough | None) -> Iterable[Ref]:
    """Its refs behind that place, in order."""
    same = through is not None and (through.at, through.uid) == (ended.at, ended.uid)
    after = through.ref if through is not None and same else ""
    return sorted(each for each in ended.refs if each.ref > after)


def _look(snapshot: PruneSnapshot, state: RefPruning, now: datetime) -> PruneDecision:
    """One look at the Job of the batch."""
    run = RunPrune(_name(snapshot.project, state), state.batch)
    job = snapshot.jobs.get(run.job)
    if job is None:
        return _begin(snapshot, state, run)
    if repository_job.may_skip(snapshot.jobs, job):
        return _look(snapshot, state.model_copy(update={"number": state.number + 1}), now)
    if job.refused is not None:
        return _over(state, repository_job.refused(job, job.refused), now)
    if job.labels.get(labels.ASKED) != run.asked:
        return PruneDecision(_another(state), all_but("", snapshot.jobs), 1.0)
    if runs.is_over(job, now):
        return _over(state, repository_job.result_of(PruneResult, job, PRUNE, now), now)
    stuck = diagnosis.to_abandon(job, now)
    if stuck is not None:
        ended = _over(state, stuck, now)
        return replace(ended, actions=give_up((job,)))
    return PruneDecision(state, all_but(run.job, snapshot.jobs), LOOK_AGAIN_SECONDS)


def _another(state: RefPruning) -> RefPruning:
    """The batch is looked for anew, for a Job of another number."""
    return state.model_copy(update={"batch": (), "next": None, "number": state.number + 1})


def _begin(snapshot: PruneSnapshot, state: RefPruning, run: RunPrune) -> PruneDecision:
    """Make the Job, unless somebody needs a ref of it by now: what it deletes is fixed from then
    on."""
    if any(snapshot.is_held(folder_of(row.ref)) for row in state.batch):
        return PruneDecision(_another(state), all_but("", snapshot.jobs), 1.0)
    return PruneDecision(state, (run, *all_but(run.job, snapshot.jobs)), LOOK_AGAIN_SECONDS)


def _over(state: RefPruning, told: PruneResult | Diagnosis, now: datetime) -> PruneDecision:
    """What is known now; the next Job has another number. This one is deleted once that is written
    down: else nobody who leads next would know what it did."""
    if isinstance(told, Diagnosis):
        return _failed(state, told, now)
    if len(told.outcomes) != len(state.batch):
        strange = Diagnosis(Reason.INFRASTRUCTURE_ERROR, f"{PRUNE} left no result that is one")
        return _failed(state, strange, now)
    if REFUSED in told.outcomes and DELETED not in told.outcomes:
        why = Diagnosis(told.reason or Reason.PUSH_REJECTED, told.message)
        return _failed(state, why, now)
    pairs = list(zip(state.batch, told.outcomes, strict=True))
    left = [row.ref for row, outcome in pairs if outcome in (MOVED, REFUSED)]
    gone = {(row.ref, row.sha) for row in state.batch}
    update = {
        "waiting": tuple(row for row in state.waiting if (row.ref, row.sha) not in gone),
        "through": state.next or state.through,
        "deleted": min(state.deleted + told.outcomes.count(DELETED), _MOST),
        "left": min(state.left + len(left), _MOST),
        "last_left": tuple(left[:SHOWN]) or state.last_left,
        "failures": 0,
        "reason": None,
        "message": None,
        "until": now + timedelta(seconds=PAUSE_SECONDS),
    }
    done = _another(state).model_copy(update=update)
    return PruneDecision(done, (), float(PAUSE_SECONDS))


def _failed(state: RefPruning, why: Diagnosis, now: datetime) -> PruneDecision:
    failures = state.failures + 1
    back_off = _LEAST_SECONDS * 2 ** min(failures - 1, 7)
    seconds = float(min(max(seconds_to_wait(why.reason, failures), back_off), MOST_SECONDS))
    update = {
        "failures": failures,
        "reason": why.reason,
        "message": text(why.message, _WORDS),
        "until": now + timedelta(seconds=seconds),
    }
    failed = _another(state).model_copy(update=update)
    return PruneDecision(failed, (), seconds)
