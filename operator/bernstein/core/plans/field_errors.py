"""Problems of a plan, and the checks of single values that find them.

A `path` is a place in the plan file, such as `stages[2].steps[0].role`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any, Final, TypeGuard, TypeVar

from pydantic.alias_generators import to_snake

from bernstein.api import money
from bernstein.api.meta import is_line
from bernstein.api.project import ProjectSpec
from bernstein.api.signals import LOOPBACK_URL

T = TypeVar("T")
FieldRule = Callable[[str, object], object]
Table = Mapping[str, FieldRule]
"""What is checked of a value, by the name of its field."""

_SHOWN = 80
_MOST_WORDS = 40
"""Of a list that a message shows."""
_LONGEST_WORD = 64
"""Characters of a word to which one is looked for that may have been meant."""
_FEW_CHARACTERS = 400
"""Of a list in which it is looked for by all likeness: that takes time that grows with the square
of the words."""
_MOST_NEAR = 200
"""Names of a longer list that are looked at."""
_TYPES: Final = (
    (type(None), "null"),
    (bool, "boolean"),  # before integers: Python's booleans are some
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    ((list, tuple), "array"),
    (dict, "mapping"),
    (date, "date"),
    (bytes, "binary"),
    (set, "set"),
)
_NUMBER = re.compile(r"\s*\$?\s*[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?\s*", re.ASCII)
_DOLLARS = ", with at most 9 digits before the point, 6 after it and no exponent"
"""Of what is no sum of money for its form alone."""
_LOOPBACK_URL = re.compile(LOOPBACK_URL)
_ALTERNATIVES = re.compile(r"\{[^{},]*,")


@dataclass(frozen=True, slots=True)
class FieldError:
    """A problem at a place; the message is the whole line that people read."""

    path: str
    message: str
    within: str = ""
    """The document that it is in, where a file has several."""

    @property
    def located(self) -> str:
        """The message, and the place where the message does not begin with it."""
        place, before = self.message.partition(": ")[0], f"{self.within}: " if self.within else ""
        if "[" not in self.path or self.path.startswith(place):
            return f"{before}{self.message}"
        return f"{before}{self.message} (at {self.path})"


@dataclass(frozen=True, slots=True)
class FieldErrors:
    """What is wrong with a plan file, and what may be wrong with it."""

    errors: tuple[FieldError, ...] = ()
    warnings: tuple[FieldError, ...] = ()


def listed(errors: Sequence[FieldError], limit: int) -> str:
    """A line for each, as many as fit in `limit` characters, and how many more there are."""
    lines: list[str] = []
    room = limit
    for number, error in enumerate(errors):
        room -= len(error.located) + 1
        if room < 0:
            return "\n".join([*lines, f"… and {len(errors) - number} more"])
        lines.append(error.located)
    return "\n".join(lines)


def path_of(location: Iterable[int | str]) -> str:
    """The place as people write it: `stages[0].steps[1].title`."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def type_name(value: object) -> str:
    """What YAML and JSON call the type of this value."""
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "value")


def quoted(value: object) -> str:
    """A string in quotes, cut short; a number or boolean as it is; of anything else its type."""
    return f"'{_cut(value)}'" if isinstance(value, str) else _plain(value)


def field_name(key: object) -> str:
    """A key as it stands in the place of a problem."""
    return _cut(key) if isinstance(key, str) else _plain(key)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return number(value) if isinstance(value, (int, float)) else type_name(value)


def number(value: float) -> str:
    """A number in digits, up to 30 of them: Python refuses to print thousands."""
    if isinstance(value, int) and abs(value) >= 10**30:
        return "a number of more than 30 digits"
    return str(value)


def _cut(value: str) -> str:
    return value if len(value) <= _SHOWN else value[:_SHOWN] + "…"


class Findings:
    """Collects problems; the checks of single values are its methods."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []
        self.warnings: list[FieldError] = []

    def error(self, path: str, message: str) -> None:
        """A problem whose message says by itself where it is."""
        self.errors.append(FieldError(path, message))

    def error_at(self, path: str, message: str) -> None:
        """A problem whose message gets its place in front."""
        self.errors.append(FieldError(path, f"{path}: {message}"))

    def warn_at(self, path: str, message: str) -> None:
        """What may be a problem; its message gets its place in front."""
        self.warnings.append(FieldError(path, f"{path}: {message}"))

    def is_of_type(self, value: object, kind: type[T], path: str, name: str) -> TypeGuard[T]:
        if isinstance(value, kind) and not (kind is int and isinstance(value, bool)):
            return True
        self.error_at(path, f"expected type {name}, got {type_name(value)}")
        return False

    def is_string(self, value: object, path: str) -> TypeGuard[str]:
        return self.is_of_type(value, str, path, "string")

    def text(self, path: str, value: object) -> None:
        """A string of any number of lines."""
        if self.is_string(value, path) and "\0" in value:
            self.error_at(path, "must not contain the character NUL")

    def line(self, path: str, value: object) -> bool:
        """A string on one line; white space around it does not count."""
        if not self.is_string(value, path):
            return False
        if not value.strip():
            self.error_at(path, "must not be empty")
        elif not is_line(value.strip()):
            self.error_at(path, "must be a single line without control or invisible characters")
        else:
            return True
        return False

    def integer(self, path: str, value: object, minimum: int, maximum: int) -> bool:
        if not self.is_of_type(value, int, path, "integer"):
            return False
        if value < minimum:
            self.error_at(path, f"must be >= {minimum}")
        elif value > maximum:
            self.error_at(path, f"must be <= {maximum}")
        return minimum <= value <= maximum

    def rank(self, path: str, value: object, minimum: int, maximum: int) -> None:
        """An integer on a short scale; the message names both ends."""
        within = self.is_of_type(value, int, path, "integer") and minimum <= value <= maximum
        if isinstance(value, int) and not isinstance(value, bool) and not within:
            self.error_at(path, f"must be between {minimum} and {maximum}, got {number(value)}")

    def boolean(self, path: str, value: object) -> None:
        self.is_of_type(value, bool, path, "boolean")

    def choice(self, path: str, value: object, allowed: Iterable[str]) -> None:
        if self.is_string(value, path) and value not in allowed:
            self.error_at(path, invalid_choice(value, allowed))

    def items(self, path: str, value: object, check: Callable[[str, object], object]) -> None:
        """An array whose items pass `check(path, item)`."""
        if self.is_of_type(value, list, path, "array"):
            for index, item in enumerate(value):
                check(f"{path}[{index}]", item)

    def fields(self, path: str, data: Mapping[Any, Any], table: Table, hint: str = "") -> None:
        """The fields of a mapping. `hint`: what is said of a `depends_on` that is none of them."""
        for key, value in data.items():
            if isinstance(key, str) and key in table:
                table[key](f"{path}.{key}", value)
            else:
                why = hint if key == "depends_on" and hint else did_you_mean(key, table)
                place = f"{path}.{field_name(key)}"
                self.error(place, f"{path}: unknown field {quoted(key)}{why}")

    def relative_path(self, path: str, value: object) -> None:
        """A path or glob below the root of the repository."""
        if not self.line(path, value) or not isinstance(value, str):
            return
        if value.startswith("/") or ".." in value.split("/"):
            self.error_at(path, "must be relative to the repository and may not leave it")
        elif _ALTERNATIVES.search(value):
            self.warn_at(path, "braces are not expanded: write an entry for each alternative")

    def loopback_url(self, path: str, value: object) -> None:
        """The path of a service that a check starts; a host is none but this one."""
        if self.is_string(value, path) and not _LOOPBACK_URL.fullmatch(value):
            told = "must be a path such as /health, or http://localhost:$PORT/health"
            self.error_at(path, f"{told}: the check chooses the port")

    def sum_of_money(self, path: str, value: object) -> None:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            self.error_at(path, f"expected type string or number, got {type_name(value)}")
        elif money.parse(value) is None:
            form = _DOLLARS if _is_number(value) else ""
            told = f'expected US dollars such as "$5" or 5.00{form}, got {quoted(value)}'
            self.error_at(path, told)


def _is_number(value: str | int | float) -> bool:
    """Whether it is a sum of money but for its form."""
    return bool(_NUMBER.fullmatch(value)) if isinstance(value, str) else value >= 0


def invalid_choice(value: str, allowed: Iterable[str]) -> str:
    """The message for a word that is none of the allowed ones."""
    known = list(allowed)
    return (
        f"invalid value {quoted(value)}, must be one of {words(known)}{did_you_mean(value, known)}"
    )


def words(known: Iterable[str]) -> str:
    """A list as people read it; of a longer one its beginning."""
    every = list(known)
    more = f", … {len(every) - _MOST_WORDS} more" if len(every) > _MOST_WORDS else ""
    return f"[{', '.join(every[:_MOST_WORDS])}{more}]"


def no_agent(name: str, project: ProjectSpec) -> str:
    """The message for a `cli` that is none of the Project's agents, nor the adapter of just one."""
    several = [agent.name for agent in project.agents_of(name)]
    if several:
        return f"{quoted(name)} is the adapter of several agents, must be one of {words(several)}"
    return invalid_choice(name, ("auto", *(agent.name for agent in project.agents)))


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """The end of a message: the known word that this one is close to; "" where there is none."""
    if not isinstance(word, str):
        return ""
    given, names = word[:_LONGEST_WORD], tuple(known)
    if sum(map(len, names)) <= _FEW_CHARACTERS:
        alike = difflib.get_close_matches(to_snake(given), names, n=1, cutoff=0.75)
        close = alike[0] if alike else None
    else:
        close = _one_away(given, names)
    return f", did you mean '{close}'?" if close else ""


def _one_away(word: str, names: tuple[str, ...]) -> str | None:
    """The name that differs from the word by one character, or by one that stands elsewhere. In
    time linear in the word, for lists that a plan or a namespace makes as long as it likes."""
    near = _near(names)
    return next((near[each] for each in _shorter(word) if each in near), None)


@lru_cache(maxsize=16)
def _near(names: tuple[str, ...]) -> Mapping[str, str]:
    """Each name by what is left of it without one character."""
    few = [name for name in names[:_MOST_NEAR] if len(name) <= _LONGEST_WORD]
    return {each: name for name in reversed(few) for each in _shorter(name)}


def _shorter(word: str) -> Iterator[str]:
    """The word, and what is left of it without one character."""
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]
