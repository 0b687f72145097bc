"""Which tests does a runner list in the base, and not in the work any more?

Names tell what words of files do not: rows of a table with a name of its own, subclasses, and files
that a setting or a change of the code keeps from being collected. A test is known by its name. In
names as pytest gives them, `file::Class::test[row]`, a file that is renamed, a test that moves to
another file under its name, other rows of the same test and a test under another name in its file
are known as well.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO

from bernstein.checks import renames
from bernstein.checks.findings import NoListing, shown
from bernstein.checks.outputs import functions
from bernstein.checks.renames import Content

PYTEST = "pytest"
NAMES = "names"
"""Any command: a name on each line."""
FORMS = (PYTEST, NAMES)
MOST = 100_000
"""Tests of one list. Work that has more is rejected: with it as its base no other work could be
compared."""
MOST_BYTES = 10_000_000
"""Of one list."""
_SEPARATOR = "::"
_SUM = re.compile(
    r"(?:\d{1,9}/)?(?P<all>\d{1,9}) tests? collected(?: \((?P<out>\d{1,9}) deselected\))? in "
)

TOO_LONG = "the list of the work's tests is too long to be compared"
"""What begins what is told of it."""


class TooLong(NoListing):
    """It is over MOST or MOST_BYTES."""


Names = Mapping[str, int]
"""How often each test is listed."""


def names(form: str, output: bytes) -> Names:
    """The tests in what the command has printed. Raises NoListing; TooLong of one that is so."""
    if len(output) > MOST_BYTES:
        raise TooLong(f"there are over {MOST_BYTES} bytes")
    listed, count, last = Counter[str](), 0, ""
    for line in BytesIO(output):
        text = line.decode(errors="replace").strip()
        last = text or last
        if text and (form != PYTEST or _SEPARATOR in text):
            listed[text] += 1
            count += 1
        if count > MOST:
            raise TooLong(f"there are over {MOST} names")
    if form == PYTEST and count != _sum(last):
        raise NoListing("it is no list of pytest")
    if not count:
        raise NoListing("it lists none")
    return listed


def _sum(line: str) -> int | None:
    """How many tests there are by the last line of pytest; None: it is another one."""
    end = _SUM.match(line)
    return int(end["all"]) - int(end["out"] or 0) if end is not None else None


@dataclass(frozen=True, slots=True)
class _Test:
    """A test that the work does not list by its name."""

    name: str
    now: str
    """Its name, if its file has another one now."""


_Key = Callable[[str], str]


def lost(before: Names, after: Names, content_before: Content, content_after: Content) -> list[str]:
    """Names of the tests that the work does not list any more, as the base lists them, in order."""
    gone = [*(Counter(before) - Counter(after)).elements()]
    new = [*(Counter(after) - Counter(before)).elements()]
    if not gone or not new:
        return sorted(gone)
    was = renames.renamed(_files(gone), content_before, _files(new), content_after)
    now = {old: path for path, old in was.items()}
    left = [_Test(name, _in(name, now)) for name in gone]
    for key in (_whole, _function, _tail):
        left, new = _without_pairs(left, new, key)
    renamed = _renamed(left, new, lambda path: content_before(was.get(path, path)), content_after)
    left, _ = _without_pairs(left, new, _function, renamed)
    return sorted(test.name for test in left)


def _without_pairs(
    gone: Iterable[_Test], new: Iterable[str], key: _Key, renamed: Mapping[str, str] = {}
) -> tuple[list[_Test], list[str]]:
    """Those of both that have none with the same key in the other, each counted once. `renamed`:
    the key that a test has in the work, by that of the base."""
    free: dict[str, list[str]] = {}
    for name in new:
        free.setdefault(key(name), []).append(name)
    left = []
    for test in gone:
        was = key(test.now)
        same = free.get(renamed.get(was, was))
        if same:
            same.pop()
        else:
            left.append(test)
    return left, [name for names_ in free.values() for name in names_]


def _renamed(
    gone: Iterable[_Test], new: Iterable[str], content_before: Content, content_after: Content
) -> Mapping[str, str]:
    """The function that each is in its file now, by content."""
    was = dict.fromkeys((_function(test.now) for test in gone), 0)
    has = {_function(name) for name in new}
    is_now = functions.under_new_names(was, has, content_before, content_after)
    return dict(zip(was, is_now, strict=True))


def _files(listed: Iterable[str]) -> Iterable[str]:
    return (name.partition(_SEPARATOR)[0] for name in listed if _SEPARATOR in name)


def _in(name: str, now: Mapping[str, str]) -> str:
    path, separator, rest = name.partition(_SEPARATOR)
    return f"{now.get(path, path)}{separator}{rest}"


def _whole(name: str) -> str:
    return name


def _function(name: str) -> str:
    """Without its row."""
    path, separator, rest = name.partition(_SEPARATOR)
    return f"{path}{separator}{rest.partition('[')[0]}"


def _tail(name: str) -> str:
    """Without its file."""
    return name.partition(_SEPARATOR)[2] or name


def told(gone: list[str], of: Names) -> str:
    """What is lost, in words: in the first line how many, then the first of them."""
    all_ = sum(of.values())
    return f"{len(gone)} of {all_} tests are not collected any more:\n{shown(gone)}"


_FIRST = re.compile(r"(\d+ of \d+) tests are not collected any more:\n([^\n]+)")


def in_short(excerpt: str) -> tuple[str, str] | None:
    """How many of how many, and the name of the first, in what was told; None: not that."""
    found = _FIRST.match(excerpt)
    return (found[1], found[2]) if found else None
