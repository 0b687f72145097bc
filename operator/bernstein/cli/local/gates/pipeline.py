"""A pipeline that is written: its gates in their order, built-in ones and others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, get_args

from bernstein.api.pod import OUR_JOBS
from bernstein.api.programs.forge_jobs import LISTEN, PROPOSE
from bernstein.api.vocabulary import WrittenCondition
from bernstein.checks import gates
from bernstein.cli.local.gates.notes import BLOCK, Notes
from bernstein.cli.local.gates.settings import BUILT_IN, FLAGS, Settings, Single
from bernstein.core.plans.field_errors import did_you_mean, field_name, quoted, type_name

_CONDITIONS: Final = get_args(WrittenCondition)
_LEGACY = re.compile(r"changed_files\.any\(\s*(['\"])\.py\1\s*\)")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")
_TAKEN = re.compile(rf"{'|'.join((*OUR_JOBS, PROPOSE, LISTEN))}|signal_[0-9]+")
_MOST = 32
_KEYS = ("name", "required", "condition", "command", "timeout_s")
_LINTS = ("lint", "type_check")
_SUPPRESSION = "lint_suppression"
_AS_A_CLASS = (
    "its file in .bernstein/gates, or its package in the toolchain's image, is found by that name; "
    "let it import from `bernstein_gates`, as the page 'Write a gate in Python' says"
)


class Pipeline:
    """Reads `quality_gates.pipeline`. `image`: where commands of the Project's own gates run."""

    def __init__(self, notes: Notes, single: Single, image: str) -> None:
        self._notes = notes
        self._single = single
        self._image = image

    def read(self, written: object) -> list[dict[str, Any]]:
        path = f"{BLOCK}.pipeline"
        if not isinstance(written, list):
            text = f"expected an array, got {type_name(written)}"
            self._notes.add(path, text, "list the gates in spec.gates.pipeline of the Project")
            return []
        found: dict[str, dict[str, Any]] = {}
        for number, each in enumerate(written):
            self._add(f"{path}[{number}]", each, found)
        self._compare(found)
        if _SUPPRESSION not in found and any(name in found for name in _LINTS):
            text = (
                f"'{_SUPPRESSION}' runs before lint and type_check, which work could else silence"
            )
            off = f"add `{{name: {_SUPPRESSION}, enabled: false}}` where that is not wanted"
            self._notes.add(path, text, off)
        return [*found.values()]

    def _add(self, path: str, each: object, found: dict[str, dict[str, Any]]) -> None:
        entry = {"name": each} if isinstance(each, str) else each
        if not isinstance(entry, Mapping):
            text = f"expected a mapping, got {type_name(entry)}"
            self._notes.add(path, text, "write `{name, required, condition}`")
            return
        name = self._name(path, entry.get("name"), found)
        if name is None:
            return
        made = self._single.entry(name) if name in BUILT_IN else {"name": name}
        self._fields(path, name, entry, made)
        if name not in BUILT_IN:
            self._own(f"{path}.name", name, made)
        found[name] = made

    def _name(self, path: str, name: object, found: Mapping[str, Any]) -> str | None:
        at = f"{path}.name"
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            text = f"{quoted(name)} is no name of a gate"
            remedy = "use up to 30 lower-case letters, digits and '_', with a letter first"
            self._notes.add(at, text, remedy)
            return None
        if name in FLAGS and name not in BUILT_IN:
            self._notes.add(at, f"'{name}' is taken for '{FLAGS[name]}'", "nothing has to be done")
            name = FLAGS[name]
        problem = ""
        if _TAKEN.fullmatch(name):
            problem = f"'{name}' is a name of the operator's own"
        elif name in found:
            problem = f"'{name}' is there already, and a gate runs once"
        elif len(found) == _MOST:
            problem = f"a Project has at most {_MOST} gates: '{name}' is left out"
        if problem:
            self._notes.add(at, problem, "leave it out, or give it another name")
            return None
        return name

    def _fields(self, path: str, name: str, entry: Mapping[Any, Any], made: dict[str, Any]) -> None:
        for key, value in entry.items():
            at = f"{path}.{field_name(key)}"
            match key:
                case "name":
                    pass
                case "required":
                    self._single.required(name, at, value, made)
                case "condition":
                    self._condition(at, value, made)
                case "timeout_s":
                    self._single.timeout(name, at, value, made)
                case "command" if name not in gates.that_execute_nothing():
                    if (command := self._notes.command(at, value)) is not None:
                        made["command"] = command
                case "command":
                    text = f"'{name}' executes nothing here and takes no command"
                    remedy = "give the command to a gate of another name: `{name, command, image}`"
                    self._notes.add(at, text, remedy)
                case _:
                    self._notes.unknown(path, key, _KEYS)

    def _condition(self, path: str, value: object, made: dict[str, Any]) -> None:
        if isinstance(value, str) and _LEGACY.fullmatch(value.strip()):
            made["condition"] = "python_changed"
        elif value in _CONDITIONS:
            made["condition"] = value
        else:
            known = f"is none of {', '.join(_CONDITIONS[:-1])}{did_you_mean(value, _CONDITIONS)}"
            remedy = "the gate runs as it does by itself; choose one of them, or name `paths`"
            self._notes.add(path, f"{quoted(value)} {known}", remedy)

    def _own(self, path: str, name: str, made: dict[str, Any]) -> None:
        """A gate that is not built in: a command with an image, or else a class, as there."""
        hint = did_you_mean(name, BUILT_IN)
        if "command" in made:
            made["image"] = self._image
            text = f"'{name}' runs its command in the toolchain's image: it is not built in{hint}"
            self._notes.add(path, text, "name another image in spec.gates.pipeline of the Project")
            return
        made["plugin"] = "Python"
        text = f"'{name}' is taken for a class in Python: no built-in gate has that name{hint}"
        remedy = f"{_AS_A_CLASS}; or give it a `command` and an `image` in place of `plugin`"
        self._notes.add(path, text, remedy)

    def _compare(self, found: Mapping[str, Any]) -> None:
        """What keys beside a pipeline say has no effect where that says another thing."""
        for gate in gates.GATES:
            settings = self._single.of.get(gate.name, Settings())
            path = settings.path or f"{BLOCK}.{gate.name}"
            if settings.on and gate.name not in found:
                text = "it does not run: the pipeline lists what runs, and this is not in it"
                self._notes.add(path, text, "add it to spec.gates.pipeline of the Project")
            elif settings.on is False and gate.name in found:
                text = "it runs all the same: the pipeline lists it"
                self._notes.add(path, text, "take it out of spec.gates.pipeline of the Project")
            elif settings.fields and gate.name not in found:
                text = "its command or other settings are of no use: it is not in the pipeline"
                self._notes.add(path, text, "add it to spec.gates.pipeline of the Project")
