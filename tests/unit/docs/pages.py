"""The project's Markdown pages: links, code blocks and tables, as readers see them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bernstein import agents
from bernstein.checks import signals

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "docs" / "reference"

Schema = dict[str, Any]

_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\S*)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)")
_CELLS = re.compile(r"(?<!\\)\|")
_TOLD = re.compile(r"Default: (\S+)\.$")
"""Ends the description of a field inside of a list, where no default is applied."""
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced code block; `line` is the number of its first line."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    folders = ("charts", "docs")
    return [
        *sorted(ROOT.glob("*.md")),
        *(p for f in folders for p in sorted((ROOT / f).rglob("*.md"))),
    ]


def blocks(language: str) -> Iterator[Block]:
    """Every fenced block of that language, in all pages."""
    for page in pages():
        text = page.read_text()
        for found in _FENCE.finditer(text):
            if found["language"] == language:
                line = text.count("\n", 0, found.start()) + 2
                body = re.sub(rf"^{found['indent']}", "", found["text"], flags=re.MULTILINE)
                yield Block(page, line, language, body)


def prose(page: Path) -> str:
    """The page without its code blocks."""
    return _FENCE.sub("", page.read_text())


def links(page: Path) -> Iterator[str]:
    """Targets of links; those to other sites, too."""
    return (found["target"] for found in _LINK.finditer(prose(page)))


def anchors(page: Path) -> set[str]:
    """Names of the page's headings, as GitHub makes them."""
    found = set()
    for heading in _HEADING.findall(prose(page)):
        plain = re.sub(r"[^\w\- ]", "", heading.strip().lower())
        found.add(plain.replace(" ", "-"))
    return found


def rows(page: Path) -> Iterator[list[str]]:
    """Cells of every row of a table that begins with something in backticks."""
    for line in page.read_text().splitlines():
        if line.startswith("| `"):
            yield [cell.strip().replace("\\|", "|") for cell in _CELLS.split(line)[1:-1]]


def fields(schema: Schema, path: str = "", *, required: bool = False) -> Iterator[list[str]]:
    """[field, type, default] of everything below a schema of a CRD, as a reference page has it."""
    if path:
        yield [f"`{path}`", _type(schema), "required" if required else _default(schema)]
    items = schema.get("items", {})
    for parent, mark in ((schema, ""), (items, "[]")):
        for name, child in parent.get("properties", {}).items():
            below = f"{path}{mark}.{name}" if path else name
            yield from fields(child, below, required=name in parent.get("required", ()))


def section(page: Path, heading: str) -> str:
    """What stands between a heading and the next one."""
    _, _, below = page.read_text().partition(f"\n## {heading}\n")
    return below.partition("\n## ")[0]


def table(page: Path, heading: str) -> Iterator[list[str]]:
    """Cells of every row of the first table below a heading, without its head."""
    below = section(page, heading)
    lines = itertools.dropwhile(lambda line: not line.startswith("|"), below.splitlines())
    for line in itertools.islice(itertools.takewhile(lambda x: x.startswith("|"), lines), 2, None):
        yield [cell.strip() for cell in _CELLS.split(line)[1:-1]]


def without_links(text: str) -> str:
    return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)


def _type(schema: Schema) -> str:
    words = tuple(schema.get("enum", ()))
    if words in (signals.types(), agents.names()):
        # What there is stands in one table, with all that holds for it.
        return "a signal" if words == signals.types() else "an adapter"
    if words:
        return ", ".join(f"`{word}`" for word in schema["enum"])
    if schema.get("x-kubernetes-int-or-string"):
        return f"integer, or string ≤ {schema['maxLength']}"
    match schema["type"]:
        case "array":
            of = "objects" if schema["items"]["type"] == "object" else "strings"
            return f"list of {_number(schema)} {of}"
        case "integer":
            return f"integer {schema['minimum']} to {schema['maximum']}"
        case "number":
            return f"number {schema['minimum']} to {schema['maximum']}"
        case "string" if "maxLength" in schema:
            return f"string, ≤ {schema['maxLength']}"
    return str(schema["type"])


def _number(schema: Schema) -> str:
    least, most = schema.get("minItems", 0), schema["maxItems"]
    return str(most) if least == most else f"{least} to {most}"


def _default(schema: Schema) -> str:
    value = schema.get("default")
    if value is None and (told := _TOLD.search(schema.get("description", ""))):
        return f"`{told[1]}`"
    if value is None or value in ([], {}):
        return "-"
    shown = str(value).lower() if isinstance(value, bool) else value
    return f"`{shown}`"
