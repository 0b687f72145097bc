"""The branch has moved under an open pull request: what it proposes is made anew on that.

    PullRequestOpen ── behind ──▶ Preparing ──▶ verified again ──▶ Landing: pushed to its branch,
          ▲                                                          from where that is
          └───────────────────────────── the same pull request ◀─────┘

So people merge what was verified on the branch as it is, and not a merge that nobody has seen. It
happens a few times, later and later: whoever may push to the branch could cost any number of
rounds. Until the newer one is there the older one stays, as it was verified: people may merge that.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from bernstein.api.delivery import Delivery
from bernstein.api.projects.workplace import Workplace
from bernstein.api.waiting import WaitReason
from bernstein.core import names
from bernstein.core.delivery import landing
from bernstein.core.delivery.proposed import watched
from bernstein.core.delivery.way import Delivering, OnItsWay, S
from bernstein.core.sanitise import count, line
from bernstein.core.waiting import waits

_FIRST_SECONDS, _LONGEST_SECONDS = 60, 3600
"""Between one time and the next, twice as long each time."""


def step(status: S, project: Workplace, judged: Callable[[S], S], now: datetime) -> OnItsWay[S]:
    """One look at a pull request that people are waited for to merge.

    `judged`: the status with what was verified of the work, where it has none of its own.
    """
    delivery, waiting = status.delivery, status.waiting
    if delivery is None or waiting is None or waiting.reason != WaitReason.PULL_REQUEST_OPEN:
        return OnItsWay(status)
    if not _is_behind(delivery, project):
        return OnItsWay(status)
    most, times = project.spec.merge.pull_requests.max_updates, delivery.updates or 0
    if times >= most:
        return _left_to_people(status, delivery, times, most, now)
    left = (delivery.until - now).total_seconds() if delivery.until is not None else 0.0
    if 0 < left <= _LONGEST_SECONDS:
        return OnItsWay(status, (), left)
    seconds = min(_FIRST_SECONDS * 2 ** min(times, 10), _LONGEST_SECONDS)
    update = {
        "state": "Pending",
        "step": None,
        "reason": None,
        "message": None,
        "failures": None,
        "updates": times + 1,
        "until": now + timedelta(seconds=seconds),
    }
    anew = status.model_copy(update={"delivery": delivery.model_copy(update=update)})
    return OnItsWay(landing.on_newer_tip(judged(anew)))


def _is_behind(delivery: Delivery, project: Workplace) -> bool:
    """Whether the forge says so of the commit that was verified."""
    pull = delivery.pull_request
    if pull is None or not delivery.is_proposed:
        return False
    row = watched.row_of(pull, project)
    if row is None or row.state != "Open" or row.sha != delivery.sha:
        return False
    return row.behind is True and row.base == names.branch_of(delivery.onto)


def _left_to_people(
    status: S, delivery: Delivery, times: int, most: int, now: datetime
) -> OnItsWay[S]:
    assert status.waiting is not None
    branch = line(names.branch_of(delivery.onto), 200)
    made = f", and it was made anew {count(times, 'time')}" if times else ""
    text = f"{status.waiting.message}; '{branch}' has moved since it was verified{made}"
    remedy = (
        f"Merge or close it, or raise merge.pullRequest.maxUpdates of the Project, which is {most}."
    )
    reason = status.waiting.reason
    return OnItsWay(waits(status, reason, text, now, needs_person=True, remedy=remedy))


def back(status: S, project: Workplace | None, ends: tuple[str, ...]) -> S:
    """The status of what is made anew, where people have ended its pull request meanwhile: that is
    looked at as if nothing were made. `ends`: the states of one that count."""
    delivery = status.delivery
    if delivery is None or project is None or not _is_made_anew(status):
        return status
    pull = delivery.pull_request
    row = watched.row_of(pull, project) if pull is not None else None
    if row is None or row.state not in ends:
        return status
    update = {"state": "PullRequestOpen", "step": None, "reason": None, "message": None}
    return status.model_copy(update={"delivery": delivery.model_copy(update=update)})


def _is_made_anew(status: Delivering) -> bool:
    """A newer one is made, and nothing of it may have been pushed."""
    delivery = status.delivery
    if delivery is None or delivery.pull_request is None or delivery.is_proposed:
        return False
    pushes = delivery.step in ("Landing", "Proposing", "Closing")
    return not pushes and not delivery.may_have_landed
