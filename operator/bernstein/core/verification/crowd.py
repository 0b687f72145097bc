"""Many whose Jobs wait for the same thing, such as an image: one of them tries it for all.

its pod does not begin ─▶ it tries again within seconds, the others rarely
its pod begins ─────────▶ what they wait for is there: the others try, a few after another
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TypeVar

from bernstein.api.pod import BEGIN, FORMATTER, LAND, LISTERS, PREPARE
from bernstein.api.programs.setup import SETUPS
from bernstein.api.reasons import Reason
from bernstein.core import labels, pods
from bernstein.core.pods import Object
from bernstein.core.reasons import policy
from bernstein.core.reasons.row import Retry

Name = TypeVar("Name", bound=tuple[str, str])
"""Of one of them, with its namespace."""
FOLLOW_EACH = 32
"""So many follow each pod that has begun, in two waves more than 1,000. It shows room for one, and
what it shows may be there for it alone: a quota that is always full, or a mistake, would else let
all try whenever a pod begins."""
FOLLOW_PER_SECOND = 256
"""So many follow one pod in a second, that they do not all come at once."""
MOVERS = (BEGIN, PREPARE, LAND)
"""The Jobs that move refs, by their main containers."""
ROOM, IMAGE, START = "room", "image", "start"
"""What pods show: that one may be made, that images are there, and that it may start what it is
for. Besides, for Jobs that move refs, each Secret."""
_OF_THE_PROJECT = (*SETUPS, *LISTERS, FORMATTER)
"""Beside main containers those with an image of the Project's."""
_OF_ROOM = (Reason.POD_REJECTED,)
_OF_IMAGES = (*_OF_ROOM, Reason.IMAGE_PULL_FAILED, Reason.IMAGE_UNUSABLE)


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


def sought(reasons: Collection[str], secrets: Collection[str] = ()) -> Collection[str]:
    """What pods have to show to who waits for these reasons.

    `secrets`: names of those that a Job which moves refs waits for. They have one image, but not
    the same accounts.
    """
    if all(reason in _OF_ROOM for reason in reasons):
        return (ROOM,)
    if all(reason in _OF_IMAGES for reason in reasons):
        return (IMAGE,)
    return [*map(_secret, secrets)] or (START,)


def shows(pod: Object) -> Mapping[str, datetime]:
    """What the pod of a check, or of a Job that moves refs, shows to others of the same kind, and
    since when, by its node's time.

    A pod that is there had room. The image of the checkout is another one, and what a webhook puts
    beside our containers has its own. Variables, which one may take from a Secret, may be those of
    the main container alone: when it starts, all before it have.
    """
    main = pod["metadata"]["labels"].get(labels.JOB)
    started = {each.get("name"): pods.first_start(each) for each in pods.containers(pod)}
    begun = started.get(main)
    found = {
        ROOM: _first(started.values()),
        IMAGE: _first(map(started.get, (main, *_OF_THE_PROJECT))),
        START: begun,
    }
    if main in MOVERS:
        found |= dict.fromkeys(map(_secret, _mounted(pod)), begun)
    return {what: since for what, since in found.items() if since is not None}


def _first(times: Iterable[datetime | None]) -> datetime | None:
    return min(filter(None, times), default=None)


def _mounted(pod: Object) -> Collection[str]:
    """Names of the Secrets without which none of its containers starts."""
    volumes = pod.get("spec", {}).get("volumes", ())
    sources = (volume.get("secret") or {} for volume in volumes)
    return {s["secretName"] for s in sources if "secretName" in s and not s.get("optional")}


def _secret(name: str) -> str:
    return f"secret {name}"


def follows(place: int, failed: datetime, begun: Sequence[datetime]) -> datetime | None:
    """When the one that has failed at that time tries as if it were alone; None: it is not shown
    that it would get on.

    `place`: how many come before it that wait for the same to be shown. `begun`: when pods showed
    it, the earliest first.
    """
    decisive = _decisive(place, failed, begun)
    if decisive >= len(begun):
        return None
    return begun[decisive] + timedelta(seconds=place % FOLLOW_EACH / FOLLOW_PER_SECOND)


def told(new: datetime, failed: Sequence[datetime], begun: Sequence[datetime]) -> slice:
    """Between which places those are that may have to be told of the pod that began to show it at
    `new`, which `begun` has, too. `failed`: when they failed, the earliest first.

    Thousands may wait, and as many pods begin one after another: of those that have failed before
    the first of these it is FOLLOW_EACH for each pod.
    """
    number = bisect_right(failed, new)
    if not number:
        return slice(0)
    least, most = (len(begun) - bisect_left(begun, failed[n]) for n in (number - 1, 0))
    return slice(max(least - 1, 0) * FOLLOW_EACH, most * FOLLOW_EACH)


def is_told_by(new: datetime, place: int, failed: datetime, begun: Sequence[datetime]) -> bool:
    """Whether it has to be told of the pod that began to show it at `new`: whom other pods let try
    knows it already."""
    return failed <= new and _decisive(place, failed, begun) + 1 == len(begun)


def _decisive(place: int, failed: datetime, begun: Sequence[datetime]) -> int:
    """Which of the pods that have begun lets it try; there may be too few yet."""
    return bisect_left(begun, failed) + place // FOLLOW_EACH
