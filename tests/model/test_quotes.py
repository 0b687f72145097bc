"""What agents, checks and git servers say is in statuses, which only those read who may read the
Task: it is in no Event and in no line of the operator's log, which others read and keep."""

from __future__ import annotations

import contextlib
import copy
import json
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import replace
from typing import Any

import pytest
import structlog

from bernstein.kube.events import EventRecorder
from bernstein.kube.resource import Object
from tests.model import world
from tests.model.client import ModelClient
from tests.model.cluster.programs import End, Programs, Run
from tests.model.cluster.store import Store
from tests.model.scenario import generate

MARK = "AKIAQUOTEDBYATEST0"
TEXTS = ("message", "excerpt", "text", "progress", "model")
"""Fields of what pods leave and report that hold words of theirs."""


class Heard:
    """What the operator says in a run in which every text of a pod has the mark in it."""

    def __init__(self, patched: pytest.MonkeyPatch) -> None:
        self.events: list[str] = []
        self.log: list[str] = []
        self.statuses: list[str] = []
        self._patched = patched
        self._speak()
        self._listen()

    def _speak(self) -> None:
        """The mark is in everything that comes out of pods."""
        play, merge = Programs.play, Store.merge

        async def marked_end(programs: Programs, run: Run) -> End:
            end = await play(programs, run)
            return replace(end, containers=tuple(_marked(c) for c in end.containers))

        def marked_report(store: Store, *arguments: Any) -> Object:
            resource, key, body, *more = arguments
            if "report" in body.get("status", {}):
                report = {**body["status"]["report"], "progress": MARK}
                body = {"status": {"report": report}}
            made = merge(store, resource, key, body, *more)
            self.statuses.append(json.dumps(made.get("status", {})))
            return made

        async def marked_log(*_: object, **__: object) -> bytes:
            return MARK.encode()

        self._patched.setattr(Programs, "play", marked_end)
        self._patched.setattr(Store, "merge", marked_report)
        self._patched.setattr(ModelClient, "logs", marked_log)

    def _listen(self) -> None:
        record = EventRecorder.record

        def hear_event(recorder: EventRecorder, obj: Object, **event: Any) -> None:
            self.events.append(json.dumps(event))
            record(recorder, obj, **event)

        def hear_line(_: Any, __: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
            error = event.get("exc_info")
            told = traceback.format_exception(error) if isinstance(error, Exception) else ()
            self.log.append(f"{dict(event)!r} {''.join(told)}")
            raise structlog.DropEvent

        @contextlib.contextmanager
        def listening(_: object) -> Iterator[None]:
            before = structlog.get_config()
            structlog.configure(processors=[hear_line], cache_logger_on_first_use=False)
            yield
            structlog.configure(**before)

        self._patched.setattr(EventRecorder, "record", hear_event)
        self._patched.setattr(world, "_listening", listening)


def _marked(container: Object) -> Object:
    """A container's state whose termination message has the mark in each of its texts."""
    state = copy.deepcopy(container)
    over = state["state"].get("terminated")
    if over is None:
        return state
    try:
        over["message"] = json.dumps(_in_texts(json.loads(over["message"])))
    except ValueError:
        over["message"] += MARK
    return state


def _in_texts(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: f"{text} {MARK}" if key in TEXTS and isinstance(text, str) else _in_texts(text)
            for key, text in value.items()
        }
    return [_in_texts(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("seed", range(1, 5))
def test_words_of_pods_are_in_statuses_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    heard = Heard(monkeypatch)

    world.play(generate(seed, "rough"))

    assert any(MARK in status for status in heard.statuses), "it is said, and heard"
    assert heard.events
    assert heard.log
    assert [event for event in heard.events if MARK in event] == []
    assert [line for line in heard.log if MARK in line] == []
