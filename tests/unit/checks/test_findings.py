"""Findings of a linter, compared: lines move, files grow, and what was there before stays known."""

from __future__ import annotations

import json

import pytest

from bernstein.checks import findings
from bernstein.checks.findings import Finding, NoListing, listed, new


def said(path: str, row: int, code: str | None = "F401", root: str = "/workspace") -> bytes:
    location = {"row": row, "column": 1}
    found = {"filename": f"{root}/{path}", "location": location, "code": code, "message": "a\nb"}
    return json.dumps(found).encode()


def line(files: dict[str, str]) -> findings.Line:
    return lambda path, number: files[path].split("\n")[number - 1].encode() if number else b""


def test_findings_are_read_with_paths_of_the_repository() -> None:
    found = list(listed([said("a.py", 3), b"", said("b.py", 1, None)], "/workspace"))

    assert found == [Finding("a.py", 3, "F401", "a b"), Finding("b.py", 1, "syntax", "a b")]


@pytest.mark.parametrize("text", [b"{}", b"[]", b"error: no", b'{"filename": 1, "location": 2}'])
def test_what_is_no_finding_is_never_passed_over(text: bytes) -> None:
    with pytest.raises(NoListing):
        list(listed([said("a.py", 1), text], "/workspace"))


def test_a_list_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "MOST", 2)
    with pytest.raises(NoListing):
        list(listed([said("a.py", 1)] * 3, "/workspace"))


def test_a_finding_whose_line_moved_is_the_same() -> None:
    old, now = {"a.py": "import os"}, {"a.py": "x = 1\n\nimport os  "}

    assert (
        new(
            [Finding("a.py", 1, "F401", "")], line(old), [Finding("a.py", 3, "F401", "")], line(now)
        )
        == []
    )


@pytest.mark.parametrize(
    "after",
    [
        Finding("b.py", 1, "F401", ""),
        Finding("a.py", 1, "F811", ""),
        Finding("a.py", 2, "F401", ""),
    ],
    ids=["another file", "another rule", "another line"],
)
def test_another_file_rule_or_line_is_a_new_finding(after: Finding) -> None:
    files = {"a.py": "import os\nimport sys", "b.py": "import os"}

    assert new([Finding("a.py", 1, "F401", "")], line(files), [after], line(files)) == [after]


def test_a_finding_of_a_file_under_a_new_name_is_the_same() -> None:
    files = {"a.py": "import os", "p/b.py": "import os"}
    cycle = Finding("a.py", 0, "import-cycle", "", other="c.py")
    before = [Finding("a.py", 1, "F401", ""), cycle]
    after = [Finding("p/b.py", 1, "F401", ""), Finding("p/b.py", 0, "import-cycle", "", "p/c.py")]
    none: dict[str, str] = {}
    all_ = {"p/b.py": "a.py", "p/c.py": "c.py"}

    assert new(before, line(files), after, line(files), all_) == []
    assert new(before, line(files), after, line(files), none) == after
    assert new(before, line(files), after, line(files), {"p/b.py": "a.py"}) == after[1:]
    assert str(after[1]) == "p/b.py import-cycle with p/c.py"


def test_the_same_once_more_is_new() -> None:
    files = {"a.py": "import os\nimport os"}
    once, twice = Finding("a.py", 1, "F401", ""), Finding("a.py", 2, "F401", "")

    assert new([once], line(files), [once, twice], line(files)) == [twice]


def test_of_many_findings_the_first_are_shown_and_the_rest_counted() -> None:
    text = findings.shown([Finding("a.py", n, "F401", "unused") for n in range(1, 24)])

    assert text.startswith("a.py:1 F401 unused\n")
    assert text.endswith("and 3 more")
