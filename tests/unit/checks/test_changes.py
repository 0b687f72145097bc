"""Which gates a change calls for."""

from __future__ import annotations

import pytest

from bernstein.api.pod import Changed
from bernstein.checks.changes import changed_from_paths, digest_of


def test_nothing_changed() -> None:
    assert changed_from_paths([]) == Changed()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app.py", Changed(1, python=True)),
        ("stubs/app.pyi", Changed(1, python=True)),
        ("app.pyw", Changed(1, python=True)),
        ("test_app.pyw", Changed(1, python=True, tests=True)),
        ("README.md", Changed(1)),
        ("happy", Changed(1)),
        ("tests/data/x.json", Changed(1, tests=True)),
        ("test_app.py", Changed(1, python=True, tests=True)),
        ("pkg/app_test.py", Changed(1, python=True, tests=True)),
        ("conftest.py", Changed(1, python=True, tests=True)),
        ("contest.py", Changed(1, python=True)),
        ("latest/app.py", Changed(1, python=True)),
        ("web/button.test.tsx", Changed(1, tests=True)),
        ("pkg/app_test.go", Changed(1, tests=True)),
        ("requirements.txt", Changed(1, deps=True)),
        ("requirements-dev.lock", Changed(1, deps=True)),
        ("requirements/base.in", Changed(1, deps=True)),
        ("Requirements.TXT", Changed(1, deps=True)),
        ("Requirements/Base.IN", Changed(1, deps=True)),
        ("api/pyproject.toml", Changed(1, deps=True)),
        ("setup.py", Changed(1, python=True, deps=True)),
        ("uv.lock", Changed(1, deps=True)),
        ("web/package.json", Changed(1, deps=True)),
        ("go.mod", Changed(1, deps=True)),
        ("Cargo.lock", Changed(1, deps=True)),
        ("docs/requirements.md", Changed(1)),
        (b"caf\xe9.py", Changed(1, python=True)),
    ],
)
def test_one_path(path: str | bytes, expected: Changed) -> None:
    assert changed_from_paths([path]) == expected


def test_paths_add_up() -> None:
    paths = ["a.py", "tests/b.txt", "go.sum"]
    assert changed_from_paths(paths) == Changed(3, python=True, tests=True, deps=True)


PROTECTED = (".github/workflows", ".claude", "Jenkinsfile", "infra/prod/")


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        ".GitHub/Workflows/ci.yml",
        ".claude/settings.json",
        "web/app/.claude/hooks/run.sh",
        "Jenkinsfile",
        "sub/jenkinsfile",
        "infra/prod/main.tf",
    ],
)
def test_a_change_of_a_protected_path_is_told(path: str) -> None:
    found = changed_from_paths(["README.md", path], PROTECTED)

    assert (found.protected, found.protected_by) == (path, digest_of(PROTECTED))


@pytest.mark.parametrize(
    "path",
    [
        "github/workflows/ci.yml",
        "docs/.github/workflows/ci.yml",
        ".claude.md",
        "infra/production/a",
    ],
)
def test_a_change_of_another_path_is_not(path: str) -> None:
    found = changed_from_paths([path], PROTECTED)

    assert (found.protected, found.protected_by) == ("", digest_of(PROTECTED))


@pytest.mark.parametrize(
    ("path", "is_told"),
    [("README.md", True), ("readme.MD", True), ("docs/README.md", False), ("README.md.bak", False)],
)
def test_a_single_name_with_a_slash_before_it_is_meant_from_the_root(
    path: str, is_told: bool
) -> None:
    assert bool(changed_from_paths([path], ("/README.md",)).protected) is is_told


def test_where_nobody_knows_the_list_nothing_is_said_of_it() -> None:
    assert changed_from_paths([".claude/settings.json"]).protected_by == ""


def test_what_is_told_of_a_path_is_short_and_plain() -> None:
    found = changed_from_paths([b".claude/" + b"\xff\xe2\x80\xae" * 200], PROTECTED)

    assert len(found.protected) == 100
    assert found.protected.isascii()


def test_a_list_has_one_name_in_whatever_order() -> None:
    assert digest_of(PROTECTED) == digest_of(PROTECTED[::-1]) != digest_of(PROTECTED[:-1])


def test_several_protected_paths_are_named_and_all_are_counted() -> None:
    paths = [f".claude/{number}" for number in range(9)]

    found = changed_from_paths(["a.py", *paths], PROTECTED)

    assert (found.protected, *found.protected_more) == tuple(paths[:4])
    assert found.protected_files == 9
