"""Work on its way to a ref: what is known of the way, and what one step of `landing` comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from bernstein.api.delivery import Delivery
from bernstein.api.project import Project
from bernstein.api.verification import Origin, Verification
from bernstein.api.waiting import Waiting
from bernstein.core.actions import JobAction
from bernstein.core.conditions import Progress
from bernstein.core.delivery.job_result import Unfinished
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView, LateRequests
from bernstein.core.waiting import waits_for_jobs


class Delivering(Progress, Protocol):
    """What a landing reads and writes in the status of a Task or a Plan."""

    @property
    def verification(self) -> Verification | None: ...
    @property
    def delivery(self) -> Delivery | None: ...
    @property
    def waiting(self) -> Waiting | None: ...
    @property
    def infrastructure_failures(self) -> int: ...


S = TypeVar("S", bound=Delivering)


def with_delivery(status: S, delivery: Delivery, **update: Any) -> S:
    """The status with this delivery, and with what is new of it."""
    return status.model_copy(update={"delivery": delivery.model_copy(update=update)})


@dataclass(frozen=True)
class JudgedCommit:
    """What lands, as it was judged."""

    ref: str
    sha: str
    tree: str
    base: str
    """The tip that it was judged on: it lands only while the ref is there."""


@dataclass(frozen=True)
class Source:
    """What a candidate is made of."""

    origin: Origin
    candidate: str
    """The ref of the candidate."""
    message: str
    merge: bool = False
    """The candidate is a merge commit; else the same change as a commit on the new tip."""
    always: bool = False
    """The work itself never lands, wherever the tip is: only a candidate does."""
    marks: str | None = None
    """Where both sides are put where they do not merge; None: nowhere."""
    resolves: tuple[str, str] | None = None
    """A branch, and the commit of it with which the work resolves a conflict of the ref that it
    lands in: it lands as a merge of both."""
    verified: str | None = None
    """The commit that was verified before somebody else pushed this one on its branch. None: it is
    an agent's work."""


@dataclass(frozen=True)
class Landing:
    """One piece of work, where it goes, and what is known of the way."""

    job: Callable[[str, int], str]
    """The name of the Job that runs a program, by the number of the step."""
    number: int
    """The number that the next step gets, in the names of its Jobs."""
    commit: JudgedCommit
    source: Source
    onto: str
    """The ref that it lands in."""
    tip: str | None
    """Where `onto` is, as far as statuses tell. None: nothing is known."""
    ours: bool
    """Nobody else moves `onto`: elsewhere than at `tip` it is not gone on from."""
    conflict: str
    """How the message about a conflict begins; the files follow."""
    attests: Callable[[], str]
    """What is said of the commit once it has landed."""
    project: Project | None
    jobs: Mapping[str, JobView]
    late: LateRequests
    branch: str | None = None
    """The branch of a pull request, by which it is to get to `onto`: it is pushed there."""
    branch_at: str | None = None
    """Where that is; None: nothing was pushed there."""
    signs: bool = False
    """What is pushed is a signed copy of the commit."""
    resting: int = 0
    """How many others of the Project wait to try such a Job again."""


@dataclass(frozen=True)
class OnItsWay(Generic[S]):
    """A Job is asked for or at work, or it waits for a time or a person."""

    status: S
    actions: tuple[JobAction, ...] = ()
    requeue_after: float | None = None


def still_at_work(
    status: S, delivery: Delivery, job: JobView, run: Unfinished, now: datetime
) -> OnItsWay[S]:
    """Its Job is waited for, or given up, which the delivery remembers."""
    status = with_delivery(status, delivery, abandoned=run.abandoned)
    return OnItsWay(waits_for_jobs(status, (job,), now), run.actions, LOOK_AGAIN_SECONDS)


@dataclass(frozen=True)
class Prepared(Generic[S]):
    """There is a candidate on the new tip, to be verified."""

    status: S
    candidate: Verification


@dataclass(frozen=True)
class Landed(Generic[S]):
    """The remote has it."""

    status: S
    delivery: Delivery


@dataclass(frozen=True)
class Conflicted(Generic[S]):
    """It does not merge with what is at the tip, as the status says already."""

    status: S
    message: str
    """With the files."""
    sides: str
    """The places in conflict, as the Job has shown them: not sanitised."""
    files: tuple[str, ...] = ()
    """Paths in conflict; none where one of them is not called as it is shown."""
    marked: str = ""
    """The commit in which both sides stand between marks; "": there is none."""


@dataclass(frozen=True)
class Refused(Generic[S]):
    """What people have pushed can be no candidate."""

    status: S
    message: str
    """Why, as a sentence without a full stop."""


LandingState = OnItsWay[S] | Prepared[S] | Landed[S] | Conflicted[S] | Refused[S]
