"""The values of the chart as a table, made from `values.yaml` and its comments.

What is said of a value is the comment above it, or behind it on its line. A value without one has
that of the component before it under the same name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parents[2] / "charts" / "bernstein"
VALUES = CHART / "values.yaml"
README = CHART / "README.md"
BEGIN = "<!-- values: written by `make generate` -->\n"
END = "<!-- end of values -->\n"
ALIKE = {"server": "operator"}
"""Components whose settings mean the same for both, by the one that is explained first."""


class Unexplained(Exception):  # noqa: N818 - it says what is wrong with the file
    """A value has no comment."""


@dataclass(frozen=True)
class Value:
    """`default` is None for one that only groups others."""

    path: str
    default: str | None
    meaning: str


def table(text: str) -> str:
    """All values of a `values.yaml`, as a Markdown table. Raises `Unexplained`."""
    rows = ["| Value | Default | Meaning |", "|---|---|---|"]
    for value in values(text):
        default = "" if value.default is None else f"`{value.default}`"
        cells = (f"`{value.path}`", default, value.meaning)
        rows.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def page_with(page: str, rows: str) -> str:
    """The page with these rows between its two marks, which must be there."""
    before, _, rest = page.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"the page lacks {BEGIN!r} or {END!r}")
    return f"{before}{BEGIN}\n{rows}\n{END}{after}"


def values(text: str) -> list[Value]:
    """In the order of the file."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)
    found = {value.path: value for value in _of(root, "", text.splitlines())}
    return [_explained(value, found) for value in found.values() if _is_shown(value)]


def _of(node: yaml.MappingNode, prefix: str, lines: list[str]) -> Iterator[Value]:
    for key, value in node.value:
        path = f"{prefix}{key.value}"
        meaning = _comment(key.start_mark.line, lines)
        groups = isinstance(value, yaml.MappingNode) and value.value and not value.flow_style
        if groups:
            yield Value(path, None, meaning)
            yield from _of(value, f"{path}.", lines)
        else:
            yield Value(path, json.dumps(_plain(value), ensure_ascii=False), meaning)


def _plain(node: yaml.Node) -> Any:
    return yaml.safe_load(yaml.serialize(node, Dumper=yaml.SafeDumper))


def _comment(line: int, lines: list[str]) -> str:
    """Above the line, or behind what it says."""
    said: list[str] = []
    above = line - 1
    indent = lines[line][: -len(lines[line].lstrip())]
    while above >= 0 and lines[above].startswith(f"{indent}#"):
        said.insert(0, lines[above].strip().removeprefix("#").strip())
        above -= 1
    _, behind, rest = lines[line].partition("  # ")
    words = " ".join([*said, rest.strip()] if behind else said).replace("<", "&lt;")
    return words[:1].upper() + words[1:]


def _is_shown(value: Value) -> bool:
    return value.default is not None or value.meaning != ""


def _explained(value: Value, found: dict[str, Value]) -> Value:
    if value.meaning:
        return value
    component, _, rest = value.path.partition(".")
    alike = found.get(f"{ALIKE.get(component)}.{rest}")
    if alike is None or not alike.meaning:
        raise Unexplained(f"{value.path} has no comment in values.yaml")
    return Value(value.path, value.default, f"As `{alike.path}`.")
