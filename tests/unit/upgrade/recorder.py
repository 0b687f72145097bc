"""Records every decision that today's code makes while it listens, each kind of decision once."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from unittest.mock import patch

from pydantic import ValidationError

from bernstein.core.plans import decide as plans
from bernstein.core.sessions import decide as sessions
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks import decide as tasks
from tests.unit.core.objects import NOW
from tests.unit.upgrade import made, moments
from tests.unit.upgrade.cluster import Cluster
from tests.unit.upgrade.decisions import Decided, Object, decide, decided, given, subject
from tests.unit.upgrade.recordings import Recording

Decide = Callable[[Any, datetime], Any]
Launched = Callable[[TaskSnapshot], list[Object]]
_NAMES = re.compile(r"'[^']*'|[^ ]*[-/.0-9][^ ]*")
"""In a message: what tells two objects apart, not two reasons."""


class Recorder:
    def __init__(self) -> None:
        self.stories: dict[str, list[Recording]] = defaultdict(list)
        self.moments: list[Object] = []
        self.heard = 0
        self._strict = True
        self._deaf = False
        self._seen: set[str] = set()
        self._shown: set[str] = set()

    @contextmanager
    def listening(self, story: str, *, strict: bool = True) -> Iterator[None]:
        """Hears every decision. Where it is not `strict`, there may be some on objects that no API
        server would take; those are passed over.
        """
        self._strict = strict
        with (
            patch.object(tasks, "decide", self._hearing(tasks.decide, story)),
            patch.object(plans, "decide", self._hearing(plans.decide, story)),
            patch.object(sessions, "decide", self._hearing(sessions.decide, story)),
            patch.object(made, "launched", self._launching(made.launched, story)),
            patch.object(Cluster, "at_rest", lambda world: self._rests(world, story)),
        ):
            yield

    def _rests(self, world: Cluster, story: str) -> None:
        if self._deaf:
            return
        new = [self._is_new(["moment", kind]) for kind in moments.kinds(world)]
        if not any(new):
            return
        self._deaf = True
        told = moments.as_json(world)
        try:
            told |= {"story": story, "end": moments.end(world.healed())}
            self.moments.append(told)
        except AssertionError:
            pass  # it never comes to an end, or somebody must act first
        finally:
            self._deaf = False

    def _hearing(self, real: Decide, story: str) -> Decide:
        def hears(snapshot: Any, now: datetime) -> Any:
            decision = real(snapshot, now)
            if not self._deaf:
                self._hear(story, decided(snapshot, decision), now)
            return decision

        return hears

    def _launching(self, real: Launched, story: str) -> Launched:
        def launches(snapshot: TaskSnapshot) -> list[Object]:
            objects = real(snapshot)
            assert snapshot.session is not None
            spec, work = snapshot.session.spec.dump(), _work(snapshot.task.spec.dump())
            about = [spec["adapter"], "planRef" in spec, "resumeRef" in spec, spec["attempt"], work]
            if self._is_new(["launch", *about]):
                on = given(snapshot) | {"kind": "Launch"}
                self._add(story, snapshot.task.metadata.creation_timestamp, on, {}, objects)
            return objects

        return launches

    def _hear(self, story: str, decision: Decided, now: datetime) -> None:
        self.heard += 1
        says = decision.as_json()
        if not self._is_new(facts(decision, says)):
            return
        on = json.loads(_text(given(decision.snapshot)))
        try:
            objects = [
                obj for asked in decision.actions for obj in made.objects(decision.snapshot, asked)
            ]
            leads_elsewhere = decide(on, now).as_json() != says
        except ValidationError:
            leads_elsewhere = True
        if not leads_elsewhere:
            self._add(story, now, on, says, objects)
        elif self._strict:
            raise AssertionError(f"{story}: the same objects, read again, lead elsewhere")

    def _is_new(self, about: Any) -> bool:
        text = _text(about)
        if text in self._seen:
            return False
        self._seen.add(text)
        return True

    def _add(
        self, story: str, now: datetime | None, on: Object, says: Object, objects: list[Object]
    ) -> None:
        known = self.stories[story]
        shown = [self._shown_once(obj) for obj in objects]
        known.append(Recording(story, len(known) + 1, now or NOW, on, says, shown))

    def _shown_once(self, obj: Object) -> Object:
        """The whole object where it is the first of its kind, else what it is found by."""
        kind = made.kind(obj)
        if kind in self._shown:
            return made.identity(obj)
        self._shown.add(kind)
        return obj


def facts(decision: Decided, says: Object) -> Object:
    """What makes a decision one of its kind: reasons, steps and verdicts, no names or times."""
    before, after = subject(decision.snapshot), decision.status.dump()
    spec, meta = before.spec.dump(), before.metadata
    wants = {key: bool(spec.get(key)) for key in ("cancel", "suspend", "stop")}
    return {
        "kind": type(before).__name__,
        "wants": wants | {"deleted": meta.deletion_timestamp is not None},
        "before": [_state(before.status.dump())[key] for key in ("state", "step")],
        "after": _state(after),
        "conditions": _conditions(after),
        "settles": "settled" in says["writes"],
        "actions": [_action(each) for each in says["actions"]],
        "work": _work(spec) if "create session" in str(says["actions"]) else None,
        "again": says["again"] is not None,
    }


def _work(spec: Object) -> Object:
    """What a Task's session, its time and its prompt depend on."""
    fields = ("complexity", "completionSignals", "constraints", "contextFiles", "effort")
    more = ("estimatedMinutes", "model", "role", "scope", "stageDescription")
    return {field: spec.get(field) for field in (*fields, *more)}


def _state(status: Object) -> Object:
    verification, delivery = status.get("verification") or {}, status.get("delivery") or {}
    return {
        "state": status.get("state") or status.get("phase"),
        "passed": verification.get("passed"),
        "verdicts": sorted({c["verdict"] + c["reason"] for c in verification.get("checks", ())}),
        "once more": verification.get("outOfMemory"),
        "failures": [status.get("gateErrors"), status.get("infrastructureFailures")],
        "candidate": verification.get("candidate"),
        "step": delivery.get("step"),
        "delivery": [delivery.get("state"), delivery.get("reason")],
        "outcome": (status.get("outcome") or {}).get("reason"),
        "waiting": [(status.get("waiting") or {}).get(key) for key in ("reason", "tried")],
        **{key: status.get(key) is not None for key in ("checkpoint", "integration", "settled")},
    }


def _conditions(status: Object) -> list[str]:
    return [
        f"{c['type']}={c['status']}: {c['reason']}: {_NAMES.sub('', c['message'])}"
        for c in status.get("conditions", ())
    ]


def _action(said: Object) -> list[Any]:
    return [said["action"], said.get("check", {}).get("name"), said.get("reason")]


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
