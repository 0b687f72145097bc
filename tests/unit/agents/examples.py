"""What the test folder of every adapter holds: output of runs that succeed and that fail."""

from __future__ import annotations

import importlib
from dataclasses import dataclass


@dataclass(frozen=True)
class Output:
    stdout: bytes
    exit_code: int
    stderr: bytes = b""


@dataclass(frozen=True)
class AdapterExample:
    succeeds: Output
    fails: Output


def of_adapter(name: str) -> AdapterExample:
    found = importlib.import_module(f"tests.unit.agents.{name}.example").EXAMPLE
    assert isinstance(found, AdapterExample)
    return found
