"""Gate `large_file` counts new lines of each file."""

from __future__ import annotations

from bernstein.api.pod import Check
from bernstein.checks.gates import large_file
from bernstein.checks.gates.large_file import MOST_LINES
from bernstein.checks.verdict import Verdict
from tests.unit.checks.trees import Tree


def judged(files: dict[str, str], before: dict[str, str] | None = None) -> Verdict:
    return large_file.scan(Tree(files, before=before or {}), Check("large_file", "large_file"))


def lines(count: int) -> str:
    return "".join(f"{i}\n" for i in range(count))


def test_a_file_may_get_as_many_lines_as_can_be_read() -> None:
    assert judged({"a": lines(MOST_LINES)}).verdict == "Passed"
    assert judged({"a": lines(MOST_LINES + 1)}).verdict == "Failed"


def test_lines_of_several_files_are_not_added_up() -> None:
    assert judged({name: lines(MOST_LINES) for name in "abc"}).verdict == "Passed"


def test_the_largest_are_told_first_and_the_rest_is_counted() -> None:
    found = judged({f"f{i:02}": lines(501 + i) for i in range(30)})

    told = found.excerpt.split("\n")
    assert (found.reason, told[0]) == ("LargeFile", "f29 gets 530 new lines")
    assert told[-2:] == ["and 10 more", "500 are the most"]


def test_it_is_told_and_keeps_nothing_back() -> None:
    assert not large_file.GATE.required
