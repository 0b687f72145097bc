"""Signal `path_exists` on trees."""

from __future__ import annotations

import pytest

from bernstein.api.pod import Check
from bernstein.checks.paths import InvalidPathError
from bernstein.checks.signals.path_exists import scan
from tests.unit.checks.trees import Tree

TREE = Tree({"src/app.py": "x", "link": "->src", "mod": "!"})


@pytest.mark.parametrize(
    ("path", "verdict", "reason"),
    [
        ("src/app.py", "Passed", ""),
        ("./src", "Passed", ""),
        ("src/", "Passed", ""),
        ("mod/", "Passed", ""),
        ("link", "Passed", ""),
        ("link/", "Failed", "NotAFolder"),
        ("src/app.py/", "Failed", "NotAFolder"),
        ("absent", "Failed", "PathMissing"),
    ],
)
def test_what_stands_at_the_path_decides(path: str, verdict: str, reason: str) -> None:
    found = scan(TREE, Check("signal-0", "path_exists", path=path))

    assert (found.verdict, found.reason) == (verdict, reason)


def test_a_symlink_above_is_not_followed_but_told() -> None:
    found = scan(TREE, Check("signal-0", "path_exists", path="link/app.py"))

    assert found.verdict == "Failed"
    assert found.excerpt == ("link/app.py does not exist: link is a symlink, which is not followed")


def test_a_path_that_leaves_the_repository_is_invalid() -> None:
    with pytest.raises(InvalidPathError):
        scan(TREE, Check("signal-0", "path_exists", path="../src"))
