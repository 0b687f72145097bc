"""Program `checkout`: what it tells and refuses for gates that look at the change."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import CheckoutConfig
from bernstein.checks import tools
from bernstein.checks.time_limit import TimeLimitError
from bernstein.pods.errors import PodError
from bernstein.pods.programs import checkout
from tests.programs.pods.conftest import Origin

pytestmark = pytest.mark.verification

Run = Callable[..., str]


@pytest.fixture
def run(origin: Origin, config: dict[str, Any], tmp_path: Path) -> Run:
    """Checks out a change of these files; returns the commit."""

    def run(*paths: str, **changed: bytes | str | None) -> str:
        base = origin.commit({"web/old.py": "1", "docs/a.md": "1"})
        head = origin.commit(changed, base, ref="refs/heads/main")
        given = CheckoutConfig(**config, paths=paths, changed_since=base)
        return checkout.run(replace(given, ref="refs/heads/main")).sha if head else ""

    return run


@pytest.mark.parametrize("glob", ["web/**", "**/*.py", "web/new.py", "docs/*", "w?b/n*"])
def test_a_glob_that_matches_an_added_edited_or_deleted_path_lets_it_run(
    glob: str, run: Run
) -> None:
    assert run("elsewhere/**", glob, **{"web/new.py": "1", "docs/a.md": None})


@pytest.mark.parametrize("glob", ["web", "web/*.js", "*.py", "new.py"])
def test_where_no_changed_path_matches_it_is_not_asked(glob: str, run: Run) -> None:
    with pytest.raises(PodError) as refused:
        run(glob, **{"web/new.py": "1"})

    assert refused.value.reason == "ConditionNotMet"
    assert glob in refused.value.message


def test_without_globs_anything_will_do(run: Run) -> None:
    assert run(**{"web/new.py": "1"})


def test_a_glob_that_takes_too_long_leaves_nothing_out(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(_pattern: str, _paths: list[str]) -> str | None:
        raise TimeLimitError

    monkeypatch.setattr(checkout, "first_match", slow)

    assert run("nothing/**", **{"web/new.py": "1"})


def test_a_program_lies_beside_the_numbers_of_new_lines_before_anything_runs(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    base = origin.commit({"a.py": "one = 1\ntwo = 2\n"})
    origin.commit({"a.py": "one = 1\nthree = 3\n"}, base, ref="refs/heads/main")
    (tmp_path / "tools").mkdir()
    trees = {"worktree": str(tmp_path / "work"), "base_worktree": str(tmp_path / "before")}
    given: dict[str, Any] = {**config, **trees, "ref": "refs/heads/main", "base": base}

    checkout.run(CheckoutConfig(**given, tool="mutants", tools=str(tmp_path / "tools")))

    program = (tmp_path / "tools" / "mutants.py").read_bytes()
    assert program == tools.file("mutants").read_bytes()
    assert json.loads((tmp_path / "tools" / "changed.json").read_bytes()) == {"a.py": [[2, 2]]}
