"""What the test folder of every signal and gate holds: what is accepted, what refused."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.unit.checks.trees import Tree


@dataclass(frozen=True)
class SignalExample:
    """`accepted` has every field that the type may have; it holds on `holds`, not on `fails`."""

    accepted: Mapping[str, Any]
    refused: tuple[Mapping[str, Any], ...]
    holds: Tree
    fails: Tree


@dataclass(frozen=True)
class GateExample:
    """Trees that the gate passes and fails. Of one that asks a model: what that says of them. Where
    what a model writes is run: an answer with a test of both, and one without any."""

    passes: Tree
    fails: Tree
    good: str = ""
    bad: str = ""


def of_signal(type_: str) -> SignalExample:
    """As plan files write them, in snake_case."""
    found = importlib.import_module(f"tests.unit.checks.signals.{type_}.example").EXAMPLE
    assert isinstance(found, SignalExample)
    return found


def of_gate(name: str) -> GateExample:
    found = importlib.import_module(f"tests.unit.checks.gates.{name}.example").EXAMPLE
    assert isinstance(found, GateExample)
    return found
