"""Signals and gates that execute a command, run as their Jobs run them: on a tree, by `sh -c`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic.alias_generators import to_camel

from bernstein.api.signals import Signal
from bernstein.checks import gates, signals
from bernstein.checks.gate import Command
from bernstein.checks.signal import SignalCommand
from tests.unit.checks import examples
from tests.unit.checks.trees import Tree

TOOLS = f"{Path(sys.executable).parent}:{os.environ['PATH']}"


def run(command: str, tree: Tree, folder: Path) -> int:
    for path in tree.paths:
        if tree.kind(path) == "file":
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(tree.content(path))
    env = {"PATH": TOOLS, "HOME": str(folder), "CI": "true"}
    return subprocess.run(
        ["sh", "-c", command], cwd=folder, env=env, check=False, capture_output=True
    ).returncode


def commands() -> dict[str, tuple[str, Tree, Tree]]:
    """By name: the command, a tree that it passes and one that it fails."""
    found = {}
    for gate in gates.GATES:
        if isinstance(gate.runs, Command):
            tree = examples.of_gate(gate.name)
            found[gate.name] = (gate.runs.command, tree.passes, tree.fails)
    for kind in signals.SIGNALS:
        if isinstance(kind.runs, SignalCommand):
            example = examples.of_signal(kind.type)
            fields = {to_camel(key): value for key, value in example.accepted.items()}
            command = kind.runs.command(Signal.model_validate(fields))
            assert command is not None
            found[kind.type] = (command, example.holds, example.fails)
    return found


COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_it_passes_and_fails(name: str, tmp_path: Path) -> None:
    command, good, bad = COMMANDS[name]
    folders = [tmp_path / "good", tmp_path / "bad"]
    for folder in folders:
        folder.mkdir()

    assert run(command, good, folders[0]) == 0
    assert run(command, bad, folders[1]) not in (0, 126, 127, 128)
