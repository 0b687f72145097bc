"""Does a change weaken tests that were there? Deleted, with fewer assertions or rows, or skipped.

What decides how they are run, such as a `conftest.py`, may not change but for what does nothing by
itself. Tests are counted, not understood: what counts the same before and after may still test
less. A test that moves, in its file or to another one, is the same test, and so is one that gets
another name in its file and asserts no less.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from bernstein.checks.changes import is_test
from bernstein.checks.weakening import (
    counted_tests,
    hiding,
    pytest_settings,
    rebound_tests,
    script_settings,
    source_encoding,
    test_support,
)
from bernstein.checks.weakening.counted_tests import Part
from bernstein.checks.weakening.test_support import Content

_FOR_ALL = test_support.CONFTEST
"""What stands in such a file holds of tests in other files, too."""
_NAME = 100
_SETTINGS = 300
_PYTHON = (".py", ".pyi")
_PLUGINS = b"pytest_plugins"
_CANDIDATES = 50
"""That are looked at for a test of another name."""
_NOTHING = Part("", 0, 0)
_REBOUND = "is bound again: only what comes last is run"
_TOO_LARGE = "is too large, or too deep, to tell which of its tests are run"
_A_TOOL = "may be taken for a tool that runs tests, or for what it imports"

Contents = Mapping[str, bytes]
"""By path."""


@dataclass(frozen=True, slots=True)
class Weakened:
    """A file of tests, and what was taken from one of them or from all."""

    path: str
    what: str

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


@dataclass(frozen=True, slots=True)
class _Test:
    """A test of one of the trees."""

    path: str
    part: Part
    collected: bool


def is_looked_at(path: str) -> bool:
    """Whether such a file may hold tests that are counted, or say which of them are run."""
    if says_which(path) or posixpath.basename(path) == hiding.MODULE:
        return True
    return is_test(path) and counted_tests.is_read(path)


def says_which(path: str) -> bool:
    """Whether a runner of tests may be configured there."""
    return pytest_settings.is_one(path) or script_settings.is_one(path)


@dataclass(frozen=True, slots=True)
class Support:
    """What of a change decides how tests are run."""

    in_place: Mapping[str, str] = field(default_factory=dict)
    """Paths that differ and that may be taken for something else, such as a tool that runs tests,
    with what is told of that."""
    files: test_support.Functions | None = field(default_factory=dict)
    """Each `conftest.py` and what it brings in, whether it differs or not, with its functions;
    None: too many."""
    links: Collection[str] = ()
    """Paths that differ and are symbolic links now."""
    configured: Collection[str] = ()
    """Configurations of pytest that are as they were, in or above the folder of one that differs.
    """
    hidden: hiding.Hidden = field(default_factory=dict)
    """Folders in which tests are not looked for because of a path that differs."""
    others: Collection[str] = ()
    """Files of tests that are as they were, sorted; not known where nothing hides them."""

    def holds(self, path: str) -> bool:
        """Whether it is looked at for that."""
        name = posixpath.basename(path)
        return (
            path in (self.files or ())
            or name == _FOR_ALL
            or (name == test_support.PACKAGE and is_test(path))
        )


def support_of(
    changed: Iterable[str], paths: Iterable[str], content: Content, links: Collection[str] = ()
) -> Support:
    """`changed`: the paths that differ; `links`: those of them that are symbolic links now;
    `paths`, `content`: of the tree as it is."""
    differ, there = {*changed}, {*paths}
    in_place = {path: _A_TOOL for path in differ if test_support.shadows(path)}
    in_place |= {path: what for path in differ if (what := hiding.in_place(path, there))}
    brought_in = test_support.brought_in(there | differ, content)
    hidden = hiding.hidden(differ, there)
    hides = hidden or any(map(script_settings.is_one, differ))
    others = filter(counted_tests.is_read, there - differ if hides else ())
    return Support(
        in_place,
        brought_in,
        links,
        _configured(differ, there - differ, content),
        hidden,
        sorted(filter(is_test, others)),
    )


def _configured(differ: Collection[str], others: Collection[str], content: Content) -> list[str]:
    above = set[str]()
    for path in filter(pytest_settings.is_one, differ):
        folder = posixpath.dirname(path)
        while folder not in above:
            above.add(folder)
            folder = posixpath.dirname(folder)
    found, read = list[str](), 0
    for path in sorted(filter(pytest_settings.is_one, others if above else ())):
        if posixpath.dirname(path) not in above:
            continue
        read += 1
        text = content(path) if read <= test_support.MOST_FILES else None
        if text is None or pytest_settings.is_taken(path, text):
            found.append(path)
    return found


def _and_above(folder: str) -> Iterator[str]:
    yield folder
    while folder:
        folder = posixpath.dirname(folder)
        yield folder


def weakened(before: Contents, after: Contents, support: Support | None = None) -> list[Weakened]:
    """What the change takes from tests that existed, in the order of their paths.

    `before`, `after`: the files that differ and are looked at, as they were and as they are.
    """
    support = support or Support()
    found = [*_of_links({*before, *after}, support)]
    linked = {each.path for each in found}
    before, after = (
        {path: content for path, content in tree.items() if path not in linked}
        for tree in (before, after)
    )
    hidden = {folder: by for folder, by in support.hidden.items() if by not in before}
    heads_before, old = _read(before, {})
    heads_after, new = _read(after, hidden)
    pairs, gone = _paired(old, new)
    found += [*_of_settings(before, after, support), *_of_heads(heads_before, heads_after)]
    found += _of_script_settings(before, after, support)
    found += [*_of_hidden(hidden, support.others), *_of_sources(before, after)]
    found += _of_names(before, after, pairs)
    found += (Weakened(was.path, what) for was, now in pairs for what in _of_pair(was, now))
    if not any(test.part.is_async for test in old):
        found += _of_async(pairs)
    found += _of_gone(gone, Counter(test.path for test in old), after)
    found += _of_support(before, after, support, {each.path for each in found})
    return sorted(found, key=lambda each: each.path)


def _of_links(looked_at: Iterable[str], support: Support) -> Iterator[Weakened]:
    """What a link leads to is no part of it: tests, hooks or settings may be anywhere."""
    for path in looked_at:
        if path in support.links:
            yield Weakened(path, "is a symbolic link: what tests are run there is not known")


def _of_hidden(hidden: hiding.Hidden, others: Iterable[str]) -> Iterator[Weakened]:
    """Of tests that are as they were, in folders that a runner passes over now."""
    first: dict[str, str] = {}
    for path in filter(counted_tests.is_collected, others if hidden else ()):
        by = hiding.hidden_by(path, hidden)
        if by is not None:
            first.setdefault(by, path)
    for by, path in first.items():
        yield Weakened(by, f"keeps tests from being looked for, such as those in {path}")


def _of_names(before: Contents, after: Contents, pairs: _Pairs) -> Iterator[Weakened]:
    """Of tests in Python: names that stand for something else now."""
    for path, now in after.items():
        was = before.get(path, b"")
        if not path.endswith(_PYTHON) or not was:
            continue
        for name in rebound_tests.newly_rebound(was, now):
            yield Weakened(path, f"{name[:_NAME]} {_REBOUND}")
        if rebound_tests.outgrows(was, now):
            yield Weakened(path, _TOO_LARGE)
    moved: dict[str, set[str]] = {}
    for test, is_now in pairs:
        if is_now.path not in before and is_now.path.endswith(_PYTHON):
            moved.setdefault(is_now.path, set()).add(test.part.name)
    for path, names in moved.items():
        if rebound_tests.outgrows(b"", after[path]):
            yield Weakened(path, _TOO_LARGE)
        for name in sorted(names & rebound_tests.rebound(after[path])):
            yield Weakened(path, f"{name[:_NAME]} {_REBOUND}")


def _of_sources(before: Contents, after: Contents) -> Iterator[Weakened]:
    """Of files in Python: plugins for all tests, and an encoding in which they say other things."""
    for path, now in after.items():
        was = before.get(path, b"")
        if not path.endswith(_PYTHON):
            continue
        if _PLUGINS in now and _PLUGINS not in was and posixpath.basename(path) != _FOR_ALL:
            yield Weakened(path, "brings in a plugin, which holds for all tests")
        encoding = source_encoding.unusual(now)
        if encoding and encoding != source_encoding.unusual(was):
            yield Weakened(path, f"is written in {encoding}: what it says is not known")


def _read(contents: Contents, hidden: hiding.Hidden) -> tuple[dict[str, Part], list[_Test]]:
    """What stands before the tests of each file, and all tests."""
    heads, tests = dict[str, Part](), list[_Test]()
    for path, content in sorted(contents.items()):
        if not counted_tests.is_read(path) or says_which(path):
            continue
        heads[path], *parts = counted_tests.parts(path, content)
        collected = counted_tests.is_collected(path) and not hiding.hidden_by(path, hidden)
        tests += (_Test(path, part, collected) for part in parts)
    return heads, tests


_Pairs = list[tuple[_Test, _Test]]


def _paired(old: Iterable[_Test], new: Iterable[_Test]) -> tuple[_Pairs, list[_Test]]:
    """Each test with what it is now, and those that are nothing any more."""
    pairs: _Pairs = []
    left, free = list(old), list(new)
    for same in (_in_its_place, _of_its_name, _of_its_file):
        by_key: dict[str, list[_Test]] = {}
        for test in free:
            by_key.setdefault(same(test), []).append(test)
        unpaired, taken = list[_Test](), set[int]()
        for test in left:
            now = _taken(test, by_key.get(same(test), []))
            if now is None:
                unpaired.append(test)
            else:
                taken.add(id(now))
                pairs.append((test, now))
        left, free = unpaired, [test for test in free if id(test) not in taken]
    return pairs, left


def _in_its_place(test: _Test) -> str:
    return f"{test.path}\0{test.part.name}"


def _of_its_name(test: _Test) -> str:
    return test.part.name


def _of_its_file(test: _Test) -> str:
    return test.path


def _taken(test: _Test, candidates: list[_Test]) -> _Test | None:
    """What the test is now, taken out of the candidates; one of another name must be no weaker."""
    for place, now in enumerate(candidates[:_CANDIDATES]):
        if now.part.name == test.part.name or not any(_of_pair(test, now)):
            return candidates.pop(place)
    return None


def _of_pair(was: _Test, now: _Test) -> Iterator[str]:
    name = _shown(was.part.name)
    if was.collected and not now.collected:
        yield f"{name} is in {now.path}, where no tests are looked for"
    fewer = was.part.assertions - now.part.assertions
    if fewer > 0:
        yield f"{name} has {now.part.assertions} of {was.part.assertions} assertions left"
    if now.part.rows < was.part.rows:
        yield f"{name} has {now.part.rows} of {was.part.rows} rows left"
    if now.part.skips > was.part.skips:
        yield f"{name} is marked as one to skip, or ends early"
    if now.part.swallows > was.part.swallows:
        yield f"{name} passes over assertions that fail"


def _of_async(pairs: _Pairs) -> Iterator[Weakened]:
    """Where no test that differs was asynchronous, nothing shows that there is a plugin for it."""
    for was, now in pairs:
        if now.part.is_async and not was.part.is_async:
            name = _shown(was.part.name)
            yield Weakened(was.path, f"{name} becomes async: pytest runs none without a plugin")


def _of_settings(before: Contents, after: Contents, support: Support) -> Iterator[Weakened]:
    """Of the configuration of pytest: which tests it looks for, and by which options."""
    had = {
        path
        for path, content in before.items()
        if pytest_settings.is_one(path) and pytest_settings.is_taken(path, content)
    }
    replaced = {posixpath.dirname(path) for path in {*support.configured, *had}}
    for path in filter(pytest_settings.is_one, {**before, **after}):
        was, now = (
            pytest_settings.settings(path, tree[path]) if path in tree else {}
            for tree in (before, after)
        )
        names = sorted(n for n in {**was, **now} if n and was.get(n) != now.get(n))
        if now == pytest_settings.UNREADABLE and was != now:
            yield Weakened(path, "cannot be read, and may say which tests pytest runs")
        elif names:
            yield Weakened(path, f"changes which tests pytest runs: {', '.join(names)}")
        elif (
            path not in had
            and path in after
            and pytest_settings.is_taken(path, after[path])
            and any(folder in replaced for folder in _and_above(posixpath.dirname(path)))
        ):
            yield Weakened(path, "takes the place of other settings of pytest")


def _of_script_settings(before: Contents, after: Contents, support: Support) -> Iterator[Weakened]:
    """Of the runners of JavaScript and TypeScript, where a test in them was there."""
    changed = [path for path in {**before, **after} if script_settings.is_one(path)]
    if not changed or not any(map(script_settings.is_test, (*before, *support.others))):
        return
    for path in changed:
        was, now = (
            script_settings.settings(path, tree[path]) if path in tree else {}
            for tree in (before, after)
        )
        names = sorted(n for n in {**was, **now} if was.get(n) != now.get(n))
        if names:
            yield Weakened(path, f"changes how tests are run: {', '.join(names)}"[:_SETTINGS])


def _of_heads(before: Mapping[str, Part], after: Mapping[str, Part]) -> Iterator[Weakened]:
    """Of what stands beside the tests: marks for all of them, and assertions that they share."""
    total = (sum(head.assertions for head in heads.values()) for heads in (before, after))
    shared_before, shared_after = total
    rows_before, rows_after = (
        sum(head.rows for head in heads.values()) for heads in (before, after)
    )
    for path, now in after.items():
        was = before.get(path)
        if now.for_all > (was or _NOTHING).for_all:
            yield Weakened(path, "may keep tests of other files from being run")
        if was is None and posixpath.basename(path) != _FOR_ALL:
            continue  # a new file with what it brings
        was = was or _NOTHING
        if now.skips > was.skips:
            yield Weakened(path, "gets a mark or a hook that may skip tests")
        if now.assertions < was.assertions and shared_after < shared_before:
            left = f"{now.assertions} of {was.assertions}"
            yield Weakened(path, f"has {left} assertions left beside its tests")
        if now.rows < was.rows and rows_after < rows_before:
            yield Weakened(path, f"has {now.rows} of {was.rows} rows left beside its tests")


def _of_support(
    before: Contents, after: Contents, support: Support, told: Collection[str]
) -> Iterator[Weakened]:
    """Of what decides how tests are run."""
    for path, what in sorted(support.in_place.items()):
        yield Weakened(path, what)
    if support.files is None:
        yield Weakened(_FOR_ALL, "of these files there are too many to know what they bring in")
    for path in sorted({*before, *after} - {*told}):
        if not support.holds(path):
            continue
        was, now = (tree.get(path, b"") for tree in (before, after))
        taken = test_support.taken_elsewhere(path, support.files or {})
        if not test_support.is_harmless(was, now, taken):
            yield Weakened(path, "changes how tests are run, in a way that only a person can judge")


def _of_gone(gone: Iterable[_Test], had: Mapping[str, int], after: Contents) -> Iterator[Weakened]:
    lost = Counter(test.path for test in gone)
    for path, count in lost.items():
        if path not in after and count == had[path]:
            yield Weakened(path, f"is deleted, with {count} test{'' if count == 1 else 's'}")
    for test in gone:
        if test.path in after or lost[test.path] < had[test.path]:
            yield Weakened(test.path, f"{_shown(test.part.name)} is gone")


def _shown(name: str) -> str:
    """A test's name; where that is a text, nothing of it is left but a mark."""
    return "a test" if not name[:1].isalpha() and name[:1] != "_" else name[:_NAME]
