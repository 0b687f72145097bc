"""Why something waits: the one place where it is said, and where it is over.

What was tried and failed is tried again after a time, or when the Project changes. It stays known,
in `tried`, while the Task or Plan waits for something else meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Literal, Protocol, Self, TypeVar, get_args

from bernstein.api.project import Project
from bernstein.api.projects.accounts import accounts
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.api.waiting import LONGEST_MESSAGE, Tried, Waiting, WaitReason, WaitScope
from bernstein.core import diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.reasons import policy
from bernstein.core.reasons.row import Retry
from bernstein.core.reasons.waits import (
    PROBE_SECONDS,
    SOON_SECONDS,
    SOON_TRIES,
    longest_wait,
    seconds_to_wait,
)
from bernstein.core.remedies import remedy_of
from bernstein.core.sanitise import text as sanitise
from bernstein.core.sanitise import without_quotes

MESSAGE = 1500
"""Characters of the message about something that failed."""
RESTS = "nothing starts until it is resumed"
"""Said of a suspended Plan of which nothing is at work any more."""
JOBS_PER_SECOND = 4
"""So many try at most what each tries for itself, in one Project."""
SKEW_SECONDS = 60
"""So much the clocks of two replicas may differ."""

_REMEDY = ". Remedy: "
_LONGEST_REMEDY = 1024
_LONGEST_WORD = 64


class Waits(Protocol):
    """The status of a Task or a Plan."""

    @property
    def waiting(self) -> Waiting | None: ...
    def model_copy(self, *, update: dict[str, object]) -> Self: ...


class Ends(Waits, Protocol):
    """The same, with its end."""

    @property
    def ended_at(self) -> datetime | None: ...


S = TypeVar("S", bound=Waits)

Blocks = Literal[Reason.NAME_CONFLICT, Reason.WRITE_REFUSED, Reason.APPROVAL_REFUSED]
"""A name is somebody else's; the operator may not change or delete what is its own; or it may not
ask people."""


def wait(
    reason: str,
    text: str,
    now: datetime,
    *,
    seconds: float | None = None,
    alone: float | None = None,
    needs_person: bool = False,
    remedy: str | None = None,
    project: Project | None = None,
    tried: Tried | None = None,
) -> Waiting:
    """The waiting for this reason, from now on; whatever is given, it fits into a status.

    `seconds`: until it is tried again by itself; None: something else must change. `alone`: the
    same should nobody else look for what it waits for, no more than these; None: nobody could.
    `remedy`: what helps in this very case; None: that of the reason, where a person is needed.
    Conditions say the same, so that nobody is quoted here either.
    """
    text = without_quotes(text)
    if remedy is None:
        remedy = remedy_of(reason, text, project) if needs_person else ""
    return Waiting(
        reason=_word(reason),
        message=_with(text, remedy),
        since=now,
        until=None if seconds is None else now + timedelta(seconds=seconds),
        until_alone=None if alone is None or seconds is None else now + timedelta(seconds=alone),
        scope=scope_of(reason),
        needs_person=needs_person,
        tried=tried,
    )


def says(
    waiting: Waiting, reason: str, text: str, *, needs_person: bool, remedy: str | None
) -> bool:
    """Whether `wait` would make the same of these, found out without making it.

    What it would clean or cut counts as another text.
    """
    if remedy is None:
        remedy = remedy_of(reason, text, None) if needs_person else ""
    message = f"{text.rstrip('.')}{_REMEDY}{remedy}" if remedy else text
    return (waiting.reason, waiting.message) == (reason, message)


def waits(
    status: S,
    reason: str,
    text: str,
    now: datetime,
    *,
    needs_person: bool = False,
    remedy: str | None = None,
) -> S:
    """The status that waits for this; what was tried before stays known."""
    tried = status.waiting.tried if status.waiting is not None else None
    new = wait(reason, text, now, needs_person=needs_person, remedy=remedy, tried=tried)
    return status.model_copy(update={"waiting": new})


def held(
    status: S,
    reason: str,
    text: str,
    project: Project | None,
    now: datetime,
    seconds: float | None = PROBE_SECONDS,
    *,
    alone: float | None = None,
    needs_person: bool = True,
    remedy: str | None = None,
) -> S:
    """The status that waits because this failed: for `seconds`, or until the Project changes.

    None: only a change of the Project ends it. `alone`: see `wait`.
    """
    times = tries(status, reason, project)
    if seconds is not None and _misses_of(project, reason, text):
        alone = min(seconds if alone is None else alone, SOON_SECONDS)
        seconds = alone if _shows_alone(reason, text, project) else seconds
    new = wait(
        reason,
        sanitise(text, MESSAGE),
        now,
        seconds=seconds,
        alone=alone,
        needs_person=needs_person,
        remedy=remedy,
        project=project,
        tried=Tried(
            reason=_word(reason),
            generation=_generation(project),
            times=times if times > 1 else None,
        ),
    )
    return status.model_copy(update={"waiting": new})


def waits_for_jobs(status: S, jobs: Collection[JobView], now: datetime) -> S:
    """The status with what keeps one of these Jobs from its end, or its pod from a node."""
    held = next(filter(None, (diagnosis.held(job, now) for job in jobs)), None)
    if held is not None:
        return waits(status, held.reason, held.message, now, needs_person=True)
    words = (diagnosis.unscheduled(job, now) for job in jobs)
    first = next((text for text in words if text is not None), None)
    if first is None or status.waiting is not None:
        return status  # what is tried again, or needs a person, says more
    return waits(status, Reason.UNSCHEDULABLE, first, now)


def tries(status: Waits, reason: str, project: Project | None) -> int:
    """How often in a row it has failed for this reason with this Project, if it does so now."""
    tried = status.waiting.tried if status.waiting is not None else None
    if tried is None or (tried.reason, tried.generation) != (_word(reason), _generation(project)):
        return 1
    return (tried.times or 1) + 1


def trying(status: S, project: Project | None) -> S:
    """The status while it is tried again what failed last.

    Who needs a person goes on to say so until something moves: else that would come and go with
    every try. A Project that has changed is reason to believe that it is mended.
    """
    waiting = status.waiting
    if waiting is None or not is_stalled(status) or is_mended(waiting, project):
        return goes_on(status)
    if waiting.tried is None or waiting.tried.reason != waiting.reason:
        return goes_on(status)
    tries_it = waiting.model_copy(update={"until": None, "until_alone": None})
    return status.model_copy(update={"waiting": tries_it})


def trying_again(status: S, project: Project | None) -> S:
    """The status while checks are tried again, of which one waits for what a new pod alone shows.

    That they would try it soon (`until_alone`) stays: others go on to leave it to them. It tells
    those whose time has come from those that only a change of the Project lets try again.
    """
    alone = status.waiting.until_alone if status.waiting is not None else None
    status = trying(status, project) if alone is not None else goes_on(status)
    if status.waiting is None:
        return status
    waiting = status.waiting.model_copy(update={"until_alone": alone})
    return status.model_copy(update={"waiting": waiting})


def tries_again(status: Waits) -> bool:
    """Whether it is in the state that `trying_again` says."""
    waiting = status.waiting
    return is_trying(status) and waiting is not None and waiting.until_alone is not None


def is_trying(status: Waits) -> bool:
    """Whether what failed last is being tried again."""
    waiting = status.waiting
    if waiting is None or waiting.tried is None or waiting.until is not None:
        return False
    return waiting.reason == waiting.tried.reason


def goes_on(status: S) -> S:
    """The status that waits for nothing."""
    return status.model_copy(update={"waiting": None})


def blocked(status: S, reason: Blocks, text: str, now: datetime) -> S:
    """The status that waits until the cluster lets happen what was decided.

    A next try that is still to come stays when it is, whoever looks meanwhile.
    """
    before = status.waiting
    tried = before.tried if before is not None else None
    new = wait(reason, text, now, seconds=PROBE_SECONDS, needs_person=True, tried=tried)
    same = before is not None and (before.reason, before.message) == (new.reason, new.message)
    if same and seconds_left(before, None, now) is not None:
        return status
    return status.model_copy(update={"waiting": new})


def unblocked(status: S) -> S:
    """The status as if the cluster let it happen, unless it is a session that has met that."""
    waiting = status.waiting
    if waiting is None or waiting.reason not in (*get_args(Blocks), Reason.DELETION_HELD):
        return status
    if waiting.tried is not None and waiting.tried.reason == waiting.reason:
        return status
    if isinstance(status, TaskStatus) and status.state is TaskState.OPEN and waiting.until is None:
        return status  # that has met a Task that it depends on
    return goes_on(status)


def is_stalled(status: Waits) -> bool:
    """Whether a person must act."""
    return status.waiting is not None and status.waiting.needs_person


def stands_still(status: Ends) -> bool:
    """Whether a person must act before it goes on: what has ended never does by itself."""
    return is_stalled(status) and status.ended_at is None


def is_held(status: Waits) -> bool:
    """Whether something failed and was not tried again since."""
    return status.waiting is not None and status.waiting.tried is not None


def is_tried_later(status: Waits, project: Project | None, now: datetime) -> bool:
    """Whether it waits for its next try, and a person may have mended by now what it needs him for.
    What a provider has asked to wait for is no such thing, nor is what is tried by itself soon."""
    if not is_stalled(status) or not is_held(status):
        return False
    return seconds_left(status.waiting, project, now) is not None


def tried_at_once(status: S, now: datetime) -> S:
    """The status whose next try is due."""
    assert status.waiting is not None
    due = status.waiting.model_copy(update={"until": now, "until_alone": None})
    return status.model_copy(update={"waiting": due})


def is_kept_back(status: Waits) -> bool:
    """Whether it waits for a change outside: of the Project, of the Plan, or by a person."""
    return is_held(status) or is_stalled(status)


def is_mended(waiting: Waiting, project: Project | None) -> bool:
    """The Project has changed since it was tried, so that the cause may be gone."""
    if project is None or waiting.tried is None:
        return False
    return waiting.tried.generation != _generation(project)


def failed_at(until_alone: datetime) -> datetime:
    """When that failed last which a new pod alone shows to be mended, by when it is tried again, in
    the whole seconds in which nodes tell when a container was started."""
    return until_alone.replace(microsecond=0) - timedelta(seconds=SOON_SECONDS)


def seconds_left(
    waiting: Waiting | None,
    project: Project | None,
    now: datetime,
    *,
    leads: bool = False,
    follows: datetime | None = None,
) -> float | None:
    """Seconds until it is tried again; None: no time keeps it back.

    `leads`: of those that wait for the same it is the one that tries for all, or the only one.
    `follows`: when it tries after another one has shown that it gets on; None: nobody has.
    A time that is further away than one ever waits for this reason was set before the time of day
    went back: it is over.
    """
    if waiting is None or waiting.until is None or is_mended(waiting, project):
        return None
    left = (waiting.until - now).total_seconds()
    if not 0 < left <= longest_wait(waiting.reason) + SKEW_SECONDS:
        return None
    alone = waiting.until_alone
    if alone is not None and _is_alone(waiting, project, leads):
        left = min(left, (alone - now).total_seconds())
    elif alone is not None and follows is not None:
        left = min(left, (max(alone, follows) - now).total_seconds())
    return left if left > 0 else None


def _is_alone(waiting: Waiting, project: Project | None, leads: bool) -> bool:
    """Whether nobody else looks for what it waits for."""
    if _shows_alone(waiting.reason, waiting.message, project):
        return True
    missed = secrets_missed(waiting.reason, waiting.message)
    return leads and not missed & missed_by_probe(project)


def seconds_to_next_try(
    reason: str,
    text: str,
    times: int,
    project: Project | None,
    crowd: int = 0,
    resting: int = 0,
) -> int:
    """Seconds until what has failed `times` times in a row, in these words, is tried again.

    `crowd`: how many wait for the same, where one of them tries it for all; 0: this is that one, or
    there is none. `resting`: how many others try the like each for itself. However many they are,
    together they try it a few times a second at most.
    """
    elsewhere = bool(diagnosis.secrets_named(text) & missed_by_probe(project))
    seconds = seconds_to_wait(reason, times, elsewhere=elsewhere)
    if policy(reason).retry is not Retry.SOON:
        return seconds
    if crowd:
        seconds = max(seconds_to_wait(reason, SOON_TRIES, elsewhere=True), crowd)
    return min(max(seconds, resting // JOBS_PER_SECOND), PROBE_SECONDS)


def secrets_missed(reason: str, message: str) -> frozenset[str]:
    """Names of the Secrets that are waited for, by the reason and message of the waiting."""
    if reason not in (Reason.SECRET_NOT_FOUND, Reason.GATE_ERRORED):
        return frozenset()
    return diagnosis.secrets_named(message)


def missed_by_probe(project: Project | None) -> frozenset[str]:
    """Names of the Secrets that the pod of the Project's probe waits for."""
    probe = project.status.probe if project is not None else None
    findings = probe.findings if probe is not None else ()
    missing = (f.message for f in findings if f.reason == Reason.SECRET_NOT_FOUND)
    return frozenset().union(*map(diagnosis.secrets_named, missing))


def _shows_alone(reason: str, message: str, project: Project | None) -> bool:
    """Whether a missing Secret of the Project that is there by now shows by a new try alone.

    The operator may not read Secrets. While the pod of the Project's probe waits for the same one,
    the kubelet looks, and tries may be rare: the probe tells when it is there.
    """
    missed = secrets_missed(reason, message)
    return _misses_of(project, reason, message) and not missed & missed_by_probe(project)


def _misses_of(project: Project | None, reason: str, message: str) -> bool:
    """Whether it waits for a missing Secret of the Project."""
    missed = secrets_missed(reason, message)
    return project is not None and bool(missed & _secrets_of(project))


def _secrets_of(project: Project) -> frozenset[str]:
    """Names of the Secrets for which the probe waits while they are not there."""
    spec = project.spec
    keys = [agent.api_key for agent in spec.agents if agent.api_key is not None]
    keys += [model.key for model in spec.models]
    if spec.attestation is not None and spec.attestation.public_key is not None:
        keys.append(spec.attestation.key)
    return frozenset(
        (*(each.secret.secret_name for each in accounts(spec)), *(key.name for key in keys))
    )


def scope_of(reason: str) -> WaitScope:
    """Whom the cause concerns."""
    of_plan = (
        *(WaitReason.PLAN_CANCELLED, WaitReason.PLAN_STARTING, WaitReason.BEGIN_QUEUE),
        *(WaitReason.PLAN_SUSPENDED, WaitReason.SUSPENDED),
    )
    return WaitScope.PLAN if reason in of_plan else policy(reason).holds


def parted(message: str) -> tuple[str, str | None]:
    """A message without its remedy, and the remedy if it has one."""
    cause, marker, remedy = message.partition(_REMEDY[1:])
    return (cause, remedy) if marker else (message, None)


def _with(text: str, remedy: str) -> str:
    helps = sanitise(remedy, _LONGEST_REMEDY)
    if not helps:
        return sanitise(text, LONGEST_MESSAGE)
    room = LONGEST_MESSAGE - len(_REMEDY) - len(helps)
    return sanitise(text, room).rstrip(".") + _REMEDY + helps


def _word(reason: str) -> str:
    """The reason, where it may stand in a condition."""
    good = reason.isascii() and reason.isalnum() and reason[:1].isupper()
    return str(reason) if good and len(reason) <= _LONGEST_WORD else Reason.INFRASTRUCTURE_ERROR


def _generation(project: Project | None) -> int:
    return project.metadata.generation if project is not None else 0
