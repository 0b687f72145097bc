"""Where a test in Python ends before its end: its assertions are there, and may not be come to."""

from __future__ import annotations

import re

_TEST = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+test", re.MULTILINE)
_INNER = re.compile(r"[ \t\f]*(?:async[ \t]+)?(?:def|class)[ \t]")
_END = re.compile(r"\b(?:return|yield)\b")
"""With `yield` anywhere in it, a function runs nothing when it is called."""
_BRACKETS = re.compile(
    r"(?P<open>[(\[{]++)|(?P<close>[)\]}]++)|\\\r?\n"
    r"|\n(?=(?P<begins>[ \t]*+(?:async[ \t]++)?(?:def|class)[ \t])?)"
)


def on_one_line(text: str) -> str:
    """Python without strings and comments, each statement on a line of its own, however many lines
    its brackets span. A bracket that nobody closes ends where a function or class begins."""
    depth = 0

    def joined(found: re.Match[str]) -> str:
        nonlocal depth
        if found["open"]:
            depth += len(found[0])
        elif found["close"]:
            depth = max(0, depth - len(found[0]))
        elif found["begins"]:
            depth = 0
        elif depth or found[0] != "\n":
            return " "
        return found[0]

    return _BRACKETS.sub(joined, text)


def early_ends(text: str) -> int:
    """How often the first test in it returns or yields by itself, not in a function within it.
    `text`: as above."""
    test = _TEST.search(text)
    if test is None:
        return 0
    first, *lines = text[test.start() :].split("\n")
    of_test, inner = _indent(first), None
    count = len(_END.findall(first))
    for line in filter(str.strip, lines):
        indent = _indent(line)
        if indent <= of_test:
            break
        if inner is not None and indent > inner:
            continue
        inner = indent if _INNER.match(line) else None
        if inner is None:
            count += len(_END.findall(line))
    return count


def _indent(line: str) -> int:
    expanded = line.expandtabs()
    return len(expanded) - len(expanded.lstrip())
