"""What may happen to a request on its way, drawn from a seed: the same request meets the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from random import Random
from urllib.parse import parse_qs, urlsplit

WRITES = ("POST", "PATCH", "PUT", "DELETE")
LATEST = 0.5
"""Seconds that an event or a list is late at most."""


@dataclass(frozen=True)
class Asked:
    """One request to the API server."""

    verb: str
    target: str
    """Path and query."""
    body: bytes = b""

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}

    @property
    def is_write(self) -> bool:
        return self.verb in WRITES

    @property
    def is_watch(self) -> bool:
        return self.verb == "GET" and self.query.get("watch") == "true"

    @property
    def is_list(self) -> bool:
        """A list has no name at its end, and is asked for in pages or by a selector."""
        return self.verb == "GET" and bool({"limit", "fieldSelector"} & set(self.query))

    @property
    def objects(self) -> tuple[str, str, str]:
        """Which objects a list or a watch is about."""
        query = self.query
        return self.path, query.get("labelSelector", ""), query.get("fieldSelector", "")

    @property
    def is_work(self) -> bool:
        """A write that is part of the story: neither the Lease nor an Event."""
        return self.is_write and not {"leases", "events"} & set(self.path.split("/"))

    @property
    def may_conflict(self) -> bool:
        """A patch may always meet another one; a create meets one of the namespace's quota. A
        delete conflicts only where its precondition does not hold."""
        return self.verb in ("POST", "PATCH")


class Fault(Enum):
    CONFLICT = "409, nothing written"
    TOO_MANY = "429 with Retry-After, nothing written"
    CUT_BEFORE = "the connection drops before the request is passed on"
    CUT_AFTER = "the connection drops after the request has taken effect"
    FAILED_AFTER = "500 after the write has been applied"
    STALE = "a list that is older than what was shown before"
    EXPIRED = "410 as an event of a watch"
    BROKEN = "a watch ends in the middle of an event, which is dropped with it"
    DOUBLE = "an event that comes twice"
    LATE = "an event that comes late"

    def may_meet(self, asked: Asked) -> bool:
        """Whether a request may meet it; what only events meet, none does."""
        match self:
            case Fault.CONFLICT:
                return asked.may_conflict
            case Fault.FAILED_AFTER:
                return asked.is_write
            case Fault.STALE:
                return asked.is_list and not asked.is_watch
            case Fault.EXPIRED | Fault.BROKEN | Fault.DOUBLE | Fault.LATE:
                return False
            case Fault.CUT_AFTER:
                return not asked.is_watch
        return True


BEFORE = (Fault.CONFLICT, Fault.TOO_MANY, Fault.CUT_BEFORE)
OF_EVENTS = (Fault.EXPIRED, Fault.BROKEN, Fault.DOUBLE)


def never_met(stories: Iterable[Counter[Fault]]) -> set[Fault]:
    """What has happened in none of the stories."""
    met = {fault for story in stories for fault in story if story[fault]}
    return set(Fault) - met


class Faults:
    """The plan of one story.

    A request meets a fault at this `rate`; each path meets at most `most`, so that every story
    comes to its end. What a request meets depends on the seed, its path, and how many there were on
    that path before: not on what else happens at that moment. What is drawn may have nothing to
    act upon, such as a list of which there is no older one: whoever does it says that it happened.
    """

    def __init__(self, seed: str, namespace: str, *, rate: float = 0.15, most: int = 4) -> None:
        self.met: Counter[Fault] = Counter()
        """What has happened, and how often."""
        self._seed = seed
        self._namespace = namespace
        self._rate = rate
        self._most = most
        self._asked: Counter[str] = Counter()
        self._on: Counter[str] = Counter()

    def of(self, asked: Asked) -> Fault | None:
        """What this request meets."""
        what = self._known_as(asked)
        self._asked[what] += 1
        random = Random(f"{self._seed} {what} {self._asked[what]}")
        if self._on[what] >= self._most or random.random() >= self._rate:
            return None
        self._on[what] += 1
        return random.choice([fault for fault in Fault if fault.may_meet(asked)])

    def of_event(self, asked: Asked) -> Fault | None:
        """What becomes of a watch after its next event."""
        what = f"event of {self._known_as(asked)}"
        self._asked[what] += 1
        random = Random(f"{self._seed} {what} {self._asked[what]}")
        if random.random() >= self._rate:
            return None
        fault = random.choice((*OF_EVENTS, Fault.DOUBLE))
        if fault is not Fault.DOUBLE:
            self._on[what] += 1
            if self._on[what] > self._most:
                return None
        return fault

    def delay(self, asked: Asked) -> float:
        """Seconds by which all events of one kind are late."""
        kind = asked.path.rpartition("/")[2]
        return Random(f"{self._seed} {kind} is late").random() * LATEST

    def _known_as(self, asked: Asked) -> str:
        """The same in every world: the namespace is another one each time."""
        return f"{asked.verb} {asked.path.replace(self._namespace, 'N')} {asked.is_watch}"


def status(code: int, reason: str, message: str) -> bytes:
    """A refusal as the API server words it."""
    body = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": reason,
        "message": message,
        "code": code,
    }
    return json.dumps(body).encode()
