"""`coverage json`: how much of the code the tests run.

A file is no test because of its name alone: what nobody runs would only have to be called like one.
So a line of a test that is run never counts, and one that is not run counts like any other line.
Tests that this run does not come to are left out where the base held nothing but tests.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from bernstein.checks.measures import Measures, Scale
from bernstein.checks.outputs.document import document, relative, report_of

NAME = "coverage"
_FOLDERS = {"test", "tests"}
_FILE = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _File:
    """Lines with a statement, and how many of them are not run."""

    lines: int
    missed: int


def measures(output: bytes, root: str) -> Measures:
    """Per cent of all lines; nothing where there are no lines, or no tests, or where none of the
    lines is run: maybe nobody has seen it. Raises NoListing."""
    files = _files(output, root)
    found = _share(files, _of_tests(files))
    return found if any(found.values()) else {}


def folders_of_tests(output: bytes, root: str) -> frozenset[str]:
    """Folders that hold tests, and nothing else. Raises NoListing."""
    return _of_tests(_files(output, root))


def of_work(output: bytes, of_tests: Collection[str], root: str) -> Measures:
    """The same of the work, where folders of tests are those of the base. Raises NoListing."""
    return _share(_files(output, root), frozenset(of_tests))


def _files(output: bytes, root: str) -> dict[str, _File]:
    report = document(output)
    if not report:
        return {}
    with report_of("coverage"):
        found = {relative(path, root): each["summary"] for path, each in report["files"].items()}
        return {path: _file(each) for path, each in found.items()}


def _file(summary: Mapping[str, object]) -> _File:
    lines, missed = summary["num_statements"], summary["missing_lines"]
    if not (isinstance(lines, int) and isinstance(missed, int) and 0 <= missed <= lines < 2**53):
        raise ValueError("no numbers of lines")
    return _File(lines, missed)


def _share(files: Mapping[str, _File], of_tests: frozenset[str]) -> Measures:
    lines = missed = 0
    for path, file in files.items():
        if not _is_test(path):
            lines += file.lines
        elif file.missed < file.lines or of_tests.isdisjoint(_above(path)):
            lines += file.missed
        else:
            continue
        missed += file.missed
    return {NAME: 100 * (lines - missed) / lines} if lines else {}


def _of_tests(files: Collection[str]) -> frozenset[str]:
    code = {folder for path in files if not _is_test(path) for folder in _above(path)}
    return frozenset(posixpath.dirname(path) for path in files if _is_test(path)) - code - {""}


def _above(path: str) -> Iterator[str]:
    while path:
        path = posixpath.dirname(path)
        yield path


def _is_test(path: str) -> bool:
    folder, name = posixpath.split(path)
    return _FILE.fullmatch(name) is not None or not _FOLDERS.isdisjoint(folder.split("/"))


SCALE = Scale(
    measures,
    beside=folders_of_tests,
    of_work=of_work,
    unit=" %",
    less_is_worse=True,
    stays=True,
)
