"""Somebody else has pushed to the branch of an open pull request: that is verified, if the Project
says so, and the pull request goes on with it.

    PullRequestChanged ── taken ──▶ Preparing ──▶ verified ──▶ Landing, where it is a merge, from
          ▲                ▲                         │         where they have left their branch
          │                └── they push again ──────┤                 │
          └──────── refused, which is told ◀─────────┘                 └──▶ PullRequestOpen

It is put on the branch as it is, and judged as a whole, as what agents have made was. Nothing is
pushed over a commit of theirs: what goes there is that commit, or a merge of it. From then on it is
the work: what is made anew is made of the branch, and no agent goes on from its own. Each push is
taken once, and only a few are: whoever may push could cost any number of rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from bernstein.api.delivery import Delivery, Pushed
from bernstein.api.meta import ConditionType
from bernstein.api.projects.workplace import Workplace
from bernstein.api.reasons import Reason
from bernstein.api.verification import Origin
from bernstein.core import names
from bernstein.core.conditions import drop, find
from bernstein.core.delivery import landing
from bernstein.core.delivery.proposed import watched
from bernstein.core.delivery.way import OnItsWay, S, with_delivery
from bernstein.core.projects import repositories
from bernstein.core.sanitise import count
from bernstein.core.sanitise import text as sanitise
from bernstein.core.waiting import MESSAGE, goes_on, parted, waits

HOLDS = "its branch has commits that no agent has made"
"""Why no agent goes on from what its Task or Plan has made."""
_NOT_OURS: dict[str, Any] = {"step": None, "reason": None, "message": None, "abandoned": None}


def origin(delivery: Delivery | None) -> Origin | None:
    """What a candidate is made of, where that is what people have pushed; None: it is what agents
    have made."""
    pushed = delivery.pushed if delivery is not None else None
    if delivery is None or delivery.branch is None or pushed is None:
        return None
    at = pushed.taken or (delivery.sha if pushed.holds else None)
    return Origin(ref=delivery.branch, sha=at) if at is not None else None


def branch_at(delivery: Delivery | None) -> str | None:
    """Where the branch of the pull request is, as far as is known; None: there was none."""
    if delivery is None:
        return None
    return _taken_of(delivery) or delivery.sha


def holds(delivery: Delivery | None) -> bool:
    """Whether what is proposed, or on its way there, is not what agents have made alone."""
    return origin(delivery) is not None


def step(
    status: S,
    project: Workplace,
    judged: Callable[[S], S],
    why_not: Callable[[], str],
    now: datetime,
) -> OnItsWay[S]:
    """One look at a pull request that is not of the commit that was verified.

    `judged`: as in `outdated.step`. `why_not`: why nothing that people push can be verified, as a
    sentence without a full stop; "": it can.
    """
    delivery, waiting = status.delivery, status.waiting
    if delivery is None or waiting is None or waiting.reason != Reason.PULL_REQUEST_CHANGED:
        return OnItsWay(status)
    sha = _new(delivery, project)
    if sha is None:
        return OnItsWay(status)
    times = _times(delivery)
    if not _is_left(delivery, project):
        most = project.spec.merge.pull_requests.max_updates
        remedy = (
            "Push what was verified to its branch again, or raise merge.pullRequest.maxUpdates of "
            f"the Project, which is {most}."
        )
        more = f"what was pushed there was taken {count(times, 'time')} to be verified"
        return OnItsWay(_tells(status, more, remedy, now))
    if why := why_not():
        return OnItsWay(_tells(status, f"that cannot be verified: {why}", None, now))
    return OnItsWay(_taken(status, delivery, sha, judged))


def _tells(status: S, more: str, remedy: str | None, now: datetime) -> S:
    assert status.waiting is not None
    told, reason = f"{parted(status.waiting.message)[0]}; {more}", status.waiting.reason
    return waits(status, reason, told, now, needs_person=True, remedy=remedy)


def back(status: S, project: Workplace | None, judged: Callable[[S], S], work: str | None) -> S:
    """The status of what is being verified, where its branch has moved again, or people have ended
    the pull request, meanwhile: that is looked at, and nothing is made of a commit of before.

    `work`: what agents have made. What is proposed lacks some of it where one has answered people,
    or has resolved a conflict: that is not given up for a push.
    """
    delivery = status.delivery
    if delivery is None or project is None or not _is_under_way(delivery, work):
        return status
    pull, taken = delivery.pull_request, _taken_of(delivery)
    assert pull is not None
    row = watched.row_of(pull, project)
    if row is None:
        return status
    sha = _new(delivery, project)
    if sha is not None and _is_left(delivery, project):
        return _taken(status, delivery, sha, judged)
    is_there = row.state == "Open" and row.base == names.branch_of(delivery.onto)
    if taken is None:
        return status
    if is_there and row.sha == taken and _is_wanted(delivery, project):
        return status
    return _reopened(status, delivery)


def stopped(status: S, why: str, now: datetime) -> S | None:
    """The status of what cannot go on with what people have pushed, because a check or people say
    no, or it does not merge; None: what is on its way is what agents have made.

    `why`: as a sentence without a full stop.
    """
    delivery = status.delivery
    if delivery is None or not holds(delivery):
        return None
    pushed, pull = delivery.pushed, delivery.pull_request
    assert pushed is not None
    assert pull is not None
    if pushed.taken is None:
        # What is proposed was verified, on the branch as it was before that has moved.
        return _reopened(status, delivery)
    told = sanitise(f"{pull.url} is at {pushed.taken}, which does not pass: {why}", MESSAGE)
    refused = {"taken": None, "refused": pushed.taken, "message": told}
    update = {
        **_NOT_OURS,
        "state": "Unknown",
        "pull_request": pull.model_copy(update={"sha": pushed.taken}),
        "pushed": pushed.model_copy(update=refused),
        "reason": Reason.PULL_REQUEST_CHANGED,
        "message": told,
    }
    status = _lost(with_delivery(status, delivery, **update))
    return waits(status, Reason.PULL_REQUEST_CHANGED, told, now, needs_person=True)


def without_agents(status: S) -> S | None:
    """The status in which what people have pushed is proposed as before, where an agent's work
    would replace it; None: there is no such thing."""
    delivery = status.delivery
    if delivery is None or not holds(delivery):
        return None
    return _reopened(status, delivery)


def without_no(status: S, delivery: Delivery | None) -> S:
    """The status of what is proposed as it was verified, without the no to what was pushed after
    that."""
    if delivery is None or delivery.pushed is None:
        return status
    if delivery.state not in ("PullRequestOpen", "Merged"):
        return status
    known = find(status.conditions, ConditionType.VERIFIED)
    if known is None or known.status != "False":
        return status
    left = drop(status.conditions, ConditionType.VERIFIED)
    return status.model_copy(update={"conditions": left})


def _taken_of(delivery: Delivery) -> str | None:
    return delivery.pushed.taken if delivery.pushed is not None else None


def _is_under_way(delivery: Delivery, work: str | None) -> bool:
    """Something newer is made of what is proposed, or of what people have pushed, and nothing of it
    may have been pushed."""
    if delivery.pull_request is None or delivery.is_proposed:
        return False
    if not holds(delivery) and (work is None or delivery.work != work):
        return False
    pushes = delivery.step in ("Landing", "Proposing", "Closing")
    return not pushes and not delivery.may_have_landed


def _is_wanted(delivery: Delivery, project: Workplace) -> bool:
    pull, repository = delivery.pull_request, project.spec.repository
    if pull is None or repository.forge is None or not repositories.is_in(pull, repository):
        return False
    return project.spec.merge.pull_requests.on_new_commits == "Verify"


def _new(delivery: Delivery, project: Workplace) -> str | None:
    """The commit at its head that nobody has verified, or tried to; None: it is not open, as it was
    proposed, or nobody wants that."""
    pull = delivery.pull_request
    if pull is None or delivery.branch is None or not _is_wanted(delivery, project):
        return None
    row = watched.row_of(pull, project)
    if row is None or row.state != "Open" or row.base != names.branch_of(delivery.onto):
        return None
    pushed = delivery.pushed
    known = [delivery.sha, delivery.earlier]
    known += [pushed.taken, pushed.replaced, pushed.refused] if pushed is not None else []
    return None if row.sha in known else row.sha


def _times(delivery: Delivery) -> int:
    return delivery.pushed.times if delivery.pushed is not None else 0


def _is_left(delivery: Delivery, project: Workplace) -> bool:
    """Whether another push may be taken."""
    return _times(delivery) < project.spec.merge.pull_requests.max_updates


def _taken(status: S, delivery: Delivery, sha: str, judged: Callable[[S], S]) -> S:
    pushed = delivery.pushed or Pushed()
    update = {"times": _times(delivery) + 1, "taken": sha}
    anew = {**_NOT_OURS, "state": "Pending", "failures": None}
    status = with_delivery(status, delivery, **anew, pushed=pushed.model_copy(update=update))
    return landing.on_newer_tip(judged(status))


def _reopened(status: S, delivery: Delivery) -> S:
    """The status in which it is looked at what has become of its pull request."""
    assert delivery.pushed is not None
    pushed = delivery.pushed.model_copy(update={"taken": None})
    update = {**_NOT_OURS, "state": "PullRequestOpen", "pushed": pushed}
    return goes_on(_lost(with_delivery(status, delivery, **update)))


def _lost(status: S) -> S:
    """No verdict on what was pushed says anything of what is proposed."""
    return landing.on_newer_tip(status) if status.verification is not None else status
