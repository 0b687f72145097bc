"""What there is for every signal and gate: what is accepted, what refused.

Of a gate they are plain repositories in `tests/gates/<name>`: `base` is what the branch holds, and
`accept` and `reject` are what a change writes over it. `meanwhile` is what the branch gets while
that change is made. Of one that asks a model, `accept.txt` and `reject.txt` are what that answers.
`verdict` is why `reject` is rejected: the reason of that, and below it words that stand beside it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.unit.checks.trees import Tree
from tests.unit.rooms import ROOT

GATES = ROOT / "tests/gates"


@dataclass(frozen=True)
class SignalExample:
    """`accepted` has every field that the type may have; it holds on `holds`, not on `fails`."""

    accepted: Mapping[str, Any]
    refused: tuple[Mapping[str, Any], ...]
    holds: Tree
    fails: Tree


@dataclass(frozen=True)
class GateExample:
    """Changes that the gate accepts and rejects. Of one that asks a model: what that says of them.
    Where what a model writes is run: an answer with a test of both, and one without any."""

    accept: Tree
    reject: Tree
    yes: str
    no: str
    meanwhile: Mapping[str, str]
    reason: str
    """Why it rejects that change: no neighbour of it, and no tool that breaks, has the same."""
    told: str
    """What is said of it beside that."""


def of_signal(type_: str) -> SignalExample:
    """As plan files write them, in snake_case."""
    found = importlib.import_module(f"tests.unit.checks.signals.{type_}.example").EXAMPLE
    assert isinstance(found, SignalExample)
    return found


def of_gate(name: str) -> GateExample:
    """Raises FileNotFoundError where one of the two changes is missing, or why one is rejected."""
    folder = GATES / name
    base, meanwhile = files(folder / "base"), files(folder / "meanwhile")

    def change(which: str) -> Tree:
        written = files(folder / which)
        if not written:
            raise FileNotFoundError(folder / which)
        conflicts = sorted(written.keys() & meanwhile.keys())
        return Tree(base | written, base, in_conflict=tuple(conflicts))

    def said(which: str) -> str:
        answer = folder / f"{which}.txt"
        return answer.read_text() if answer.exists() else ""

    reason, told = (folder / "verdict").read_text().splitlines()
    return GateExample(
        change("accept"),
        change("reject"),
        said("accept"),
        said("reject"),
        meanwhile,
        reason,
        told,
    )


def files(folder: Path) -> dict[str, str]:
    """Texts by path; empty where there is no such folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_text()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
