"""Coding-agent CLIs: how each is started and how its output is read."""

from __future__ import annotations

from bernstein.agents.adapter import (
    Adapter,
    Invocation,
    RunSettings,
    StreamParser,
    TakesBaseUrl,
    TakesCommand,
    TellsTokens,
)
from bernstein.agents.codex import Codex
from bernstein.agents.demo import Demo
from bernstein.agents.generic import Generic
from bernstein.api.pod import NO_CHANGE

__all__ = [
    "ADAPTERS",
    "NO_CHANGE",
    "Adapter",
    "Invocation",
    "RunSettings",
    "StreamParser",
    "TakesBaseUrl",
    "TakesCommand",
    "TellsTokens",
    "get",
    "names",
    "tells_tokens",
]

ADAPTERS: tuple[Adapter, ...] = (Codex(), Generic(), Demo())


def names() -> tuple[str, ...]:
    """Names of all adapters, in the order in which messages and schemas list them."""
    return tuple(adapter.name for adapter in ADAPTERS)


def get(name: str) -> Adapter:
    """The adapter of that name. Raises KeyError if this version has none."""
    adapter = next((adapter for adapter in ADAPTERS if adapter.name == name), None)
    if adapter is None:
        raise KeyError(name)
    return adapter


def tells_tokens(name: str) -> bool:
    """Whether the adapter of that name can tell what a run costs; False where there is none."""
    return any(each.name == name and isinstance(each, TellsTokens) for each in ADAPTERS)
