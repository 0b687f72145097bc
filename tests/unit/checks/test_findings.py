"""Findings of a linter, compared: lines move, files grow, and what was there before stays known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import pytest

from bernstein.checks import findings
from bernstein.checks.findings import Comparison, Finding, NoListing, known, lines_of, listed


def said(path: str, row: int, code: str | None = "F401", root: str = "/workspace") -> bytes:
    location = {"row": row, "column": 1}
    found = {"filename": f"{root}/{path}", "location": location, "code": code, "message": "a\nb"}
    return json.dumps(found).encode()


def line(files: dict[str, str]) -> findings.Line:
    return lambda path, number: files[path].split("\n")[number - 1].encode() if number else b""


def compared(
    before: Iterable[Finding],
    line_before: findings.Line,
    after: Iterable[Finding],
    line_after: findings.Line,
    renamed: Mapping[str, str] | None = None,
) -> Comparison:
    return findings.compared(known(before, line_before), after, line_after, renamed or {})


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
        list(lines_of(b"a\n" * 3))
    many = [Finding("a.py", 0, "F401", "")] * 3
    with pytest.raises(NoListing):
        compared([], line({}), many, lambda *_: b"")
    with pytest.raises(NoListing):
        known(many, lambda *_: b"")


def test_names_of_files_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "MOST_PATHS", 10)
    files = [Finding("aaaa.py", 0, "F401", "", other=other) for other in ("", "b", "", "b")]
    assert set(findings.paths_of(files)) == {"aaaa.py", "b"}
    with pytest.raises(NoListing):
        findings.paths_of([*files, Finding("ccc", 0, "F401", "")])


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "MOST_LINE", 10)
    with pytest.raises(NoListing):
        list(lines_of(b"a\n" + b"b" * 11))


def test_a_finding_whose_line_moved_is_the_same() -> None:
    old, now = {"a.py": "import os"}, {"a.py": "x = 1\n\nimport os  "}

    found = compared(
        [Finding("a.py", 1, "F401", "")], line(old), [Finding("a.py", 3, "F401", "")], line(now)
    )

    assert found == Comparison(1, 0, ())


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

    found = compared([Finding("a.py", 1, "F401", "")], line(files), [after], line(files))

    assert found == Comparison(1, 1, (after,))


def test_a_finding_of_a_file_under_a_new_name_is_the_same() -> None:
    files = {"a.py": "import os", "p/b.py": "import os"}
    cycle = Finding("a.py", 0, "import-cycle", "", other="c.py")
    before = [Finding("a.py", 1, "F401", ""), cycle]
    after = [Finding("p/b.py", 1, "F401", ""), Finding("p/b.py", 0, "import-cycle", "", "p/c.py")]
    both = {"p/b.py": "a.py", "p/c.py": "c.py"}

    def new(renamed: dict[str, str]) -> list[Finding]:
        return [*compared(before, line(files), after, line(files), renamed).first]

    assert new(both) == []
    assert new({}) == after
    assert new({"p/b.py": "a.py"}) == after[1:]
    assert set(known(before, line(files)).paths) == {"a.py", "c.py"}
    assert str(after[1]) == "p/b.py import-cycle with p/c.py"


def test_the_same_once_more_is_new() -> None:
    files = {"a.py": "import os\nimport os"}
    once, twice = Finding("a.py", 1, "F401", ""), Finding("a.py", 2, "F401", "")

    found = compared([once], line(files), [once, twice], line(files))

    assert found == Comparison(2, 1, (twice,))


def test_of_many_findings_the_first_are_shown_and_the_rest_counted() -> None:
    rows = [Finding("a.py", n, "F401", "unused") for n in range(1, 24)]
    found = compared([], line({}), rows, lambda *_: b"")
    text = findings.shown(found.first, found.new)

    assert found.first == tuple(rows[: findings.SHOWN])
    assert text == findings.shown(rows)
    assert text.startswith("a.py:1 F401 unused\n")
    assert text.endswith("and 3 more")
