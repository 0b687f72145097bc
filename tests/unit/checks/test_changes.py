"""Which gates a change calls for."""

from __future__ import annotations

import pytest

from bernstein.api.pod import Changed
from bernstein.checks.changes import changed_from_paths


def test_nothing_changed() -> None:
    assert changed_from_paths([]) == Changed()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/app.py", Changed(1, python=True)),
        ("stubs/app.pyi", Changed(1, python=True)),
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
