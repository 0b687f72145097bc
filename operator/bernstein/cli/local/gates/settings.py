"""The keys of single gates: whether each is on, its command, and what its block says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from bernstein.checks import gates
from bernstein.cli.local.gates.models import Models
from bernstein.cli.local.gates.notes import BLOCK, Notes
from bernstein.core.plans.field_errors import field_name

BUILT_IN: Final = gates.names()
FLAGS: Final[Mapping[str, str]] = {
    key: name for name in BUILT_IN for key in (name, f"{name}_check")
}
"""By the key that switches a gate on: its name, which pipelines know."""
COMMANDS: Final[Mapping[str, str]] = {
    **{f"{key}_command": name for key, name in FLAGS.items()},
    "test_command": "tests",
    "mutation_command": "mutation_testing",
}
_OF_BLOCKS = ("enabled", "command", "timeout_s", "model", "provider", "block_on_no", "required")
_THE_SAME: Final[Mapping[str, frozenset[str]]] = {
    "lint": frozenset({"ruff check", "ruff check ."}),
    "type_check": frozenset({"pyright", "pyright ."}),
    "tests": frozenset({"pytest", "pytest -q", "python -m pytest", "python3 -m pytest"}),
}
"""Commands that the built-in gate runs, too, in a way that tells what was there before."""
_NO_COMMAND = "it executes nothing here and takes no command"


@dataclass
class Settings:
    """What the file says of one gate."""

    on: bool | None = None
    """None: nothing."""
    path: str = ""
    """Where it is switched on or off."""
    fields: dict[str, Any] = field(default_factory=dict)
    """Those of its entry in a Project's pipeline, beside `name`."""
    model: tuple[str, str | None] | None = None
    """Which model it asks, and by whose API."""


class Single:
    """Reads the keys of single gates."""

    def __init__(self, notes: Notes, models: Models) -> None:
        self._notes = notes
        self._models = models
        self.of: dict[str, Settings] = {}

    def flag(self, key: str, value: object) -> None:
        """Such as `lint: true`, or `benchmark: {enabled: true}`."""
        gate, path = FLAGS[key], f"{BLOCK}.{key}"
        settings = self._settings(gate)
        settings.path = path
        if isinstance(value, Mapping):
            self._block(gate, path, value)
        elif value is not None:
            settings.on = self._notes.boolean(path, value)

    def command(self, key: str, value: object) -> None:
        """Such as `lint_command: ruff check .`"""
        self._command(COMMANDS[key], f"{BLOCK}.{key}", value)

    def path_of(self, gate: str) -> str:
        """Where the file says something of the gate."""
        settings = self.of.get(gate, Settings())
        return settings.path or f"{BLOCK}.{gate}"

    def entry(self, gate: str) -> dict[str, Any]:
        """What a Project's pipeline says of a gate that is on."""
        settings = self.of.get(gate, Settings())
        found = {"name": gate, **settings.fields}
        if gate in gates.that_need_a_model() and (name := self._models.of(settings.model)):
            found["model"] = name
        return found

    def _settings(self, gate: str) -> Settings:
        return self.of.setdefault(gate, Settings())

    def _block(self, gate: str, path: str, block: Mapping[Any, Any]) -> None:
        settings = self._settings(gate)
        if "enabled" not in block:
            text = "it does not say whether it is enabled, and so it is off"
            self._notes.add(path, text, "add `enabled: true` where it is to run")
        for key, value in block.items():
            at = f"{path}.{field_name(key)}"
            match key:
                case "enabled":
                    settings.on = self._notes.boolean(at, value)
                case "command":
                    self._command(gate, at, value)
                case "timeout_s":
                    self.timeout(gate, at, value, settings.fields)
                case "required":
                    self.required(gate, at, value, settings.fields)
                case _:
                    if not self._of_model(gate, at, key, block):
                        self._notes.unknown(path, key, _OF_BLOCKS)

    def _of_model(self, gate: str, path: str, key: object, block: Mapping[Any, Any]) -> bool:
        """Whether it is a key of a gate that asks a model."""
        settings = self._settings(gate)
        if key == "block_on_no" and gate in gates.that_may_only_tell():
            if (blocks := self._notes.boolean(path, block[key])) is not None:
                settings.fields["blockOnNo"] = blocks
            return True
        if key == "model" and gate in gates.that_need_a_model():
            if (name := self._notes.name(path, block[key])) is not None:
                settings.model = (name, _provider(block))
            return True
        if key == "provider" and gate in gates.that_need_a_model():
            if "model" not in block:
                self._notes.add(path, "it names no model", "add `model`")
            return True
        return False

    def _command(self, gate: str, path: str, value: object) -> None:
        command = self._notes.command(path, value)
        if command is None:
            return
        if " ".join(command.split()) in _THE_SAME.get(gate, ()):
            return
        if gate in gates.that_execute_nothing():
            remedy = "give the command to a gate of another name: `{name, command, image}`"
            self._notes.add(path, f"'{gate}': {_NO_COMMAND}", remedy)
            return
        self._settings(gate).fields["command"] = command

    def timeout(self, gate: str, path: str, value: object, into: dict[str, Any]) -> None:
        seconds = self._notes.integer(path, value, 1, 86_400)
        if seconds is None:
            return
        if gate in gates.that_execute_nothing():
            text = f"'{gate}' shares a Job with others, which has the time of all of them"
            self._notes.add(path, text, "set gates.timeoutSeconds of the Project")
            return
        into["timeoutSeconds"] = seconds

    def required(self, gate: str, path: str, value: object, into: dict[str, Any]) -> None:
        needed = self._notes.boolean(path, value)
        if needed and gate in gates.that_advise():
            text = f"'{gate}' can keep nothing back: its verdict is shown"
            self._notes.add(path, text, "leave `required` out")
        elif needed is not None:
            into["required"] = needed


def _provider(block: Mapping[Any, Any]) -> str | None:
    found = block.get("provider")
    return found if isinstance(found, str) else None
