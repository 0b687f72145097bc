"""Refs of a Plan that somebody else writes, with the work account's right to push.

Each forgery is first seen to reach the branch where the ref is believed.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bernstein.api.programs.merge import BeginResult, LandResult, PrepareResult
from bernstein.core.delivery import landing
from bernstein.pods.programs import begin
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.merging.refs import INTEGRATION, SESSION, TARGET, reason
from tests.unit.core.delivery.tasks import PREPARING, look, prepared, verified
from tests.unit.core.objects import sha, stalled_for

BLIND = "[tool.ruff.lint]\nselect = []\n"
"""A configuration with which the linter finds nothing."""
PLANTED: dict[str, bytes | str | None] = {"planted.py": "import os\n", "pyproject.toml": BLIND}


class Landing:
    """A Task's work, and then its Plan, brought to where they belong, as their Jobs do."""

    def __init__(
        self,
        origin: Origin,
        prepare: Callable[..., PrepareResult],
        land: Callable[..., LandResult],
    ) -> None:
        self._origin, self._prepare, self._land = origin, prepare, land

    def of_a_plan(self, base: str) -> list[str]:
        """Files of the branch once the Plan that began at `base` has landed."""
        work = self._origin.commit({"api.py": "new\n"}, base, ref=SESSION)
        candidate = self._prepare(work)
        assert self._land(candidate.sha, candidate.base).state == "Landed"
        whole = self._prepare(candidate.sha, ref=INTEGRATION, onto=TARGET, merge=True)
        assert self._land(whole.sha, whole.base, onto=TARGET).state == "Landed"
        return self._origin.git("ls-tree", "--name-only", TARGET).split()


@pytest.fixture
def lands(
    origin: Origin, do_prepare: Callable[..., PrepareResult], do_land: Callable[..., LandResult]
) -> Landing:
    return Landing(origin, do_prepare, do_land)


def test_a_forged_integration_ref_brings_nothing_to_the_branch(
    origin: Origin,
    do_begin: Callable[..., BeginResult],
    lands: Landing,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tip = origin.commit({"pyproject.toml": "[tool.ruff]\n"}, ref=TARGET)
    forged = origin.commit(PLANTED, tip, ref=INTEGRATION)

    with monkeypatch.context() as taken:
        taken.setattr(begin, "full_ref", lambda _: INTEGRATION)
        believed = do_begin().target_sha
        assert believed == forged, "a Plan begins at what is there"
        pinned = origin.git("show", f"{believed}:pyproject.toml")
        assert pinned == BLIND.strip(), "the linter is told by it what to look for"
        assert "planted.py" in lands.of_a_plan(believed), "and it rides along with the Plan"

    origin.git("update-ref", TARGET, tip)
    origin.git("update-ref", INTEGRATION, forged)
    assert reason(do_begin) == "IntegrationExists"
    origin.git("update-ref", "-d", INTEGRATION)
    assert lands.of_a_plan(do_begin().target_sha) == ["api.py", "pyproject.toml"]


def test_an_old_commit_of_the_target_is_no_beginning_after_a_begin_that_failed(
    origin: Origin, do_begin: Callable[..., BeginResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    old = origin.commit({"pyproject.toml": BLIND}, ref=INTEGRATION)
    tip = origin.commit({"pyproject.toml": "[tool.ruff]\n"}, old, ref=TARGET)

    with monkeypatch.context() as taken:
        taken.setattr(begin, "full_ref", lambda _: INTEGRATION)
        believed = do_begin(again=True).target_sha
        assert origin.git("show", f"{believed}:pyproject.toml") == BLIND.strip(), (
            "the linter is told by it what to look for"
        )

    assert do_begin(again=True).target_sha == tip


def test_an_integration_ref_that_was_moved_is_no_base_of_a_candidate(
    origin: Origin, do_prepare: Callable[..., PrepareResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    base = origin.commit({"a": "1\n"}, ref=INTEGRATION)
    work = origin.commit({"b": "2\n"}, base, ref=SESSION)
    foreign = origin.commit(PLANTED, base, ref=INTEGRATION)
    made = do_prepare(work)
    assert made.base == foreign, "git itself has no objection"
    said = prepared(base=made.base, sha=made.sha, tree=made.tree)
    before = verified(PREPARING, verification={"base": sha(1)})

    with monkeypatch.context() as taken:
        taken.setattr(landing, "_surprise", lambda *_: None)
        judged = look(before, said).status.verification
        assert judged is not None
        assert judged.base == foreign, (
            "the next round would judge, and then land, what stands on it"
        )

    found = look(before, said).status
    assert found.verification == before.verification
    assert stalled_for(found.conditions) == "IntegrationMoved"
