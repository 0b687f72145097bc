"""Which functions of Python that were measured are others of the base under another name?

As with files, by content: one is another one's only where that one is not measured any more, and
half of their lines are the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from bernstein.checks import renames
from bernstein.checks.renames import Content

_MOST = 200
"""Functions of one file that are compared."""
_SEPARATOR = "::"


def under_new_names(
    before: Mapping[str, float],
    after: Iterable[str],
    content_before: Content,
    content_after: Content,
) -> Mapping[str, float]:
    """The measures of the base by the names that their functions have now. Names are those of
    pytest: `path::Class::function[parameters]`, with paths as they are now.

    `content_before`: of the base's file, by the path that it has now.
    """
    has = {*after}
    gone = _by_file(name for name in before if name not in has)
    new = _by_file(name for name in has if name not in before)
    now: dict[str, str] = {}
    for path in gone.keys() & new.keys():
        if max(len(gone[path]), len(new[path])) <= _MOST:
            texts = (content_before(path) or b"", content_after(path) or b"")
            lines = [
                {function: lines_of(text, function) for function in sorted(functions)}
                for text, functions in zip(texts, (gone[path], new[path]), strict=True)
            ]
            names = renames.similar(lines[0], lines[1])
            now |= {
                f"{path}{_SEPARATOR}{old}": f"{path}{_SEPARATOR}{n}" for n, old in names.items()
            }
    return {_renamed(name, now, has): value for name, value in before.items()}


def _renamed(name: str, now: Mapping[str, str], has: Iterable[str]) -> str:
    function, bracket, parameters = name.partition("[")
    renamed = f"{now.get(function, function)}{bracket}{parameters}"
    return renamed if renamed in has else name


def _by_file(names: Iterable[str]) -> dict[str, set[str]]:
    """Functions with their classes, without parameters, by file."""
    found: dict[str, set[str]] = {}
    for name in names:
        path, separator, function = name.partition("[")[0].partition(_SEPARATOR)
        if separator:
            found.setdefault(path, set()).add(function)
    return found


def lines_of(text: bytes, function: str) -> frozenset[int]:
    """Hashes of the lines of its body, without the white space around them; none where it is not
    found. The text is read line by line: it may be no Python."""
    *classes, name = function.encode().split(_SEPARATOR.encode())
    lines = iter(text.split(b"\n"))
    for each in classes:
        _skip_to(rb"class\s+" + re.escape(each), lines)
    indent = _skip_to(rb"(?:async\s+)?def\s+" + re.escape(name), lines)
    return frozenset() if indent is None else frozenset(map(hash, _below(lines, indent)))


def _skip_to(words: bytes, lines: Iterator[bytes]) -> int | None:
    """Where the first line with these words begins; the lines go on behind it."""
    begins = re.compile(rb"\s*" + words + rb"\b")
    for line in lines:
        if begins.match(line):
            return _indent(line)
    return None


def _below(lines: Iterator[bytes], indent: int) -> Iterator[bytes]:
    for line in lines:
        plain = line.strip()
        if plain and _indent(line) <= indent and not plain.startswith((b")", b"]", b"#")):
            return
        if plain:
            yield plain


def _indent(line: bytes) -> int:
    return len(line) - len(line.lstrip())
