"""The plan file in a model's answer.

Whoever answers may send anything. What is taken of it is plain data of a bounded size, written
anew: nothing that nobody sees, and no alias, gets into the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from bernstein.core import names
from bernstein.core.plans import file as plan_file
from bernstein.core.sanitise import visible

LONGEST: Final = 256 * 1024
"""Characters of an answer, also with all aliases written out."""
_LONGEST_NAME, _LONGEST_DESCRIPTION = 100, 4096
_LONGEST_FILE_NAME = 48
_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})[^`]*")
_STAGES = "stages"
_BEGINS = re.compile(r"(?:---|\{|[\"']?(?:name|description|stages)[\"']? *:).*")
_FIRST = ("name", "description")


class NoPlan(Exception):  # noqa: N818 - it says what is so
    """There is no plan in the answer; the text ends a sentence and may quote the answer."""


def plan_of(answer: str) -> dict[Any, Any]:
    """The plan that the answer holds, with whatever else it may say. Raises NoPlan."""
    if len(answer) > LONGEST:
        raise NoPlan(f"it has more than {LONGEST:,} characters")
    try:
        data = plan_file.parse(_yaml(visible(answer)))
    except plan_file.PlanSyntaxError as error:
        raise NoPlan(f"it is no YAML: {error.problem}") from error
    if not isinstance(data, dict) or not isinstance(data.get(_STAGES), list):
        raise NoPlan(f"it is no mapping with a list '{_STAGES}'")
    if _length(data, {}) > LONGEST:
        raise NoPlan(f"with all aliases written out it has more than {LONGEST:,} characters")
    return _clean(data)  # type: ignore[no-any-return]


def with_defaults(data: Mapping[Any, Any], goal: str) -> dict[Any, Any]:
    """The plan with a name and a description, made of what was asked for where it has none."""
    asked = visible(goal).strip()
    given = {
        "name": _shortened(" ".join(asked.split()), _LONGEST_NAME),
        "description": asked[:_LONGEST_DESCRIPTION],
    }
    first = {key: given[key] if _is_blank(data.get(key)) else data[key] for key in _FIRST}
    return first | {key: value for key, value in data.items() if key not in _FIRST}


def _is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def written(data: Mapping[Any, Any], comments: tuple[str, ...] = ()) -> str:
    """The plan as the text of a file, below these comments, of one line each. Raises NoPlan for
    what no plan file can hold."""
    head = "".join(f"# {' '.join(visible(each).split())}\n" for each in comments)
    form: dict[str, Any] = {
        "sort_keys": False,
        "default_flow_style": False,
        "allow_unicode": True,
        "width": 100,
    }
    try:
        text: str = yaml.dump(data, Dumper=_Dumper, **form)
    except ValueError as error:  # of a number with more digits than Python writes
        raise NoPlan(f"it holds what cannot be written: {error}") from error
    size = len((head + text).encode())
    if size > plan_file.MAX_BYTES:
        raise NoPlan(f"written out it has {size:,} bytes, more than a plan file may have")
    return head + text


def file_name(goal: str) -> str:
    """What the file of a plan for this is called."""
    return f"{_slug(goal)}.yaml"


def _slug(goal: str) -> str:
    plain = names.slug(goal)
    if not plain:
        return f"plan-{names.short_hash(goal)}"
    if len(plain) <= _LONGEST_FILE_NAME:
        return plain
    cut, _, _ = plain[: _LONGEST_FILE_NAME + 1].rpartition("-")
    return cut or plain[:_LONGEST_FILE_NAME]


def _shortened(text: str, limit: int) -> str:
    """The first words, as many as have room."""
    if len(text) <= limit:
        return text
    words, _, _ = text[: limit + 1].rpartition(" ")
    return words or text[:limit]


# --- where it is in the answer ------------------------------------------------------------------


def _yaml(text: str) -> str:
    """The part that is YAML: in a fence of Markdown, or behind a few words of the model's."""
    blocks = [*_fenced(text)]
    alone = _unfenced(text)
    for part in (*blocks, alone):
        if _STAGES in part:
            return part
    return blocks[0] if blocks else alone


def _fenced(text: str) -> Iterator[str]:
    """What stands between fences. One without an end goes to the end of the text."""
    inside: list[str] | None = None
    indent, fence = 0, ""
    for row in text.split("\n"):
        found = _FENCE.fullmatch(row)
        if inside is None:
            if found:
                inside, indent, fence = [], len(found[1]), found[2]
        elif found and len(found[1]) <= indent and row.strip().startswith(fence):
            yield "".join(f"{each}\n" for each in inside)
            inside = None
        else:
            inside.append(row)
    if inside is not None:
        yield "".join(f"{each}\n" for each in inside)


def _unfenced(text: str) -> str:
    """From the first line on with which a plan may begin."""
    rows = text.split("\n")
    begins = (number for number, row in enumerate(rows) if _BEGINS.fullmatch(row))
    return "\n".join(rows[next(begins, 0) :])


# --- what is in it ------------------------------------------------------------------------------


def _length(value: object, known: dict[int, int]) -> int:
    """About the characters of a value that is written out; one that is meant more than once is
    looked at once."""
    if id(value) in known:
        return known[id(value)]
    if isinstance(value, str | bytes):
        size = 2 * len(value)
    elif isinstance(value, dict):
        size = sum(_length(part, known) for pair in value.items() for part in pair)
    elif isinstance(value, list | tuple | set):
        size = sum(_length(part, known) for part in value)
    elif isinstance(value, int):
        size = value.bit_length() // 3
    else:
        size = 0
    known[id(value)] = size + 4
    return size + 4


def _clean(value: Any) -> Any:
    """The value of plain types alone, without what nobody sees."""
    match value:
        case str():
            return "\n".join(row.rstrip() for row in visible(value).split("\n"))
        case dict():
            return {_clean(key): _clean(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_clean(each) for each in value]
        case set():
            return [_clean(each) for each in sorted(value, key=repr)]
    return value


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such, lists below their key, and no alias."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        del indentless
        super().increase_indent(flow, indentless=False)


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
