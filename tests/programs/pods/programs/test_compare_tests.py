"""What a runner of tests lists may be anything: it is compared in bounded memory and time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bernstein.api.pod import CheckVerdict
from bernstein.api.programs.comparing import CompareConfig
from bernstein.checks.weakening.collected_tests import MOST, MOST_BYTES, NAMES, PYTEST
from tests.programs.pods.programs.test_compare_bounds import _in_its_container, _listing

pytestmark = pytest.mark.verification

LINE = MOST_BYTES // MOST
"""Bytes of a line with which as many tests have as many bytes as there may be."""


def many(count: int, beginning: bytes, filler: bytes) -> bytes:
    """So many names, each of LINE bytes with its end."""
    rows = []
    for number in range(count):
        name = beginning % number
        rows.append(name + filler * ((LINE - 1 - len(name)) // len(filler)))
    return b"\n".join(rows)


def judged(tmp_path: Path, form: str, before: bytes, after: bytes) -> CheckVerdict:
    base, head = (
        _listing(tmp_path / of, text) for of, text in (("before", before), ("head", after))
    )
    return _in_its_container(
        CompareConfig("collected-tests", "/workspace", head, base, output=form, decides=True)
    )


FILLERS = {"letters": b"a", "no text": b"\xff", "wide": "😀".encode()}


@pytest.mark.parametrize("filler", FILLERS)
@pytest.mark.parametrize("names", ["one file", "files"])
def test_the_longest_lists_that_have_nothing_in_common_are_compared(
    names: str, filler: str, tmp_path: Path
) -> None:
    a, b = (b"a.py::%d", b"a.py::x%d") if names == "one file" else (b"a%d.py::a", b"b%d.py::b")
    before, after = many(MOST, a, FILLERS[filler]), many(MOST, b, FILLERS[filler])

    found = judged(tmp_path, NAMES, before, after)

    assert (found.verdict, found.reason) == ("Failed", "TestsWeakened")
    assert found.excerpt.startswith(f"{MOST} of {MOST} tests are not collected any more:\n")


FLOODS: dict[str, Callable[[], bytes]] = {
    "lines": lambda: b"a\n" * 4 * MOST,
    "a line": lambda: b"a" * 90_000_000,
    "empty lines": lambda: b"\n" * 90_000_000,
    "wide": lambda: "😀".encode() * 20_000_000,
    "digits": lambda: b"1" * 30_000_000 + b" tests collected in ",
}


@pytest.mark.parametrize("form", [NAMES, PYTEST])
@pytest.mark.parametrize("how", FLOODS)
def test_a_list_that_is_none_loses_all_tests_in_the_work_and_none_in_the_base(
    how: str, form: str, tmp_path: Path
) -> None:
    flood, one = FLOODS[how](), b"a.py::a\n\n1 test collected in 0.01s\n"

    lost = judged(tmp_path / "work", form, one, flood)
    skipped = judged(tmp_path / "base", form, flood, one)

    assert (lost.verdict, lost.reason) == ("Failed", "TestsWeakened")
    assert (skipped.verdict, skipped.reason) == ("Skipped", "NoBaseline")


TOO_MANY = b"".join(b"a.py::t%d\n" % number for number in range(MOST + 1))
TOO_LARGE = b"a" * (MOST_BYTES + 1)


@pytest.mark.parametrize(
    ("after", "bound"),
    [(TOO_MANY, f"{MOST} names"), (TOO_LARGE, f"{MOST_BYTES} bytes")],
    ids=["names", "bytes"],
)
def test_a_list_of_the_work_that_is_too_long_is_said_to_be_so(
    after: bytes, bound: str, tmp_path: Path
) -> None:
    found = judged(tmp_path, NAMES, b"a.py::t1\n", after)

    first, remedy = found.excerpt.split("\n")
    assert (found.verdict, found.reason) == ("Failed", "TestsWeakened")
    assert (
        first == f"the list of the work's tests is too long to be compared: there are over {bound}."
    )
    assert remedy.endswith("list fewer or shorter names, such as one for all rows of a test")
