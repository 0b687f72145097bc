"""The block as a whole: its plain keys, and the pipeline, written or made from what is on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bernstein.checks import gates
from bernstein.cli.local.gates.models import Models
from bernstein.cli.local.gates.notes import BLOCK, Note, Notes
from bernstein.cli.local.gates.pipeline import Pipeline
from bernstein.cli.local.gates.settings import COMMANDS, FLAGS, Settings, Single
from bernstein.core.plans.field_errors import quoted, type_name

_PYTHON = re.compile(r"\b(py|python|pytest|uv|ruff|mypy|pyright|tox|nox|poetry|hatch|pdm|bandit)")
_PLAIN = ("enabled", "timeout_s", "cache_enabled", "allow_bypass", "base_ref")
_WHOLES = ("pipeline", "cross_model")


@dataclass(frozen=True)
class Translation:
    gates: Mapping[str, Any]
    """`spec.gates` of the Project."""
    models: tuple[Mapping[str, Any], ...]
    """`spec.models`, each with its key in one Secret."""
    notes: tuple[Note, ...]
    """What is not taken over as it stands."""


def translate(block: object, *, branch: str, image: str) -> Translation:
    """`branch`: what the Project works on; `image`: its toolchain's, for commands of its own."""
    notes = Notes()
    if block is None:
        return Translation({}, (), ())
    if not isinstance(block, Mapping):
        text = f"expected a mapping, got {type_name(block)}"
        notes.add(BLOCK, text, "the Project has the gates that are on by default")
        return Translation({}, (), tuple(notes.all))
    return _Block(notes, branch, image).read(block)


class _Block:
    def __init__(self, notes: Notes, branch: str, image: str) -> None:
        self._notes = notes
        self._branch = branch
        self._image = image
        self._models = Models(notes)
        self._single = Single(notes, self._models)
        self._found: dict[str, Any] = {}

    def read(self, block: Mapping[Any, Any]) -> Translation:
        for key, value in block.items():
            if key in _PLAIN:
                self._plain(key, value)
            elif key in FLAGS:
                self._single.flag(key, value)
            elif key in COMMANDS:
                self._single.command(key, value)
            elif key not in _WHOLES:
                self._notes.unknown(BLOCK, key, (*_PLAIN, *_WHOLES, *FLAGS, *COMMANDS))
        written = block.get("pipeline")
        if written:
            pipeline = Pipeline(self._notes, self._single, self._image).read(written)
        else:
            pipeline = [*self._made()]
            if pipeline:
                self._found["extends"] = "Default"
        if pipeline:
            self._found["pipeline"] = pipeline
            self._tell_of_languages(pipeline)
        if review := self._models.review(block.get("cross_model")):
            self._found["crossModel"] = review
        return Translation(self._found, self._models.all, tuple(self._notes.all))

    def _plain(self, key: str, value: object) -> None:
        path = f"{BLOCK}.{key}"
        if key == "base_ref":
            self._base(path, value)
        elif key == "timeout_s":
            seconds = self._notes.integer(path, value, 1, 86_400)
            if seconds is not None:
                self._found["timeoutSeconds"] = seconds
        elif (said := self._notes.boolean(path, value)) is not None:
            field = {"cache_enabled": "cacheEnabled", "allow_bypass": "allowBypass"}.get(key, key)
            self._found[field] = said

    def _base(self, path: str, value: object) -> None:
        if value in (self._branch, f"origin/{self._branch}"):
            return
        text = f"gates compare with the repository's branch, '{self._branch}', not {quoted(value)}"
        self._notes.add(path, text, "call `bernstein init` again with --branch to change that")

    def _tell_of_languages(self, pipeline: Iterable[Mapping[str, Any]]) -> None:
        """A command for another language runs, there as here, only where Python has changed."""
        for entry in pipeline:
            name, command = entry["name"], entry.get("command")
            runs = entry.get("condition", gates.of(name).condition)
            if command is None or runs != "python_changed" or _PYTHON.search(command):
                continue
            text = f"'{name}' runs where files of Python have changed, and its command names none"
            remedy = "say `condition: any_changed` in spec.gates.pipeline for another language"
            self._notes.add(self._single.path_of(name), text, remedy)

    def _made(self) -> Iterator[dict[str, Any]]:
        """What differs from the gates that are on by default, in the order in which gates run."""
        for gate in gates.GATES:
            settings = self._single.of.get(gate.name, Settings())
            on = gate.default_on if settings.on is None else settings.on
            if on and ((settings.on and not gate.default_on) or settings.fields):
                yield self._single.entry(gate.name)
            elif not on and (gate.default_on or settings.fields):
                yield {"name": gate.name, **settings.fields, "enabled": False}
            if not on and settings.model is not None:
                text = "it is off, so that its model is not taken over"
                self._notes.add(settings.path, text, "name one in spec.models once it is to be on")
