"""Closes the pull requests of what was deleted, in one repository: one Job after another.

    deleted ──▶ it is written down ──▶ its Job ──┬──▶ closed; or it was merged before that
                      ▲                          └──▶ could not ──┬──▶ later, behind others
                      └───────────────────────────────────────────┘
                                            MOST tries: it stays open, which is told

Nothing waits for it: what is deleted is gone by then. The Job has the token of the forge alone. It
closes one only of the number that our own status told, with the branch of that work at its head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bernstein.api.programs.forge import ProposeResult
from bernstein.api.programs.forge_jobs import PROPOSE
from bernstein.api.projects.closing import MOST_TO_CLOSE, SHOWN, RequestClosing, RequestToClose
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.core import diagnosis, labels, names, runs
from bernstein.core.actions import give_up
from bernstein.core.delivery import pull_request
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView
from bernstein.core.projects import limits, repositories, repository_job
from bernstein.core.projects.actions import RunWithdraw, WithdrawDecision
from bernstein.core.projects.repository_job import MOST_SECONDS, OUT_OF_REACH, all_but
from bernstein.core.reasons.waits import seconds_to_ask
from bernstein.core.sanitise import text

MOST = 10
"""Jobs that try to close one, in some hours."""
OPENING_SECONDS = 60
"""After which the Job is over that may have been opening one when its owner was deleted."""
PAUSE_SECONDS = 2
_LEAST_SECONDS = 30
_COUNT = 10**9
_WORDS = 300


@dataclass(frozen=True)
class WithdrawSnapshot:
    """Everything that the decision about a repository's pull requests looks at."""

    project: Workplace
    jobs: Mapping[str, JobView]
    """The repository's Jobs that close, by name."""
    departed: Sequence[RequestToClose] = ()
    """Those of what was deleted, as memory has them."""

    def with_job(self, job: JobView) -> WithdrawSnapshot:
        return replace(self, jobs={**self.jobs, job.name: job})

    def with_refusal(self, message: str) -> WithdrawSnapshot:
        raise AssertionError(f"who closes pull requests makes nothing but Jobs: {message}")


def expected(project: Workplace) -> str | None:
    """The name of the Job that should be at work; None: none should."""
    known = project.status.closing_in(project.spec.repository.name)
    return _name(project, known) if known is not None and known.at_work is not None else None


def _name(project: Workplace, known: RequestClosing) -> str:
    return names.close_job(project.metadata.name, known.number, repository_job.mark(project))


def decide(snapshot: WithdrawSnapshot, now: datetime) -> WithdrawDecision:
    """The next step."""
    project = snapshot.project
    known = project.status.closing_in(project.spec.repository.name)
    before = known or RequestClosing(repository=project.spec.repository.name)
    state = _with_departed(_with_moved(project, before), snapshot)
    if state.at_work is not None:
        return _look(snapshot, state, state.at_work, now)
    left = repository_job.seconds_left(state.until, now, state.reason)
    if left > 0 and not (_is_only_told(before) and state.waiting):
        return WithdrawDecision(state, all_but("", snapshot.jobs), left)
    state, wait = _next(project, state, now)
    # What is at work is written down before there is a Job.
    kept = state if known is not None or state != before else None
    return WithdrawDecision(kept, all_but("", snapshot.jobs), wait)


def _is_only_told(state: RequestClosing) -> bool:
    """Nothing waits: it is told for a while what stays open, as no Job can be asked to close it."""
    return not state.waiting and state.reason in OUT_OF_REACH


def _with_moved(project: Workplace, state: RequestClosing) -> RequestClosing:
    """The list with what the status has of repositories that the Project has no more, or calls
    otherwise: it is in no other list then, and no longer in memory."""
    names_there = {each.name for each in project.whole.spec.repositories}
    known = {_key(row) for row in _written(state)}
    gone = (each for each in project.status.closing if each.repository not in names_there)
    rows = {_key(row): row for each in gone for row in _written(each)}
    moved = [
        row
        for key, row in rows.items()
        if key not in known and home(project, row.repository, row.onto) == project.spec.place
    ]
    room = max(MOST_TO_CLOSE - len(_written(state)), 0)
    state = state.model_copy(update={"waiting": (*state.waiting, *moved[:room])})
    for row in moved[room:]:
        no_room = Diagnosis(Reason.PULL_REQUEST_MISSING, "status.closing has no room for it")
        state = _left(state, row, no_room)
    return state


def home(project: Workplace, digest: str, onto: str) -> int:
    """The index of the repository in whose list a pull request is: of those with this address the
    one with its branch. Where there is none it is in the first, which tells that it stays open."""
    rows = [*enumerate(project.whole.spec.repositories)]
    same = [(place, each) for place, each in rows if repositories.digest(each) == digest]
    exact = [place for place, each in same if names.branch_ref(each.branch) == onto]
    return (exact or [place for place, _ in same] or [0])[0]


def _written(state: RequestClosing) -> tuple[RequestToClose, ...]:
    return (*state.waiting, *((state.at_work,) if state.at_work is not None else ()))


def _with_departed(state: RequestClosing, snapshot: WithdrawSnapshot) -> RequestClosing:
    """The list with what was deleted since, as far as there is room, what is due first. What it has
    stays in it: memory has forgotten that."""
    known = {_key(row) for row in _written(state)}
    new = {_key(row): row for row in snapshot.departed if _key(row) not in known}
    added = sorted(new.values(), key=lambda row: (row.due, row.branch))
    most = MOST_TO_CLOSE // len(snapshot.project.whole.spec.repositories)
    if state.at_work is not None:
        most -= 1  # it comes back where it fails
    room = max(most - len(state.waiting), 0)
    rows = (*state.waiting, *added[:room])
    order = sorted(rows, key=lambda row: (row.tries, row.due, row.branch))
    update = {"waiting": tuple(order), "unwritten": len(added[room:])}
    return state.model_copy(update=update)


def _key(row: RequestToClose) -> tuple[str, str, str]:
    return row.repository, row.branch, row.onto


def _next(
    project: Workplace, state: RequestClosing, now: datetime
) -> tuple[RequestClosing, float | None]:
    """What is closed next, and when to look again."""
    told_until, state = state.until, state.model_copy(update={"until": None})
    beyond = [(row, _out_of_reach(project, row)) for row in state.waiting]
    for row, gone in beyond:
        if gone is not None:
            state = _without(_left(state, row, gone), row)
    if any(gone is not None for _, gone in beyond):
        return state, 1.0
    due = [row for row in state.waiting if row.due <= now]
    if due:
        return _without(state, due[0]).model_copy(update={"at_work": due[0]}), 1.0
    if not state.waiting and state.reason is not None and told_until is None:
        until = now + timedelta(seconds=MOST_SECONDS)
        return state.model_copy(update={"until": until}), float(MOST_SECONDS)
    if not state.waiting:
        update = {"failures": 0, "reason": None, "message": None}
        return state.model_copy(update=update), None
    first = min(row.due for row in state.waiting)
    return state, min(max((first - now).total_seconds(), 1.0), float(MOST_SECONDS))


def _out_of_reach(project: Workplace, row: RequestToClose) -> Diagnosis | None:
    """Why no Job can be asked to close it."""
    repository = project.spec.repository
    if row.repository != repositories.digest(repository):
        what = "the Project has no repository any more that is where they are"
        return Diagnosis(Reason.PULL_REQUEST_MISSING, what)
    if repository.forge is None:
        return Diagnosis(Reason.FORGE_GONE, "the Project names no forge of its repository any more")
    return None


def _without(state: RequestClosing, row: RequestToClose) -> RequestClosing:
    waiting = tuple(each for each in state.waiting if each is not row)
    return state.model_copy(update={"waiting": waiting})


def _left(state: RequestClosing, row: RequestToClose, why: Diagnosis) -> RequestClosing:
    """Nobody closes it any more."""
    branch = names.branch_of(row.branch)
    told = f"{branch} ({row.number})" if row.number else branch
    others = [each for each in state.last_left if each != told]
    update = {
        "left": min(state.left + 1, _COUNT),
        "last_left": (told, *others)[:SHOWN],
        "reason": why.reason,
        "message": text(why.message, _WORDS),
    }
    return state.model_copy(update=update)


def _look(
    snapshot: WithdrawSnapshot, state: RequestClosing, row: RequestToClose, now: datetime
) -> WithdrawDecision:
    """One look at the Job at work."""
    gone = _out_of_reach(snapshot.project, row)
    if gone is not None:
        return WithdrawDecision(_left(_another(state), row, gone), all_but("", snapshot.jobs), 1.0)
    run = _run(snapshot.project, state, row)
    job = snapshot.jobs.get(run.job)
    if job is None:
        left = limits.seconds_left(snapshot.project, now)
        if left > 0:
            return WithdrawDecision(state, all_but("", snapshot.jobs), left)
        others = all_but(run.job, snapshot.jobs)
        return WithdrawDecision(state, (run, *others), LOOK_AGAIN_SECONDS)
    if repository_job.may_skip(snapshot.jobs, job):
        return _look(snapshot, state.model_copy(update={"number": state.number + 1}), row, now)
    if job.refused is not None:
        return _failed(state, row, repository_job.refused(job, job.refused), now)
    if job.labels.get(labels.ASKED) != run.asked:
        another = state.model_copy(update={"number": state.number + 1})
        return WithdrawDecision(another, all_but("", snapshot.jobs), 1.0)
    if runs.is_over(job, now):
        told = repository_job.result_of(ProposeResult, job, PROPOSE, now)
        return _over(state, row, told, now)
    stuck = diagnosis.to_abandon(job, now)
    if stuck is not None:
        return replace(_failed(state, row, stuck, now), actions=give_up((job,)))
    return WithdrawDecision(state, all_but(run.job, snapshot.jobs), LOOK_AGAIN_SECONDS)


def _run(project: Workplace, state: RequestClosing, row: RequestToClose) -> RunWithdraw:
    comment = pull_request.why_gone(row.kind, row.name, project)
    head, base = names.branch_of(row.branch), names.branch_of(row.onto)
    return RunWithdraw(_name(project, state), row.number, head, base, comment)


def _another(state: RequestClosing, **update: Any) -> RequestClosing:
    """The next Job has another number. This one is deleted once that is written down: else nobody
    who leads next would know what it did."""
    return state.model_copy(update={"at_work": None, "number": state.number + 1} | update)


def _over(
    state: RequestClosing, row: RequestToClose, told: ProposeResult | Diagnosis, now: datetime
) -> WithdrawDecision:
    if isinstance(told, Diagnosis):
        return _failed(state, row, told, now)
    pull = told.pull_request
    ends = ("Closed", "Merged") if row.number else ("Closed", "Merged", "Missing")
    if pull.state not in ends or row.number not in (0, pull.number):
        strange = Diagnosis(Reason.INFRASTRUCTURE_ERROR, f"{PROPOSE} left no result that is one")
        return _failed(state, row, strange, now)
    done = _another(state, closed=min(state.closed + (pull.state == "Closed"), _COUNT), failures=0)
    if state.reason not in OUT_OF_REACH:  # else it is told for a while what stays open
        until = now + timedelta(seconds=PAUSE_SECONDS)
        done = done.model_copy(update={"reason": None, "message": None, "until": until})
    return WithdrawDecision(done, (), float(PAUSE_SECONDS))


def _failed(
    state: RequestClosing, row: RequestToClose, why: Diagnosis, now: datetime
) -> WithdrawDecision:
    failures = state.failures + 1
    back_off = _LEAST_SECONDS * 2 ** min(failures - 1, 7)
    back_off = min(back_off, MOST_SECONDS)
    seconds = float(max(seconds_to_ask(why.reason, failures, why.retry_after), back_off))
    tried = row.model_copy(update={"tries": row.tries + 1})
    failed = _another(
        state,
        failures=failures,
        reason=why.reason,
        message=text(why.message, _WORDS),
        until=now + timedelta(seconds=seconds),
    )
    if tried.tries >= MOST:
        failed = _left(failed, tried, why)
    else:  # others come first: they may be of another account, or not be held by the same
        failed = failed.model_copy(update={"waiting": (*failed.waiting, tried)})
    return WithdrawDecision(failed, (), seconds)
