"""Signals and gates that execute a command, run as their Jobs run them: on a tree, by `sh -c`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from pydantic.alias_generators import to_camel

from bernstein.api.signals import Signal
from bernstein.checks import gates, signals
from bernstein.checks.gate import Command
from bernstein.checks.signal import SignalCommand
from bernstein.places import LAUNCHER
from tests.programs.gate_runs import verdict
from tests.programs.pods.test_launcher import launcher
from tests.unit.checks import examples
from tests.unit.checks.trees import Tree

pytestmark = pytest.mark.verification

__all__ = ("launcher",)


def commands() -> dict[str, tuple[Command, Tree, Tree]]:
    """By name: the command, a tree that it passes and one that it fails."""
    found = {}
    for gate in gates.GATES:
        if isinstance(gate.runs, Command):
            tree = examples.of_gate(gate.name)
            found[gate.name] = (gate.runs, tree.passes, tree.fails)
    for kind in signals.SIGNALS:
        if isinstance(kind.runs, SignalCommand):
            example = examples.of_signal(kind.type)
            fields = {to_camel(key): value for key, value in example.accepted.items()}
            command = kind.runs.command(Signal.model_validate(fields))
            assert command is not None
            found[kind.type] = (Command(command), example.holds, example.fails)
    return found


COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_it_passes_and_fails(name: str, launcher: Path, tmp_path: Path) -> None:
    command, good, bad = COMMANDS[name]
    # A pod has the launcher at its own place.
    here = command.command.replace(LAUNCHER, str(launcher))
    command = dataclasses.replace(command, command=here)

    passed = verdict(command, good, tmp_path / "good")
    failed = verdict(command, bad, tmp_path / "bad")

    assert (passed.verdict, failed.verdict) == ("Passed", "Failed"), (passed, failed)
