"""Scenarios: what the endpoint answers, turn by turn."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

FOREVER = -1


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens the answer claims; as in the API, `input` includes `cache_read`."""

    input: int = 100
    output: int = 10
    cache_read: int = 0
    reasoning: int = 0


@dataclass(frozen=True, slots=True)
class Failure:
    """An answer in place of the turn: an HTTP error, or (status 0) a dropped connection."""

    status: int = 0
    times: int = 1
    """-1: for ever."""
    message: str = ""
    code: str | None = None
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class Write:
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Run:
    command: str


Action = Write | Run


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model: text, tool calls, and how the answer itself misbehaves."""

    text: str = ""
    actions: tuple[Action, ...] = ()
    usage: Usage = field(default_factory=Usage)
    loop: int = 1
    """Times this turn is played before the next; -1: for ever."""
    delay: float = 0
    """Seconds before the answer starts."""
    hang: bool = False
    """Start the stream, then nothing until reset."""
    disconnect: bool = False
    """Start the stream, then drop the connection."""
    drip: float = 0
    """Without a stream: seconds between two bytes of the answer."""
    endless: bool = False
    """Without a stream: an answer that does not end before reset."""
    cut: bool = False
    """Without a stream: the answer says that it reached the limit of its tokens."""
    stream_error: Failure | None = None
    """Start the stream, then an error event in it."""
    errors: tuple[Failure, ...] = ()
    """Answers that come first, one per request."""


DONE = Turn(text="done")


@dataclass(frozen=True, slots=True)
class Scenario:
    name: str
    turns: tuple[Turn, ...]
    match: str = ""
    """Part of a user message that chooses this scenario; empty: chosen when no other is."""
    told: str = ""
    """Part of the whole request, such as of the system text, that it needs besides."""

    def turn(self, number: int) -> Turn:
        """The turn that is due after `number` assistant turns; `done` after the last."""
        for turn in self.turns:
            if turn.loop == FOREVER or number < turn.loop:
                return turn
            number -= turn.loop
        return DONE


@dataclass(frozen=True, slots=True)
class Script:
    """All scenarios of an endpoint."""

    scenarios: tuple[Scenario, ...] = ()
    require_key: str | None = None
    """Any other bearer key gets 401."""

    def choose(self, messages: Sequence[str], whole: str = "") -> tuple[Scenario, int]:
        """The scenario of the last user message that matches one, and that message's index.

        `whole`: the request as JSON.
        """
        for index in range(len(messages) - 1, -1, -1):
            for scenario in self.scenarios:
                matches = scenario.match and scenario.match in messages[index]
                if matches and scenario.told in whole:
                    return scenario, index
        fallback = next((s for s in self.scenarios if not s.match), Scenario("none", (DONE,)))
        return fallback, 0


def parse(text: str | bytes) -> Script:
    """A script from YAML or JSON; raises ValueError for an unknown key or a wrong shape."""
    data = yaml.safe_load(text)
    if not isinstance(data, dict):
        raise ValueError("a script is a mapping with the key 'scenarios'")  # noqa: TRY004
    _known(data, {"scenarios", "require_key"}, "script")
    scenarios = tuple(_scenario(item) for item in data.get("scenarios") or ())
    return Script(scenarios, data.get("require_key"))


def _scenario(data: dict[str, Any]) -> Scenario:
    _known(data, {"name", "match", "told", "turns"}, "scenario")
    return Scenario(
        name=data["name"],
        match=data.get("match", ""),
        told=data.get("told", ""),
        turns=tuple(_turn(item, data["name"]) for item in data.get("turns") or ()),
    )


def _turn(data: dict[str, Any], scenario: str) -> Turn:
    plain = {"text", "loop", "delay", "hang", "disconnect", "drip", "endless", "cut"}
    _known(data, plain | {"write", "run", "calls", "usage", "stream_error", "errors"}, scenario)
    calls = [*data.get("calls", ()), *({k: data[k]} for k in ("write", "run") if k in data)]
    return Turn(
        actions=tuple(_action(call, scenario) for call in calls),
        usage=Usage(**data.get("usage", {})),
        stream_error=Failure(**data["stream_error"]) if "stream_error" in data else None,
        errors=tuple(Failure(**item) for item in data.get("errors", ())),
        **{key: data[key] for key in plain if key in data},
    )


def _action(data: dict[str, Any], scenario: str) -> Action:
    match data:
        case {"write": {"path": str(path), "content": str(content)}}:
            return Write(path, content)
        case {"run": str(command)}:
            return Run(command)
    raise ValueError(f"{scenario}: not an action: {json.dumps(data)}")


def _known(data: dict[str, Any], keys: set[str], where: str) -> None:
    if unknown := sorted(set(data) - keys):
        raise ValueError(f"{where}: unknown keys {', '.join(unknown)}")
