"""`.gitignore` rules as git applies them to untracked files.

Patterns and names are both the agent's to write. So every pattern becomes a regular expression that
backtracks over its last wildcard only, and no pattern and name can keep the recorder busy for long.
(The usual libraries take minutes for `*a*a*a*a*b` on a long name.)
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from time import thread_time

_CLASSES = {
    b"alnum": string.ascii_letters + string.digits,
    b"alpha": string.ascii_letters,
    b"blank": " \t",
    b"cntrl": "".join(map(chr, [*range(32), 127])),
    b"digit": string.digits,
    b"graph": string.ascii_letters + string.digits + string.punctuation,
    b"lower": string.ascii_lowercase,
    b"print": string.ascii_letters + string.digits + string.punctuation + " ",
    b"punct": string.punctuation,
    b"space": " \t\n\v\f\r",
    b"upper": string.ascii_uppercase,
    b"xdigit": string.hexdigits,
}

_WILDCARD = re.compile(rb"[*?\[\\]")
_SLASH = b"/"
_STAR = b"*"


_LINE_BYTES = 4096
"""No path is longer, and so no rule need be."""


class RulesTooLargeError(Exception):
    """The rules take more than they may; the text says what."""


class RuleBudget:
    """What the rules of one walk may take together; all that is spent counts, whoever wrote it."""

    def __init__(self, rules: int, seconds: float) -> None:
        self._most_rules, self._most_seconds = rules, seconds
        self._rules, self._seconds = rules, seconds

    def count(self, line: bytes) -> None:
        """One more rule. Raises RulesTooLargeError."""
        self._rules -= 1
        if self._rules < 0:
            raise RulesTooLargeError(f"rules are over the limit of {self._most_rules}")
        if len(line) > _LINE_BYTES:
            raise RulesTooLargeError(f"a rule's bytes are over the limit of {_LINE_BYTES}")

    @contextmanager
    def spend(self) -> Iterator[None]:
        """What happens here takes from the time. Raises RulesTooLargeError when there is none."""
        if self._seconds <= 0:
            seconds = self._most_seconds
            raise RulesTooLargeError(f"the seconds that rules take are over the limit of {seconds}")
        began = thread_time()
        try:
            yield
        finally:
            self._seconds -= thread_time() - began


class _InvalidPatternError(ValueError):
    """A pattern that git never matches with anything."""


@dataclass(frozen=True, slots=True)
class Pattern:
    line: int
    """From 1."""
    negative: bool
    only_directory: bool
    literal: tuple[bytes, ...]
    """The path's components up to the first wildcard; the last of them ends there.

    git compares this text first, and then matches the rest by itself. That is why the `**` of
    `a**/b` counts as a component of its own.
    """
    components: tuple[re.Pattern[bytes] | None, ...]
    """One expression per path component, None for `**`; a single one if `name_only`."""
    name_only: bool

    def matches(self, components: Sequence[bytes], directory: bool) -> bool:
        if self.only_directory and not directory:
            return False
        if self.name_only:
            only = self.components[0]
            return only is None or only.match(components[-1]) is not None
        *folders, start = self.literal
        first, rest = components[: len(folders)], components[len(folders) :]
        if list(first) != folders or not rest or not rest[0].startswith(start):
            return False
        return _match_path(self.components, [rest[0].removeprefix(start), *rest[1:]])


class Rules:
    """The patterns of one file; paths are relative to that file's folder."""

    def __init__(self, data: bytes, budget: RuleBudget | None = None) -> None:
        """Raises RulesTooLargeError where they are more than the budget has."""
        self._patterns = tuple(_parse(data, budget))[::-1]

    def verdict(self, components: Sequence[bytes], directory: bool) -> bool | None:
        """True: ignored. False: a `!` pattern takes it in again. None: no pattern matches."""
        decides = self.deciding(components, directory)
        return None if decides is None else not decides.negative

    def deciding(self, components: Sequence[bytes], directory: bool) -> Pattern | None:
        """The pattern that says whether it is ignored; None: no pattern matches."""
        matching = (each for each in self._patterns if each.matches(components, directory))
        return next(matching, None)


def _parse(data: bytes, budget: RuleBudget | None) -> Iterator[Pattern]:
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        text = _strip_spaces(line.removesuffix(b"\r"))
        if not text or text.startswith(b"#"):
            continue
        if budget is not None:
            budget.count(text)
        try:
            with budget.spend() if budget is not None else nullcontext():
                pattern = _parse_line(text, number)
            yield pattern
        except _InvalidPatternError:
            continue


def _strip_spaces(line: bytes) -> bytes:
    """Without the spaces at the end, except one that a backslash protects."""
    stripped = line.rstrip(b" ")
    escapes = len(stripped) - len(stripped.rstrip(b"\\"))
    return stripped + b" " if escapes % 2 and len(stripped) < len(line) else stripped


def _parse_line(text: bytes, number: int) -> Pattern:
    negative = text.startswith(b"!")
    text = text.removeprefix(b"!")
    only_directory = text.endswith(b"/")
    text = text.removesuffix(b"/")
    name_only = b"/" not in text
    text = text.removeprefix(b"/")
    literal = b"" if name_only else _WILDCARD.split(text, maxsplit=1)[0]
    components: list[list[bytes]] = [[]]
    for token in _tokens(text.removeprefix(literal)):
        if token == _SLASH:
            components.append([])
        else:
            components[-1].append(token)
    compiled = tuple(None if _is_double_star(c) else _compile(c) for c in components)
    start = tuple(literal.split(b"/"))
    return Pattern(number, negative, only_directory, start, compiled, name_only)


def _is_double_star(tokens: list[bytes]) -> bool:
    return len(tokens) > 1 and set(tokens) == {_STAR}


def _tokens(text: bytes) -> Iterator[bytes]:
    """The pattern's parts: `*`, `/`, or a regular expression that matches exactly one byte."""
    position = 0
    while position < len(text):
        byte = text[position : position + 1]
        position += 1
        if byte == b"\\":
            byte = text[position : position + 1]
            position += 1
            if not byte:
                raise _InvalidPatternError
            yield byte if byte == _SLASH else re.escape(byte)
        elif byte == b"[":
            allowed, position = _bracket(text, position)
            yield _one_of(allowed)
        elif byte in (_STAR, _SLASH):
            yield byte
        else:
            yield b"." if byte == b"?" else re.escape(byte)


def _one_of(allowed: set[int]) -> bytes:
    if not allowed:
        return rb"(?!)"
    return b"[" + b"".join(b"\\x%02x" % value for value in sorted(allowed)) + b"]"


def _bracket(text: bytes, position: int) -> tuple[set[int], int]:
    """The bytes that the bracket expression at `position` matches, and the position after it.

    A slash is never among them.
    """
    negated = text[position : position + 1] in (b"!", b"^")
    position += negated
    listed: set[int] = set()
    previous = -1
    first = True
    while first or text[position : position + 1] != b"]":
        first = False
        previous, position = _bracket_item(text, position, previous, listed)
    allowed = set(range(1, 256)) - listed if negated else listed
    return allowed - {ord("/")}, position + 1


def _bracket_item(text: bytes, position: int, previous: int, listed: set[int]) -> tuple[int, int]:
    """Add the bytes of the item at `position` to `listed`.

    `previous` is the byte before it, which begins a range if a `-` follows; -1: there is none.
    Returns the byte that may begin the next range (or -1), and the position after the item.
    """
    byte = text[position : position + 1]
    if byte == b"[" and text[position + 1 : position + 2] == b":":
        end = text.find(b"]", position + 2)
        if end < 0:
            raise _InvalidPatternError
        if text[end - 1 : end] == b":" and end - 1 >= position + 2:
            name = text[position + 2 : end - 1]
            if name not in _CLASSES:
                raise _InvalidPatternError
            listed.update(_CLASSES[name].encode())
            return -1, end + 1
    following = text[position + 1 : position + 2]
    if byte == b"-" and previous >= 0 and following and following != b"]":
        last, position = _literal(text, position + 1)
        listed.update(range(previous, last + 1))
        return -1, position
    value, position = _literal(text, position)
    listed.add(value)
    return value, position


def _literal(text: bytes, position: int) -> tuple[int, int]:
    if text[position : position + 1] == b"\\":
        position += 1
    if position >= len(text):
        raise _InvalidPatternError
    return text[position], position + 1


def _compile(tokens: list[bytes]) -> re.Pattern[bytes]:
    """The regular expression for one component.

    Every token but `*` takes exactly one byte, so the text between two `*` may be matched at the
    first place where it fits, for good: hence the atomic groups.
    """
    runs: list[list[bytes]] = [[]]
    for token in tokens:
        if token != _STAR:
            runs[-1].append(token)
        elif runs[-1] or len(runs) == 1:
            runs.append([])
    first, *middle = (b"".join(run) for run in runs)
    if not middle:
        return re.compile(first + rb"\Z", re.DOTALL)
    last = middle.pop()
    jumps = b"".join(b"(?>.*?" + run + b")" for run in middle)
    return re.compile(first + jumps + b".*" + last + rb"\Z", re.DOTALL)


def _match_path(pattern: Sequence[re.Pattern[bytes] | None], components: Sequence[bytes]) -> bool:
    """Match a path, component by component; None (`**`) takes any number of them, at the end at
    least one.

    After a mismatch only the latest `**` takes one more: earlier ones need not be tried again.
    """
    at, i = 0, 0
    back: tuple[int, int] | None = None
    while i < len(components):
        left = at < len(pattern)
        current = pattern[at] if left else None
        if left and current is None:
            if at == len(pattern) - 1:
                return True
            back = (at, i)
            at += 1
        elif current is not None and current.match(components[i]):
            at, i = at + 1, i + 1
        elif back is not None:
            back = (back[0], back[1] + 1)
            at, i = back[0] + 1, back[1]
        else:
            return False
    return at == len(pattern)
