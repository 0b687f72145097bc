"""Coding-agent CLIs: how each is started and how its output is read."""

from __future__ import annotations

from bernstein.agents.adapter import Adapter, Invocation, Run, StreamParser
from bernstein.agents.codex import Codex
from bernstein.agents.demo import Demo
from bernstein.agents.generic import Generic
from bernstein.api.pod import NO_CHANGE

__all__ = ["NO_CHANGE", "Adapter", "Invocation", "Run", "StreamParser", "adapters", "get"]

adapters: dict[str, Adapter] = {a.name: a for a in (Codex(), Generic(), Demo())}


def get(name: str) -> Adapter:
    """The adapter of that name; KeyError if there is none."""
    return adapters[name]
