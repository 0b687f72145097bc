"""Which paths a glob names, in time linear in glob and path.

Users write the globs, and the operator matches them in its own loop. A regular expression made from
a glob may backtrack for minutes; here every character of a path is read once, whatever the glob.
What a Task owns is told by the same globs, so that it is what the schedule keeps others from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain

_WILDCARD = re.compile(r"[*?\[\\]")
_GLOBSTAR = re.compile(r"\*\*+\Z")
_EMPTY_NAME = re.compile(r"(?:^|/)\.?(?:/|\Z)")
_BRACKET = re.compile(r"\[([!^]?+)(?!\])(-?(?:[^][\\-](?:-[^][\\-])?)*+-?)\]")
_RANGE = re.compile(r"(.)-(.)", re.DOTALL)
_OF_BRACKETS = "/![]^-\\"
_WIDEST = 64
"""Characters that a bracket may list; one with more stands for any character."""


UNKNOWN = "\0"
"""In a path, stands for any characters of one name, or for none: only a star takes it. Git knows no
path with it."""


class _Sign(Enum):
    SLASH = "/"
    STAR = "*"
    """Any characters of one name."""
    GLOBSTAR = "**/"
    """Any number of folders."""


@dataclass(frozen=True, slots=True)
class _Character:
    """One character: one of these or, negated, none of these."""

    one_of: str
    negated: bool = False


_ANY = _Character("", negated=True)
_Token = _Sign | _Character


def first_wildcard(path: str) -> int | None:
    """Where the first wildcard is; None: there is none. Braces are plain characters."""
    found = _WILDCARD.search(path)
    return found.start() if found is not None else None


def plain(path: str) -> str:
    """The path or glob without `.` components and empty ones; "" is the root."""
    if not _EMPTY_NAME.search(path):
        return path
    return "/".join(part for part in path.split("/") if part not in {"", "."})


@dataclass(slots=True)
class Glob:
    """A glob as an automaton whose states are the bits of a number.

    Bit n stands for "the first n tokens have been read". A leading dot is like any character. A
    component that is written in a rarer way (with a backslash, or a bracket with a class or without
    an end) stands for any name, so that the glob never names less than it should.
    """

    size: int = 0
    """Tokens, and the characters in their brackets."""
    tail: str = ""
    """Plain characters that end every path it names."""
    _characters: dict[str, int] = field(default_factory=dict)
    """For each character that some token lists: the tokens that take it."""
    _others: int = 0
    """The tokens that take every other character."""
    _slash: int = 0
    _star: int = 0
    _globstar: int = 0
    _end: int = 1

    @classmethod
    def of(cls, components: Sequence[str]) -> Glob:
        """The glob of these components of a path."""
        glob, excluded = cls(), dict[str, int]()
        for token in _tokens(components):
            if isinstance(token, _Character):
                glob._add_character(token, excluded)
            else:
                glob._add_sign(token)
            glob._end <<= 1
        for char in glob._characters.keys() | excluded.keys():
            others = glob._others & ~excluded.get(char, 0)
            glob._characters[char] = glob._characters.get(char, 0) | others
        glob._characters[UNKNOWN] = 0
        return glob

    def _add_sign(self, sign: _Sign) -> None:
        bit = self._end
        if sign is _Sign.SLASH:
            self._slash |= bit
        elif sign is _Sign.STAR:
            self._star |= bit
        else:
            self._globstar |= bit
        self.tail = ""
        self.size += 1

    def _add_character(self, token: _Character, excluded: dict[str, int]) -> None:
        bit = self._end
        if token.negated:
            self._others |= bit
        table = excluded if token.negated else self._characters
        for char in token.one_of:
            table[char] = table.get(char, 0) | bit
        plain = len(token.one_of) == 1 and not token.negated
        self.tail = self.tail + token.one_of if plain else ""
        self.size += 1 + len(token.one_of)

    def names(self, path: str) -> bool:
        """Whether the path, without a slash at its end, matches."""
        return bool(self._read(path) & self._end)

    def names_or_enters(self, path: str) -> bool:
        """Whether the path, or some path below it, matches."""
        state = self._read(path)
        return bool(state & (self._end | self._slash | self._globstar))

    @property
    def is_open(self) -> bool:
        """Whether it ends with `**`, so that what it names may lie as deep as it likes."""
        return bool(self._star & self._end >> 1) and bool(self._globstar & self._end >> 2)

    def names_all_in(self, folder: str) -> bool:
        """Whether every path in the folder matches; it ends with a slash, but for the root ("")."""
        return self.is_open and bool(self._read(folder) & self._end >> 2)

    def _read(self, path: str) -> int:
        """The states after the whole path."""
        star, stays = self._star, self._star | self._globstar
        taking, others = self._characters.get, self._others
        state = self._enter(1)
        for char in path:
            if char == "/":
                state = self._enter((state & self._slash) << 1 | state & self._globstar)
            else:
                state = (state & taking(char, others)) << 1 | state & stays
                state |= (state & star) << 1
            if not state:
                break
        return state

    def _enter(self, state: int) -> int:
        """The states at the beginning of a name, where `**` and `*` may also stand for nothing."""
        state |= (state & self._globstar) << 1
        return state | (state & self._star) << 1


class Listed:
    """The files of a list: what its paths name, with all below them, and what its globs match."""

    def __init__(self, files: Iterable[str]) -> None:
        entries = [plain(entry) for entry in files]
        self._paths = {entry for entry in entries if first_wildcard(entry) is None}
        self._globs = [Glob.of(each.split("/")) for each in entries if each not in self._paths]

    def holds(self, path: str) -> bool:
        """Whether the path is one of them."""
        if "" in self._paths or path in self._paths:
            return True
        parts = path.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        if any(folder in self._paths for folder in above):
            return True
        return any(path.endswith(glob.tail) and glob.names(path) for glob in self._globs)

    def holds_all_in(self, path: str) -> bool:
        """Whether the path is one of them and, were it a folder, all that is in it."""
        parts = path.split("/")
        paths = ("/".join(parts[:depth]) for depth in range(len(parts) + 1))
        if any(each in self._paths for each in paths):
            return True
        return self.holds(path) and any(glob.names_all_in(f"{path}/") for glob in self._globs)


def exactly(path: str) -> str | None:
    """A glob that names the path, and nothing that is in it, were it a folder; None: there is none
    of that, as its characters all have a meaning in brackets."""
    last = next((at for at in reversed(range(len(path))) if path[at] not in _OF_BRACKETS), None)
    return None if last is None else f"{path[:last]}[{path[last]}]{path[last + 1 :]}"


def _tokens(components: Sequence[str]) -> Iterator[_Token]:
    """The tokens of a glob, without two stars or two globstars in a row."""
    last = len(components) - 1
    after_globstar = False
    for index, component in enumerate(components):
        if _GLOBSTAR.match(component):
            if not after_globstar:
                yield _Sign.GLOBSTAR
            after_globstar = True
            if index == last:
                yield _Sign.STAR
        else:
            yield from _name(component)
            after_globstar = False
            if index < last:
                yield _Sign.SLASH


def _name(component: str) -> Iterable[_Token]:
    """The tokens of one component other than `**`."""
    tokens: list[_Token] = []
    position = 0
    while position < len(component):
        char = component[position]
        bracket = _BRACKET.match(component, position) if char == "[" else None
        if bracket is not None:
            tokens.append(_one_of(*bracket.groups()))
            position = bracket.end()
            continue
        if char in "[\\":
            return [_Sign.STAR]
        position += 1
        if char != "*":
            tokens.append(_ANY if char == "?" else _Character(char))
        elif not tokens or tokens[-1] is not _Sign.STAR:
            tokens.append(_Sign.STAR)
    return tokens


def _one_of(negation: str, items: str) -> _Character:
    ranges = [range(ord(low), ord(high) + 1) for low, high in _RANGE.findall(items)]
    singles = _RANGE.sub("", items)
    if len(singles) + sum(map(len, ranges)) > _WIDEST:
        return _ANY
    return _Character(singles + "".join(map(chr, chain(*ranges))), bool(negation))
