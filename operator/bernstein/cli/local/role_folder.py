"""A role as three files of a folder: two templates, and what it chooses.

system_prompt.md   what an agent of the role is told first
task_prompt.md     how a task is put to it
config.yaml        its model, its effort, and how many tasks a session may do
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bernstein.api.roles.role import LONGEST_TEMPLATE, AgentRoleSpec
from bernstein.api.vocabulary import EFFORTS
from bernstein.cli.errors import INVALID, CliError
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.field_errors import Findings, did_you_mean, field_name, quoted
from bernstein.core.plans.fields import EFFORT_SYNONYMS
from bernstein.core.roles import template

SYSTEM, TASK, CONFIG = "system_prompt.md", "task_prompt.md", "config.yaml"
_FIELDS = {
    "description": "description",
    "model": "model",
    "default_model": "model",
    "effort": "effort",
    "default_effort": "effort",
    "max_tasks_per_session": "maxTasksPerSession",
}
"""What config.yaml may say, and the field of the AgentRole that says it."""
_MOST_BYTES = 4 * LONGEST_TEMPLATE


@dataclass(frozen=True)
class Folder:
    """What the files of a folder say together, and what is wrong with them."""

    spec: Mapping[str, Any]
    problems: tuple[str, ...]
    """Each with file and line."""


def is_one(path: Path) -> bool:
    """Whether the folder holds a role: one of the texts, as a configuration may be of anything."""
    return any((path / name).is_file() for name in (SYSTEM, TASK))


def read(path: Path) -> Folder:
    """The role of this folder. Raises CliError for one that has none of the files."""
    if not path.is_dir():
        raise _none(f"'{path}' is no folder")
    texts = {
        name: text for name in (SYSTEM, TASK, CONFIG) if (text := _text(path / name)) is not None
    }
    if not texts:
        raise _none(f"'{path}' holds none of {SYSTEM}, {TASK} and {CONFIG}")
    spec: dict[str, Any] = {}
    found: list[str] = []
    for name, field, needs in (
        (SYSTEM, "prompt", None),
        (TASK, "taskPrompt", template.TASK_DESCRIPTION),
    ):
        if name in texts:
            spec[field] = texts[name].strip()
            found += _of_template(name, texts[name], needs)
    config, problems = _config(texts.get(CONFIG, ""))
    return Folder(spec | config, (*found, *problems))


def _text(path: Path) -> str | None:
    """What the file says; None: there is none."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
        return content.decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise CliError(
            "InvalidRole", f"'{path}' is no text in UTF-8", "save it as UTF-8"
        ) from error


def _of_template(name: str, text: str, needs: str | None) -> Iterator[str]:
    if not text.strip():
        yield f"{name}:1: it is empty: leave the file out instead"
    elif len(text.strip()) > LONGEST_TEMPLATE:
        yield f"{name}:1: it has more than {LONGEST_TEMPLATE:,} characters"
    else:
        for problem in template.problems(text, needs):
            yield f"{name}:{problem.line}:{problem.column}: {problem.message}"


def _config(text: str) -> tuple[dict[str, Any], list[str]]:
    """What the configuration says, as the fields of an AgentRole, and what is wrong with it."""
    try:
        data = plan_file.parse(text) if text.strip() else {}
    except plan_file.PlanSyntaxError as error:
        return {}, [f"{CONFIG}: no YAML: {error.problem}"]
    if data is None:
        return {}, []
    if not isinstance(data, dict):
        return {}, [f"{CONFIG}:1: must be a mapping"]
    findings, spec = Findings(), dict[str, Any]()
    for key, value in data.items():
        field = _FIELDS.get(key) if isinstance(key, str) else None
        if field is None:
            known = sorted(_FIELDS)
            hint = did_you_mean(key, known) or f", must be one of [{', '.join(known)}]"
            findings.error(field_name(key), f"unknown field {quoted(key)}{hint}")
        elif field in spec:
            findings.error(field_name(key), f"{key}: '{field}' stands there twice")
        elif value is not None:
            spec[field] = _value(findings, field_name(key), field, value)
    return spec, [f"{CONFIG}:{_line(text, e.path)}: {e.message}" for e in findings.errors]


def _value(findings: Findings, key: str, field: str, value: object) -> object:
    """The value, as an AgentRole has it."""
    if field == "maxTasksPerSession":
        findings.integer(key, value, 1, 1000)
    elif field == "effort":
        value = EFFORT_SYNONYMS.get(value, value) if isinstance(value, str) else value
        findings.choice(key, value, EFFORTS)
    else:
        findings.line(key, value)
    return value


def _line(text: str, key: str) -> int:
    """The line on which a key of the outermost mapping stands; 1 where it is spelled otherwise."""
    found = re.search(rf"^[\"']?{re.escape(key)}[\"']?[ \t]*:", text, re.MULTILINE)
    return text.count("\n", 0, found.start()) + 1 if found is not None else 1


def _none(message: str) -> CliError:
    return CliError("InvalidRole", message, "name the folder of one role", INVALID)


def spec_of(folder: Folder) -> AgentRoleSpec:
    """Of a folder without problems."""
    return AgentRoleSpec.model_validate(folder.spec)
