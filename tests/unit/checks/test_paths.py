"""What a path may be called."""

from __future__ import annotations

import pytest

from bernstein.checks.paths import InvalidPathError, normal_path


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../b", "", ".", "a\0b", ".git/config"])
def test_paths_that_leave_the_repository_are_invalid(path: str) -> None:
    with pytest.raises(InvalidPathError):
        normal_path(path)


def test_paths_are_normal() -> None:
    assert normal_path("./a//b/") == "a/b"
