"""What may only be added to: a change that does more is told, whoever declares the file."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.api.pod import Check
from bernstein.checks.rules.file_scope import MOST_BYTES, NAME, only_adds
from bernstein.checks.verdict import Verdict
from bernstein.pods.programs.inspect import judge
from tests.unit.checks.trees import Tree

SHARED = ("CHANGELOG.md", "news/**")
NOTES = "# Notes\n\n- one\n"


def verdict(files: tuple[str, ...] = ("src",), **trees: Any) -> Verdict:
    return judge(Tree(**trees), Check(NAME, NAME, files=files, append_only=SHARED))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (NOTES, f"{NOTES}- two\n"),
        (NOTES, "# Notes\n\n- two\n- one\n"),
        (NOTES, f"{NOTES}- two"),
        ("- one", "- one\n- two"),
        ("- one", "- one\n"),
        ("", "- one\n"),
        ("a\na\n", "a\nb\na\n"),
        ("a\r\n", "a\r\nb\r\n"),
        (b"\xff\n", b"\xff\n\xfe\n"),
    ],
)
def test_lines_may_be_added_to_a_file_of_nobody(before: str | bytes, after: str | bytes) -> None:
    there = {"CHANGELOG.md": before, "src/a.py": "x"}

    assert verdict(before=there, after={"CHANGELOG.md": after, "src/a.py": "y"}) == Verdict(
        "Passed"
    )


@pytest.mark.parametrize("content", ["x", b"\0"])
def test_a_file_may_be_new(content: str | bytes) -> None:
    assert verdict(after={"news/12.md": content, "CHANGELOG.md": content}).verdict == "Passed"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (NOTES, "# Notes\n\n"),
        (NOTES, "# Notes\n\n- One\n- two\n"),
        (NOTES, "- one\n# Notes\n\n"),
        (NOTES, "# Notes\n- one\n- two\n"),
        (NOTES, NOTES.rstrip("\n")),
        (NOTES, ""),
        (NOTES, NOTES.replace("\n", "\r\n")),
        ("- one", "- one, and two"),
        ("a\na\n", "a\n"),
        (b"a\0\n", b"a\0\nb\n"),
        (b"a\n", b"a\n\0"),
        (NOTES, "->README.md"),
        ("->README.md", "->README.md\n"),
        ("->README.md", NOTES),
        ("!", NOTES),
    ],
)
@pytest.mark.parametrize("files", [("src",), ("CHANGELOG.md",), ("**",), ()])
def test_nothing_that_is_there_may_change_whoever_declares_the_file(
    before: str | bytes, after: str | bytes, files: tuple[str, ...]
) -> None:
    found = verdict(files, before={"CHANGELOG.md": before}, after={"CHANGELOG.md": after})

    assert (found.verdict, found.reason) == ("Failed", "ScopeViolation")
    assert found.excerpt == "CHANGELOG.md: only adding to it is allowed"


def test_a_file_may_be_neither_deleted_nor_renamed_nor_get_another_mode() -> None:
    there = {"CHANGELOG.md": NOTES, "news/1.md": NOTES}
    only = ": only adding to it is allowed"

    deleted = verdict(before=there, after={"CHANGELOG.md": NOTES})
    renamed = verdict(before=there, after={"CHANGELOG.md": NOTES, "news/2.md": NOTES})
    run = verdict(before=there, after=there, of_other_mode=["CHANGELOG.md"])
    more = {**there, "CHANGELOG.md": f"{NOTES}x\n"}
    both = verdict(before=there, after=more, of_other_mode=["CHANGELOG.md"])

    assert deleted.excerpt == renamed.excerpt == f"news/1.md{only}"
    assert run.excerpt == both.excerpt == f"CHANGELOG.md{only}"


@pytest.mark.parametrize("content", ["->../CHANGELOG.md", "!"])
def test_a_symlink_or_submodule_is_no_addition(content: str) -> None:
    found = verdict(after={"news/1.md": content})

    assert found.excerpt == "news/1.md: only adding to it is allowed"


def test_files_of_others_are_told_before_those_that_may_only_be_added_to() -> None:
    before = {"CHANGELOG.md": NOTES, "docs/a.md": "x"}
    found = verdict(before=before, after={"CHANGELOG.md": "", "docs/a.md": "y"})

    assert found.excerpt == "docs/a.md\nCHANGELOG.md: only adding to it is allowed"


def test_a_step_without_files_may_change_all_else() -> None:
    before = {"CHANGELOG.md": NOTES, "docs/a.md": "x"}
    after = {"CHANGELOG.md": f"{NOTES}x\n", "docs/a.md": "y"}

    assert verdict((), before=before, after=after).verdict == "Passed"


def test_what_is_too_large_to_be_compared_is_not_taken_for_an_addition() -> None:
    large = b"a" * (MOST_BYTES // 2)
    before, after = {"news/1.md": large}, {"news/1.md": large + b"\n"}

    found = verdict(before=before, after=after)
    beside = verdict(before=before, after={**after, "docs/a.md": "x"})
    new = verdict(after={"news/1.md": large * 3})

    assert (found.verdict, found.reason) == ("Failed", "TooLarge")
    assert beside.reason == "ScopeViolation"
    assert new.verdict == "Passed"


lines = st.lists(st.sampled_from(["a", "b", "", "aa"]), max_size=6)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(lines, lines, st.booleans(), st.booleans())
def test_it_is_said_as_by_trying_every_choice_of_lines(
    before: list[str], after: list[str], ended: bool, then: bool
) -> None:
    def text(of: list[str], end: bool) -> bytes:
        return ("\n".join(of) + "\n" * (end and bool(of))).encode()

    def kept(old: list[bytes], new: list[bytes]) -> bool:
        if not old:
            return True
        if not new:
            return False
        same = old[0] == new[0] or (not old[0].endswith(b"\n") and old[0] + b"\n" == new[0])
        return kept(old, new[1:]) or (same and kept(old[1:], new[1:]))

    old, new = text(before, ended), text(after, then)

    assert only_adds(old, new) is kept(old.splitlines(True), new.splitlines(True))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\n" * 3_000_000, b"a\n" + b"\n" * 3_000_000),
        (b"a" * 8_000_000, b"\n" * 8_000_000),
        (b"a" * 2000 + b"\n", (b"a" * 2000 + b"b\n") * 4000),
    ],
)
def test_it_takes_no_longer_than_the_files_are(before: bytes, after: bytes) -> None:
    begun = time.monotonic()

    only_adds(before, after)

    assert time.monotonic() - begun < 10
