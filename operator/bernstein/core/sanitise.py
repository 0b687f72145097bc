"""Text for people: what an agent or a repository says is made safe to show in a terminal, a pull
request or an Event."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import islice

from bernstein import urls

ELLIPSIS = "…"
_QUOTE = "> "
_NAMED = 3
"""Names in a message, where there may be thousands."""

_ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movement
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|\Z)?"  # OSC, DCS
    r"|\x1b[ -/]*[0-~]"  # two-character sequences
)
_MENTION = re.compile(r"(?<![A-Za-z0-9_])@(?=\w)")
"""For a forge a word is of ASCII alone: behind any other letter, and behind an @, is a mention."""
_FULLWIDTH_AT = "\uff20"
"""Looks like an @ to a reader; no forge notifies anybody for it."""
_BLANK_LINES = re.compile(r"\n{3,}")

_UNSEEN = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}
"""Categories: control, format (bidi, zero width), private, surrogate, unassigned, separators."""
_IGNORABLE = frozenset(
    chr(code)
    for first, last in (
        (0x34F, 0x34F),  # combining grapheme joiner
        (0x115F, 0x1160),  # Hangul fillers
        (0x17B4, 0x17B5),  # Khmer inherent vowels
        (0x180B, 0x180F),  # Mongolian variation selectors
        (0x3164, 0x3164),
        (0xFE00, 0xFE0F),  # variation selectors
        (0xFFA0, 0xFFA0),
        (0xE0100, 0xE01EF),  # more variation selectors
    )
    for code in range(first, last + 1)
)
"""What Unicode calls default ignorable, as far as its category does not say so: text could be
hidden in it. An emoji that is joined of several is shown as these: that is understood, and nobody
has to tell a joiner that is meant from one that hides."""


def text(value: str, limit: int) -> str:
    """`value` with its line breaks, at most `limit` characters, cut with an ellipsis.

    Terminal sequences, control, bidirectional and invisible characters are dropped; blank lines
    collapse; `@name` no longer mentions anybody; credentials in URLs are removed. Idempotent.
    """
    if len(value) <= limit and _is_plain_line(value):
        return value
    bounded = value[: limit * 4 + 4096]  # what is shown never needs more, whatever is dropped
    plain = _ESCAPE_SEQUENCE.sub("", bounded).replace("\r\n", "\n").replace("\r", "\n")
    spaced = plain.replace("\t", "    ")
    is_plain = spaced.isascii() and spaced.isprintable()
    shown = spaced if is_plain else "".join(_visible(c) for c in spaced)
    # Not by a pattern: that would look for the end of every run of spaces from each of them.
    shown = "\n".join(row.rstrip(" ") for row in shown.split("\n"))
    shown = _BLANK_LINES.sub("\n\n", shown).strip("\n")
    shown = _MENTION.sub(_FULLWIDTH_AT, urls.without_users(shown))
    return cut(shown, limit)


def _is_plain_line(value: str) -> bool:
    """Whether there is nothing in it to change, seen at once: most texts are our own words, a
    status has several of them, and a line of the log only such."""
    if not (value.isascii() and value.isprintable()):
        return False
    return "@" not in value and not value.endswith(" ")


def line(value: str, limit: int) -> str:
    """Like `text`, on one line: every run of white space becomes one space."""
    return cut(" ".join(text(value, limit * 4).split()), limit)


def visible(value: str) -> str:
    """`value` without what nobody sees, and with nothing else changed but its line ends.

    For a text that is read as it is, such as a file's: `text` would change words in it. Idempotent.
    """
    plain = value.replace("\r\n", "\n").replace("\r", "\n")
    return "\n".join(_visible_row(row) for row in plain.split("\n"))


def _visible_row(row: str) -> str:
    if row.isascii() and row.isprintable():
        return row
    return "".join(c if c == "\t" else _visible(c) for c in row)


def spelled(row: str) -> str:
    """A line with what nobody sees spelled out, such as `<U+202E>`, and with nothing else changed.

    For who judges a change: whatever is in the file must be seen.
    """
    if row.isascii() and row.isprintable():
        return row
    return "".join(c if c == "\t" or _visible(c) == c else f"<U+{ord(c):04X}>" for c in row)


def quoting(ours: str, theirs: str, limit: int) -> str:
    """What we say, in one line, and below it what somebody else says, each line marked as a quote.

    `theirs` is sanitised, and at most `limit` characters of it are kept. Conditions, Events and
    logs, which others read and keep, are told `without_quotes`.
    """
    rows = text(theirs, limit).split("\n")
    return "\n".join((f"{ours}:", *(f"{_QUOTE}{row}" for row in rows))) if any(rows) else ours


def without_quotes(value: str, more: str = "") -> str:
    """What we say of it; `more`, where the quotes can be read, is told where there are any."""
    if "\n" not in value:
        return value
    first, *rows = value.split("\n")
    kept = [row for row in rows if not _is_quote(row)]
    if len(kept) == len(rows):
        return value
    ours = "\n".join((first, *kept)).rstrip(": \n")
    return f"{ours}; {more} has its words" if more else ours


def quoted(value: str) -> str:
    """What somebody else says in it, without the marks; "" where nobody is quoted."""
    rows = value.split("\n")[1:]
    return "\n".join(row[1:].removeprefix(" ") for row in rows if _is_quote(row))


def _is_quote(row: str) -> bool:
    return row == _QUOTE.rstrip() or row.startswith(_QUOTE)


def within(value: str, size: int) -> str:
    """`value`, cut with an ellipsis where it has more than `size` bytes in UTF-8."""
    data = value.encode()
    if len(data) <= size:
        return value
    room = max(size - len(ELLIPSIS.encode()), 0)
    return data[:room].decode(errors="ignore").rstrip() + ELLIPSIS


def count(number: int, what: str) -> str:
    """`1 Task`, `2 Tasks`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `11th`."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    teen = number // 10 % 10 == 1
    return f"{number}{'th' if teen else ends.get(number % 10, 'th')}"


def some(names: Iterable[str], number: int) -> str:
    """The first three of so many names, and how many more there are."""
    more = f" and {number - _NAMED} more" if number > _NAMED else ""
    return ", ".join(islice(names, _NAMED)) + more


def _visible(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() or character == "\n" else ""
    category = unicodedata.category(character)
    if category in _UNSEEN or character in _IGNORABLE:
        return ""
    return " " if category == "Zs" else character


def cut(value: str, limit: int) -> str:
    """`value`, at most `limit` characters: where it has more it ends with an ellipsis."""
    if len(value) <= limit:
        return value
    return value[: max(limit - 1, 0)].rstrip() + ELLIPSIS[:limit]


def without_middle(value: str, limit: int) -> str:
    """`value`, at most `limit` characters: where it has more, its first line and the last ones.

    What a program has printed ends with the cause. A quote stays one: what is left of a line, and
    the ellipsis above it, have its mark.
    """
    if len(value) <= limit:
        return value
    first, _, rest = value.partition("\n")
    first = cut(first, limit // 2)
    room = limit - len(f"{first}\n{_QUOTE}{ELLIPSIS}\n")
    if not rest or room <= 0:
        return cut(value, limit)
    before, end = rest[:-room], rest[-room:]
    if not before:
        return f"{first}\n{end}"
    if not before.endswith("\n"):
        part, whole, lines = end.partition("\n")
        row = f"{before}{part}".rpartition("\n")[2]
        if not whole:
            return f"{first}\n{_mark(row)}{ELLIPSIS}{part.lstrip()}"
        end = lines
    return f"{first}\n{_mark(end)}{ELLIPSIS}\n{end}"


def _mark(row: str) -> str:
    return _QUOTE if _is_quote(row.partition("\n")[0]) else ""
