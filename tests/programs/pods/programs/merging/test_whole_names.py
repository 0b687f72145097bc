"""Branches and tags whose own name is the whole one of a ref: git takes them for it.

They are nobody's below refs/bernstein/: whoever may make a branch may make one of these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.programs.merge import AttestConfig, LandResult, PrepareResult
from bernstein.attestation import statement
from bernstein.core import names
from bernstein.pods.git.client import Git
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.merging.keys import key_pair
from tests.programs.pods.programs.merging.refs import (
    CANDIDATE,
    INTEGRATION,
    SESSION,
    TARGET,
    reason,
)

PREDICATE = {"verifier": {"id": statement.VERIFIER}, "verificationResult": "PASSED"}


@pytest.fixture
def ready(origin: Origin) -> tuple[str, str]:
    """(tip of the integration ref, candidate on it)."""
    tip = origin.commit({"a": "1\n"}, ref=INTEGRATION)
    return tip, origin.commit({"b": "2\n"}, tip, ref=CANDIDATE)


def without_a_lease(self: Git, more: Sequence[str], to: dict[str, str], **_: Any) -> None:
    refspecs = [f"+{sha}:{ref}" for ref, sha in to.items()]
    self._sent(more, refspecs, "")


def test_a_branch_of_the_whole_name_of_its_ref_gets_no_attestation_and_lets_nothing_land(
    origin: Origin,
    ready: tuple[str, str],
    do_land: Callable[..., LandResult],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tip, sha = ready
    ref = names.attestation_ref(sha)
    asked = AttestConfig(ref, json.dumps(PREDICATE), str(key_pair(tmp_path / "keys").private))
    foreign = f"refs/heads/{ref}"
    origin.git("update-ref", foreign, tip)

    with monkeypatch.context() as taken:
        taken.setattr(Git, "_push", without_a_lease)
        assert do_land(sha, tip, attest=asked).attestation == "Missing", "it landed without one"
        assert origin.tip(foreign) not in (tip, sha), "a branch has it, and CI would start"

    origin.git("update-ref", INTEGRATION, tip)
    origin.git("update-ref", foreign, tip)
    assert reason(lambda: do_land(sha, tip, attest=asked)) == "AttestationRefused"
    assert (origin.tip(foreign), origin.tip(INTEGRATION)) == (tip, tip)


@pytest.mark.parametrize("kind", ["heads", "tags"])
def test_one_of_the_whole_name_of_the_target_lets_nothing_land_and_is_told(
    origin: Origin, do_land: Callable[..., LandResult], kind: str
) -> None:
    tip = origin.commit({"a": "1\n"}, ref=TARGET)
    sha = origin.commit({"b": "2\n"}, tip, ref=CANDIDATE)
    foreign = f"refs/{kind}/{TARGET}"
    origin.git("update-ref", foreign, tip)

    assert reason(lambda: do_land(sha, tip, onto=TARGET)) == "PushRejected"
    assert (origin.tip(foreign), origin.tip(TARGET)) == (tip, tip)
    origin.git("update-ref", "-d", foreign)
    assert do_land(sha, tip, onto=TARGET).state == "Landed"


@pytest.mark.parametrize("kind", ["heads", "tags"])
def test_one_of_the_whole_name_of_a_new_ref_is_told_and_costs_no_candidate(
    origin: Origin,
    do_prepare: Callable[..., PrepareResult],
    do_land: Callable[..., LandResult],
    kind: str,
) -> None:
    """As `RefMoved` a candidate counts as lost: it is made anew, and judged once more."""
    tip = origin.commit({"a": "1\n"}, ref=TARGET)
    sha = origin.commit({"b": "2\n"}, tip, ref=CANDIDATE)
    branch = "refs/heads/bernstein/shop-01234567"
    origin.git("update-ref", f"refs/{kind}/{branch}", tip)

    assert reason(lambda: do_land(sha, tip, onto=TARGET, branch=branch)) == "PushRejected"

    work = origin.commit({"c": "3\n"}, origin.commit({"d": "4\n"}, tip), ref=SESSION)
    origin.git("update-ref", "-d", CANDIDATE)
    origin.git("update-ref", f"refs/{kind}/{CANDIDATE}", tip)
    assert reason(lambda: do_prepare(work, onto=TARGET)) == "PushRejected"
    assert origin.tip(f"refs/{kind}/{CANDIDATE}") == tip
