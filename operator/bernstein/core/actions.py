"""Actions: what decisions about Tasks and Plans ask a controller to do, as plain data."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from bernstein.api.plan import PlanStatus
from bernstein.api.pod import FENCE, CheckVerdict
from bernstein.api.programs.plugin import PluginConfig
from bernstein.api.requests import TaskRequest
from bernstein.api.session import AgentSession
from bernstein.api.task import TaskStatus
from bernstein.api.waiting import Cancel
from bernstein.checks.spec import DIGEST, CheckSpec
from bernstein.core.gate_cache import Kept
from bernstein.core.jobs import JobView

S = TypeVar("S")
A = TypeVar("A")


@dataclass(frozen=True)
class CreateSession:
    """Start the Task's next run."""

    session: dict[str, Any]
    """The AgentSession object, as the API server takes it."""


@dataclass(frozen=True)
class StopSession:
    """Ask the agent of the Task's session to end."""

    reason: str


@dataclass(frozen=True)
class KnownBase:
    """What a check has found or measured in the commit before the work when it was run there."""

    measured: str
    """Packed; see `bernstein.checks.outputs.baseline`."""
    images: str
    """A digest of the images that it was measured in."""


@dataclass(frozen=True)
class RunCheck:
    """A Job that executes one check on the commit `sha` at `ref`."""

    job: str
    check: CheckSpec
    ref: str
    sha: str
    pinned_sha: str
    """The commit that the configuration of linters and the like is read from."""
    base: str | None = None
    """The commit before the work, where the work did not pass and it is asked the same, or where
    the check is always asked of both."""
    compares: bool = False
    """The check prints what it finds or measures in both, the base and the work."""
    known: KnownBase | None = None
    """What was found or measured there: so it is not run there."""
    is_second: bool = False
    """It has judged the work already, which counts only in the light of this `base`."""
    changed_since: str | None = None
    """The commit before the work, where it runs for some changed paths only."""
    plugin: PluginConfig | None = None
    """What a gate in Python is told."""
    stays: int = field(default=0, compare=False)
    """Seconds after its end for which it is kept at least; see verdicts.seconds_of_round."""

    @property
    def asked(self) -> str:
        """A digest of the question."""
        return self.check.digest


@dataclass(frozen=True)
class RunFormat:
    """A Job that formats what `sha` changes against `base`, and pushes that to `to`."""

    job: str
    check: CheckSpec
    """Its command, where that runs, and for how long."""
    ref: str
    sha: str
    base: str
    pinned_sha: str
    """The commit that the configuration of formatters is read from."""
    to: str
    message: str

    @property
    def asked(self) -> str:
        """A digest of the question."""
        return self.check.digest


@dataclass(frozen=True)
class RunInspect:
    """A Job of checks that only read."""

    job: str
    checks: tuple[CheckSpec, ...]
    ref: str
    sha: str
    base: str
    onto: str
    pinned_sha: str | None = None
    """What the Plan started from; None: `base`."""
    stays: int = field(default=0, compare=False)
    """Seconds after its end for which it is kept at least; see verdicts.seconds_of_round."""

    @property
    def asked(self) -> str:
        """A digest of all its questions together."""
        return _together(self.checks)


def _together(checks: Iterable[CheckSpec]) -> str:
    together = ",".join(check.digest for check in checks)
    return hashlib.sha256(together.encode()).hexdigest()[:DIGEST]


@dataclass(frozen=True)
class RunJudge:
    """A Job that puts what `sha` changes against `base` to models."""

    job: str
    called: str
    """What it is called among the checks."""
    checks: tuple[CheckSpec, ...]
    ref: str
    sha: str
    base: str
    title: str
    description: str
    dollars: str | None = field(default=None, compare=False)
    """US dollars that all of it may cost; None: nobody counts them."""
    known: tuple[str, ...] = ()
    """Names of those of its checks that were answered in an earlier round, and paid for: they are
    not put again."""
    heard: tuple[CheckVerdict, ...] = ()
    """What models have answered of the check that several are asked, by their names: they are not
    asked again."""
    stays: int = field(default=0, compare=False)
    """Seconds after its end for which it is kept at least; see verdicts.seconds_of_round."""

    @property
    def asked(self) -> str:
        """A digest of all its questions together."""
        return _together(self.checks)


@dataclass(frozen=True)
class RunPrepare:
    """A Job that makes the candidate of `sha` on the tip of `onto`."""

    job: str
    ref: str
    sha: str
    onto: str
    candidate: str
    message: str
    merge: bool = False
    marks: str | None = None
    """Where both sides are put, between marks, if they do not merge. None: nowhere."""
    resolves: tuple[str, str] | None = None
    """A branch, and the commit of it with which the work resolves a conflict of `onto`."""
    verified: str | None = None
    """The commit that was verified before somebody else pushed `sha` on its branch. None: `sha` is
    an agent's work."""
    as_it_is: bool = False
    """Such a commit is the candidate itself where it stands on the tip."""


@dataclass(frozen=True)
class RunLand:
    """A Job that brings `sha` to `onto`, after may_merge; or that looks whether it is there."""

    job: str
    ref: str
    sha: str
    tree: str
    onto: str
    expect: str | None
    """Where `onto` must be; elsewhere nothing is pushed. None: nothing is pushed at all."""
    attests: str = field(default="", compare=False)
    """What is said of it once it has landed: a predicate, as JSON. "": nothing."""
    branch: str | None = None
    """The branch of a pull request: it is brought there, and `onto` is what it stands on."""
    branch_at: str | None = None
    """Where that must be; None: it must not exist."""
    signs: bool = False
    """What lands is a signed copy of it."""


@dataclass(frozen=True)
class RunSeek:
    """A Job that looks whether `onto` has `sha`, or the same change, which people have merged. It
    pushes nothing, whatever is there."""

    job: str
    ref: str
    """Where it is, if not in `onto`."""
    sha: str
    onto: str


@dataclass(frozen=True)
class RunPropose:
    """A Job that opens a pull request of the branch `head` into `base`, or makes it read so."""

    job: str
    head: str
    base: str
    title: str = field(compare=False)
    body: str = field(compare=False)
    number: int = 0
    """Of the one that is there already; 0: nobody knows one."""


@dataclass(frozen=True)
class RunClose:
    """A Job that closes the pull request of the branch `head` into `base`, where it is open."""

    job: str
    number: int
    """Of the pull request; 0: nobody knows it."""
    head: str
    base: str
    comment: str = field(compare=False)
    """What is said there."""


@dataclass(frozen=True)
class RunListen:
    """A Job that reads what is new to be said of a pull request."""

    job: str
    number: int
    """Of the pull request."""
    known: tuple[str, ...] = ()
    """Ids of comments that have been read."""


@dataclass(frozen=True)
class DeleteJobs:
    """Delete these Jobs with their pods."""

    jobs: tuple[JobView, ...]


@dataclass(frozen=True)
class KeepCheckLogs:
    """Save the end of what these Jobs' checks printed, before the Jobs go; best effort."""

    jobs: tuple[JobView, ...]
    before: int = 0
    """How many logs of the same Task or Plan were saved earlier."""


@dataclass(frozen=True)
class KeepVerdicts:
    """Keep what gates have said of a tree, for when they are to judge the same again; best effort.

    What was known already was of use once more.
    """

    verdicts: tuple[tuple[str, Kept], ...]
    """Each, or what was measured of a base, with the key that names what was judged, and how."""
    images: tuple[tuple[str, str], ...] = ()
    """The digest that each image had in their pods, by its reference."""


@dataclass(frozen=True)
class RunFence:
    """Take the name of this Job, with a Job that never runs.

    A request to make the real one may still be on its way to the API server: it then finds the name
    taken.
    """

    job: str


def give_up(jobs: Iterable[JobView]) -> tuple[DeleteJobs, ...]:
    """Delete those that have not ended: nobody waits for them, and they must do nothing later.

    A fence stays: its name must not become free.
    """
    unfinished = tuple(job for job in jobs if job.goes_on and job.main != FENCE)
    return (DeleteJobs(unfinished),) if unfinished else ()


@dataclass(frozen=True)
class RunBegin:
    """A Job that makes the Plan's integration ref at the tip of the target branch."""

    job: str
    target: str
    integration: str
    again: bool = False
    """An earlier one may have made it."""


@dataclass(frozen=True)
class CreateTasks:
    """Task objects, as the API server takes them, to be made in this order."""

    objects: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class CancelTasks:
    """Cancel these Tasks: their Plan was cancelled, or is delivered without them; or the Task of
    which they are parts was."""

    names: tuple[str, ...]
    cancel: Cancel


@dataclass(frozen=True)
class DeleteSession:
    """Delete a session of the Task, as it was read, with all that it owns."""

    session: AgentSession


@dataclass(frozen=True)
class DeleteTask:
    """Delete the Task itself, as it was read, with all that it owns."""


@dataclass(frozen=True)
class CreatePlan:
    """Make the Plan that the Task has produced."""

    plan: dict[str, Any]
    """The Plan object, as the API server takes it."""


@dataclass(frozen=True)
class CreateApproval:
    """Ask people about the Task or Plan."""

    approval: dict[str, Any]
    """The Approval object, as the API server takes it."""


@dataclass(frozen=True)
class AskTask:
    """Hand a request of the Plan on to one of its Tasks."""

    name: str
    resource_version: str
    """That of the Task whose requests these are with the new one."""
    requests: tuple[TaskRequest, ...]


JobAction = (
    RunCheck
    | RunFormat
    | RunInspect
    | RunJudge
    | RunPrepare
    | RunLand
    | RunSeek
    | RunPropose
    | RunClose
    | RunListen
    | RunFence
    | KeepCheckLogs
    | KeepVerdicts
    | DeleteJobs
)
"""What Tasks and Plans ask for alike."""


@dataclass(frozen=True)
class InRepository:
    """The same in one repository of a Plan that works in several."""

    name: str
    """In the Project."""
    action: RunBegin | JobAction


TaskAction = (
    CreateSession
    | StopSession
    | DeleteSession
    | DeleteTask
    | CreatePlan
    | CreateTasks
    | CancelTasks
    | CreateApproval
    | JobAction
)
PlanAction = (
    CreateTasks | CancelTasks | AskTask | CreateApproval | RunBegin | JobAction | InRepository
)


@dataclass(frozen=True)
class Decision(Generic[S, A]):
    """The status to write (if it differs), what to do first, when to look again at the latest."""

    status: S
    actions: tuple[A, ...] = ()
    requeue_after: float | None = None
    """In seconds."""


TaskDecision = Decision[TaskStatus, TaskAction]
PlanDecision = Decision[PlanStatus, PlanAction]
