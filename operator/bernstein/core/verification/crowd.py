"""Many whose Jobs wait for the same thing, such as an image: one of them tries it for all.

its pod does not begin ─▶ it tries again within seconds, the others rarely
its pod begins ─────────▶ what they wait for is there: the others try, a few after another
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from bernstein.api.pod import BEGIN, CHECKOUT, LAND, PREPARE
from bernstein.api.reasons import Reason
from bernstein.core import labels, pods
from bernstein.core.pods import Object
from bernstein.core.reasons import Retry, policy

Name = TypeVar("Name", bound=tuple[str, str])
"""Of one of them, with its namespace."""
FOLLOW_PER_SECOND = 256
"""So many follow the one whose pod has begun, that they do not all come at once: 1,000 within 4 s,
which with the first one's rest of 8 s and some seconds for its pod are 15."""
MOVERS = (BEGIN, PREPARE, LAND)
"""The Jobs that move refs, by their main containers."""
FOLLOW_INTO_ROOM = 16
"""So many follow each pod that has begun where room was lacking: it shows room for one, and a quota
that is always full would else let all try whenever one ends."""


def is_lacking(verdict: str, reason: str) -> bool:
    """Whether a check with this verdict waits for what a new pod alone shows to be there."""
    return verdict == "Errored" and policy(reason).retry is Retry.SOON


def who_tries(crowd: Collection[Name]) -> Name | None:
    """Of those that wait for the same, the one that tries it for all."""
    return min(crowd, default=None)


def ahead(own: Name, crowds: Iterable[Collection[Name]]) -> int:
    """How many wait for the same as this one, where another one tries it for all; 0: this one does.

    `crowds`: of each thing that its checks wait for; who tries one of them has to try all.
    """
    known = tuple(crowds)
    tries = any(who_tries(crowd) in (own, None) for crowd in known)
    return 0 if tries else max(map(len, known), default=0)


def looks_soon(until: object, until_alone: object, *, needs_person: bool) -> bool:
    """Whether one whose waiting says so tries it within seconds, should it be its turn.

    Who waits for something else first, such as a person, tries it for nobody. The two times only
    have to be there or not.
    """
    if until_alone is not None:
        return True
    return until is None and not needs_person


def shown(pod: Object, reasons: Collection[str]) -> datetime | None:
    """Since when the pod of a check shows that none of these keeps others of that check from
    starting, by its node's time; None: it does not.

    A pod that is there had room. An image is pulled, and variables are taken from Secrets, when the
    container starts that has them: the checkout comes first, with none but ours.
    """
    any_will_do = all(reason == Reason.POD_REJECTED for reason in reasons)
    telling = (c for c in pods.containers(pod) if any_will_do or c.get("name") != CHECKOUT)
    started = (pods.first_start(each) for each in telling)
    return min((time for time in started if time is not None), default=None)


def shown_by_mover(
    pod: Object, reasons: Collection[str], secrets: Collection[str]
) -> datetime | None:
    """The same of the pod of a Job that moves refs, to another such Job.

    They have one image, but not the same accounts: `secrets` are those that are waited for. What a
    webhook puts before the main container shows room at most.
    """
    if not _mounted(pod) >= {*secrets}:
        return None
    main = pod["metadata"]["labels"][labels.JOB]
    telling = (c for c in pods.containers(pod) if lacks_room(reasons) or c.get("name") == main)
    started = (pods.first_start(each) for each in telling)
    return min((time for time in started if time is not None), default=None)


def _mounted(pod: Object) -> set[str]:
    """Names of the Secrets without which none of its containers starts."""
    volumes = pod.get("spec", {}).get("volumes", ())
    sources = (volume.get("secret") or {} for volume in volumes)
    return {s["secretName"] for s in sources if "secretName" in s and not s.get("optional")}


def follows(
    place: int, failed: datetime, begun: Sequence[datetime], reasons: Collection[str]
) -> datetime | None:
    """When the one that has failed at that time tries as if it were alone; None: it is not shown
    that it would get on.

    `place`: how many of the crowd come before it. `begun`: when pods showed it, the earliest first.
    """
    decisive = _decisive(place, failed, begun, reasons)
    if decisive is None:
        return None
    turn = place % FOLLOW_INTO_ROOM if lacks_room(reasons) else place
    return begun[decisive] + timedelta(seconds=turn / FOLLOW_PER_SECOND)


def is_told_by(
    new: datetime,
    place: int,
    failed: datetime,
    begun: Sequence[datetime],
    reasons: Collection[str],
) -> bool:
    """Whether it has to be told of the pod that began to show it at `new`, which `begun` has, too:
    whom other pods let try knows it already."""
    decisive = _decisive(place, failed, begun, reasons)
    if decisive is None or new < failed:
        return False
    return begun[decisive] == new or len(begun) == decisive + 1


def lacks_room(reasons: Collection[str]) -> bool:
    """Whether it waits for room in a quota, or for the like: what is there for one may not be there
    for all."""
    return Reason.POD_REJECTED in reasons


def _decisive(
    place: int, failed: datetime, begun: Sequence[datetime], reasons: Collection[str]
) -> int | None:
    """Which of the pods that have begun lets it try; None: there are too few yet."""
    first = bisect_left(begun, failed)
    number = first + (place // FOLLOW_INTO_ROOM if lacks_room(reasons) else 0)
    return number if number < len(begun) else None
