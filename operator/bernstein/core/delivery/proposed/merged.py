"""A pull request that was merged as it was verified: git shows whether its branch has that.

    Open ── the forge says: merged ──▶ a Job looks at the branch ──┬──▶ it has it ──▶ Merged
                                            ▲                      └──▶ it has not ──▶ Unknown
                                            └───── after a while ───────────┘

A forge may take somebody's word for it: in Gitea people mark one as merged by hand, and name any
commit of the branch. The Job reads, and pushes nothing. A squash or a rebase makes other commits of
the same change: these count as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic

from bernstein.api.delivery import Delivery, PullRequest
from bernstein.api.pod import LAND
from bernstein.api.programs.merge import LandResult
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.core import names
from bernstein.core.actions import RunSeek
from bernstein.core.delivery.job_result import Unfinished, job_of, result_of
from bernstein.core.delivery.way import Landed, OnItsWay, S, still_at_work, with_delivery
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView, LateRequests
from bernstein.core.reasons.waits import PROBE_SECONDS
from bernstein.core.sanitise import line
from bernstein.core.sanitise import text as sanitise
from bernstein.core.waiting import MESSAGE, goes_on, held, seconds_left, trying

_HEADS = {
    "gitea": "refs/pull/{}/head",
    "github": "refs/pull/{}/head",
    "gitlab": "refs/merge-requests/{}/head",
}
"""Where forges keep what was proposed, whatever becomes of its branch."""


@dataclass(frozen=True)
class Looking(Generic[S]):
    """What was merged, and what is known of it."""

    job: Callable[[str, int], str]
    """As in Landing."""
    number: int
    """The number that the next Job gets."""
    whose: str
    """Plan or Task."""
    project: Workplace
    jobs: Mapping[str, JobView]
    late: LateRequests
    failed: Callable[[S, Delivery, Diagnosis], S]
    """The status in which another Job is asked for after a while."""


def step(
    status: S, delivery: Delivery, pull: PullRequest, looking: Looking[S], now: datetime
) -> OnItsWay[S] | Landed[S]:
    """One look at a pull request that the forge says was merged at a commit that was verified."""
    if delivery.pull_request is None or delivery.pull_request.state != "Merged":
        begins = {"state": "PullRequestOpen", "pull_request": pull, **_next(looking)}
        return OnItsWay(goes_on(with_delivery(status, delivery, failures=None, **begins)))
    seconds = seconds_left(status.waiting, looking.project, now)
    if seconds is not None:
        return OnItsWay(status, (), seconds)
    status = trying(status, looking.project)
    name = looking.job(LAND, delivery.round)
    job = job_of(looking.jobs, name, delivery.abandoned, now)
    if job is None:
        return OnItsWay(status, (look(name, delivery, pull, looking.project),))
    result = result_of(LandResult, job, LAND, delivery.abandoned, looking.late, now)
    if isinstance(result, Unfinished):
        return still_at_work(status, delivery, job, result, now)
    if isinstance(result, Diagnosis):
        return OnItsWay(looking.failed(status, delivery, result))
    if result.state != "Landed":
        return OnItsWay(_missed(status, delivery, pull, looking, now))
    return Landed(goes_on(status), there(delivery, pull, now))


def there(delivery: Delivery, pull: PullRequest, now: datetime) -> Delivery:
    """The delivery of what the branch has, as a Job has seen."""
    update: dict[str, Any] = {"state": "Merged", "landed_at": now, "failures": None}
    update |= {"reason": None, "message": None, "abandoned": None}
    if delivery.reason == Reason.ATTESTATION_REFUSED:
        del update["reason"], update["message"]
    if pull.sha != delivery.sha:  # before what was made anew was there
        gone = dict.fromkeys(("verified_sha", "tree", "attestation"))
        update |= {"sha": pull.sha, "earlier": None, **gone}
    return delivery.model_copy(update=update)


def look(name: str, delivery: Delivery, pull: PullRequest, project: Workplace) -> RunSeek:
    """The Job that looks for it. The Project names a forge."""
    forge = project.spec.repository.forge
    assert forge is not None
    ref = _HEADS[forge.type].format(pull.number)
    return RunSeek(name, ref, pull.sha, delivery.onto or "")


def _missed(
    status: S, delivery: Delivery, pull: PullRequest, looking: Looking[S], now: datetime
) -> S:
    """It may come yet: it is looked for again and again."""
    onto, text = line(names.branch_of(delivery.onto), 200), not_there(delivery, pull)
    reason = Reason.PULL_REQUEST_CHANGED
    told = {"state": "Unknown", "reason": reason, "message": sanitise(text, MESSAGE)}
    status = with_delivery(status, delivery, **told, **_next(looking))
    remedy = f"Merge {pull.sha} into '{onto}' with git, or cancel the {looking.whose}."
    return held(status, reason, text, looking.project, now, PROBE_SECONDS, remedy=remedy)


def not_there(delivery: Delivery, pull: PullRequest) -> str:
    """What is said of one of which the branch has nothing: a sentence without a full stop."""
    onto = line(names.branch_of(delivery.onto), 200)
    return (
        f"the forge says that {pull.url} was merged, but '{onto}' has neither {pull.sha} nor the "
        "same change: somebody has marked it so"
    )


def _next(looking: Looking[S]) -> dict[str, Any]:
    return {"round": looking.number, "abandoned": None}
