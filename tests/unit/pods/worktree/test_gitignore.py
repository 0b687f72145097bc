"""Ignore rules: bytes, and no pattern that takes long."""

from __future__ import annotations

import pytest

from bernstein.pods.worktree.gitignore import Rules


@pytest.mark.parametrize(
    ("name", "expected"), [("x\u00fc.log", True), ("\u00fc", True), ("\u00e4", None)]
)
def test_names_are_bytes(name: str, expected: bool | None) -> None:
    rules = Rules("*.log\n\u00fc\n".encode())
    assert rules.verdict([name.encode()], directory=False) is expected


def test_a_byte_order_mark_is_no_part_of_a_pattern() -> None:
    assert Rules(b"\xef\xbb\xbfa\n").verdict([b"a"], directory=False) is True


@pytest.mark.parametrize("hostile", ["*a" * 200 + "b", "**/" * 200 + "b", "[" * 3000, "\\" * 3001])
def test_no_pattern_takes_long(hostile: str) -> None:
    rules = Rules(f"{hostile}\n".encode() * 20)
    assert rules.verdict([b"a" * 255] * 60, directory=False) is None
