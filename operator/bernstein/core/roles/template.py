"""Templates of prompts: texts with places for what a Task says.

    {{NAME}}                     the value
    {{#IF NAME}} … {{/IF}}       what stands between, where there is a value

That is all that there is: nothing is executed, conditions do not lie in each other, and what a
value contains is never read as a template. To read and to fill one takes time that grows with its
length, and with what comes out of it, alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

TASK_TITLE, TASK_DESCRIPTION, TASK_ID = "TASK_TITLE", "TASK_DESCRIPTION", "TASK_ID"
FILES, CONSTRAINTS, COMPLETION_SIGNALS = "FILES", "CONSTRAINTS", "COMPLETION_SIGNALS"
GOAL, CONTEXT, PREVIOUS_FAILURES = "GOAL", "CONTEXT", "PREVIOUS_FAILURES"
ROLE, REPO = "ROLE", "REPO"
NAMES = (
    *(TASK_TITLE, TASK_DESCRIPTION, TASK_ID, GOAL, FILES, CONSTRAINTS, COMPLETION_SIGNALS),
    *(CONTEXT, PREVIOUS_FAILURES, ROLE, REPO),
)
"""What a template may name, in the order of the documentation."""
MOST_PLACES = 100
"""Places for values, and conditions, of one template."""
LONGEST = 65_536
"""Bytes of a template that is filled; then the rest is left out, and that is said."""
MOST_PROBLEMS = 20

_OPEN, _CLOSE, _IF, _END = "{{", "}}", "#IF ", "/IF"
_LONGEST_WORD = 40
"""Characters between braces: what is longer is not meant as a name."""
_FORMS = "write {{NAME}}, or {{#IF NAME}} … {{/IF}}"
_CUT = f"\n(Cut here: a template that is filled has at most {LONGEST:,} bytes.)"


class Problem(NamedTuple):
    """What is wrong with a template, and where."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"


@dataclass(frozen=True, slots=True)
class _Text:
    text: str


@dataclass(frozen=True, slots=True)
class _Place:
    """Between braces; `word` is None where there is no end."""

    word: str | None
    at: int


class _Positions:
    """Line and column of places that are asked for from the first to the last."""

    def __init__(self, text: str) -> None:
        self._text, self._line, self._begin = text, 1, 0
        self._seen = 0

    def of(self, at: int) -> tuple[int, int]:
        breaks = self._text.count("\n", self._seen, at)
        if breaks:
            self._line += breaks
            self._begin = self._text.rfind("\n", self._seen, at) + 1
        self._seen = at
        return self._line, at - self._begin + 1


def problems(text: str, needs: str | None = None) -> tuple[Problem, ...]:
    """All that is wrong with it, from the first line to the last; the first MOST_PROBLEMS of it.

    `needs`: a name whose value it has to tell wherever there is one.
    """
    check = _Check(text)
    for token in _tokens(text):
        if len(check.found) >= MOST_PROBLEMS:
            break
        if isinstance(token, _Place):
            check.place(token)
    check.end()
    if needs is not None and not check.found and needs not in check.told:
        where = "in each case" if f"{_OPEN}{needs}{_CLOSE}" in text else "anywhere"
        message = f"does not say {{{{{needs}}}}} {where}: what a Task asks for has to be told"
        check.found.append(Problem(1, 1, message))
    return tuple(sorted(check.found)[:MOST_PROBLEMS])


class _Check:
    """Goes through the places of a template."""

    def __init__(self, text: str) -> None:
        self.found: list[Problem] = []
        self.told: set[str] = set()
        """Names whose value it tells wherever there is one."""
        self._positions = _Positions(text)
        self._condition: tuple[str, tuple[int, int]] | None = None
        """The name that is asked for, and where, while that has no end yet."""
        self._places = 0

    def place(self, token: _Place) -> None:
        where = self._positions.of(token.at)
        message = self._judged(token.word, where)
        self._places += 1
        if self._places == MOST_PLACES + 1:
            message = f"more than {MOST_PLACES} places: a template has fewer"
        if message:
            self.found.append(Problem(*where, message))

    def _judged(self, word: str | None, where: tuple[int, int]) -> str:
        """What is wrong there; "" for nothing."""
        if word is None:
            return f"'{_OPEN}' begins a place that has no end: {_FORMS}"
        if word == _END:
            begun, self._condition = self._condition, None
            return "" if begun is not None else "{{/IF}} ends nothing: no {{#IF NAME}} is before it"
        if word.startswith(_IF):
            name = word.removeprefix(_IF)
            if self._condition is not None:
                end = f"end that of line {self._condition[1][0]} before with {{{{/IF}}}}"
                return f"conditions cannot lie in each other: {end}"
            self._condition = name, where
            return _unknown(name)
        if self._condition is None or self._condition[0] == word:
            self.told.add(word)
        return _unknown(word)

    def end(self) -> None:
        if self._condition is not None:
            name, where = self._condition
            text = f"{{{{#IF {name}}}}} has no end: write {{{{/IF}}}} after what it is about"
            self.found.append(Problem(*where, text))


def _unknown(name: str) -> str:
    if name in NAMES:
        return ""
    meant = name.strip().upper()
    if meant in NAMES:
        return f"unknown name '{name}': write {meant}, in capitals and without spaces"
    return f"unknown name '{name}', must be one of [{', '.join(NAMES)}]"


def filled(text: str, values: Mapping[str, str]) -> str:
    """The template with these values; a name that is not among them has none.

    Of a text with problems it makes what it can: nobody uses one.
    """
    shown, parts, size = True, list[str](), 0
    for token in _tokens(text):
        if isinstance(token, _Text):
            part = token.text
        elif token.word is None:
            part = _OPEN
        elif token.word == _END:
            shown, part = True, ""
        elif token.word.startswith(_IF):
            shown, part = bool(values.get(token.word.removeprefix(_IF))), ""
        else:
            part = values.get(token.word, "")
        if shown:
            parts.append(part)
            size += len(part)
        if size > LONGEST:
            break
    return _bounded("".join(parts).strip())


def _bounded(text: str) -> str:
    whole = text.encode("utf-8", "replace")
    if len(whole) <= LONGEST:
        return text
    return whole[: LONGEST - len(_CUT)].decode("utf-8", "ignore") + _CUT


def _tokens(text: str) -> Iterator[_Text | _Place]:
    """What stands between places, and the places, in order."""
    position = 0
    while (begin := text.find(_OPEN, position)) >= 0:
        if begin > position:
            yield _Text(text[position:begin])
        within = begin + len(_OPEN)
        end = text.find(_CLOSE, within, within + _LONGEST_WORD + len(_CLOSE))
        word = text[within:end] if end >= 0 else None
        if word is not None and (_OPEN in word or "\n" in word):
            word = None
        yield _Place(word, begin)
        position = within if word is None else end + len(_CLOSE)
    if position < len(text):
        yield _Text(text[position:])
