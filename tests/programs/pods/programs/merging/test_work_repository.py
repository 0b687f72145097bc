"""Work that is kept in another repository until it lands: the repository itself gets nothing of
it, and an account that may push nothing there is enough for all but the landing."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import CheckoutConfig, PusherConfig, Remote
from bernstein.api.programs.merge import (
    AttestConfig,
    BeginConfig,
    LandConfig,
    LandResult,
    PrepareConfig,
)
from bernstein.api.programs.probe import ProbeConfig, ProbeResult
from bernstein.api.programs.prune import PruneConfig, PruneResult, RefAt
from bernstein.attestation import statement
from bernstein.core import names
from bernstein.pods.git.client import init_bare
from bernstein.pods.git.merge import commit_tree
from bernstein.pods.programs import begin, checkout, land, prepare, probe, prune
from bernstein.pods.programs.pusher import SessionRef
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.merging.keys import key_pair
from tests.programs.pods.programs.merging.refs import (
    CANDIDATE,
    INTEGRATION,
    SESSION,
    TARGET,
    TEXT,
    reason,
)

ONLY_DELIVER = (
    '#!/bin/sh\ntest "$REMOTE_USER" = deliver || { echo "protected branch" >&2; exit 1; }\n'
)
PREDICATE = {"verifier": {"id": statement.VERIFIER}, "verificationResult": "PASSED"}


@pytest.fixture
def work(new_origin: Callable[[], Origin], origin: Origin) -> Origin:
    """The other one, which is empty; the account `work` may push nothing to the first."""
    (origin.path / "hooks" / "pre-receive").write_text(ONLY_DELIVER)
    return new_origin()


def remote(origin: Origin, work: Origin, user: str) -> Remote:
    return replace(origin.remote(user), work_url=work.remote(user).url)


def refs(at: Origin) -> set[str]:
    return set(at.git("for-each-ref", "--format=%(refname)").splitlines())


def test_it_goes_from_one_to_the_other_and_the_repository_sees_what_is_verified(
    origin: Origin, work: Origin, folder: Callable[[], str], tmp_path: Path
) -> None:
    first = origin.commit({"a": "1\n"}, ref=TARGET)
    tip = origin.commit({"a": "2\n"}, first, ref=TARGET)
    as_work, as_deliver = (remote(origin, work, user) for user in ("work", "deliver"))

    assert (
        begin.run(BeginConfig(as_work, "main", INTEGRATION, folder(), False)).integration_sha == tip
    )
    session = work.commit({"b": "3\n"}, tip, ref=SESSION)
    made = prepare.run(
        PrepareConfig(as_work, SESSION, session, INTEGRATION, CANDIDATE, TEXT, folder())
    )

    key = str(key_pair(tmp_path / "keys").private)

    def lands(ref: str, onto: str) -> LandResult:
        told = AttestConfig(names.attestation_ref(made.sha), json.dumps(PREDICATE), key, None)
        values: dict[str, Any] = {"ref": ref, "onto": onto, "sha": made.sha, "tree": made.tree}
        values |= {"expect": tip, "remote": as_deliver, "git_dir": folder(), "attest": told}
        return land.run(LandConfig(**values))

    assert lands(CANDIDATE, INTEGRATION) == LandResult("Landed", made.sha, "Signed")
    assert work.tip(INTEGRATION) == made.sha
    assert origin.tip(TARGET) == tip
    assert lands(INTEGRATION, TARGET) == LandResult("Landed", made.sha, "Signed")

    assert origin.tip(TARGET) == made.sha
    assert refs(origin) == {TARGET, names.attestation_ref(made.sha)}
    assert refs(work) == {INTEGRATION, SESSION, CANDIDATE}

    told = tuple(RefAt(ref, work.tip(ref)) for ref in (SESSION, CANDIDATE))
    assert prune.run(PruneConfig(as_work, told, folder())) == PruneResult("dd")
    assert refs(work) == {INTEGRATION}


def test_an_agents_work_on_the_branch_itself_goes_there_with_the_branchs_history(
    origin: Origin, work: Origin, tmp_path: Path
) -> None:
    """As that of a Task without a Plan: nothing has brought the history there before."""
    first = origin.commit({"a": "1\n"}, ref=TARGET)
    tip = origin.commit({"a": "2\n"}, first, ref=TARGET)
    base = tmp_path / "base.git"
    read = remote(origin, work, "read")
    checkout.run(CheckoutConfig(remote=read, ref=TARGET, git_dir=str(base), history=True))
    own = init_bare(tmp_path / "pusher.git", [base])
    made = commit_tree(own, own.tree_id(tip), [tip], TEXT, tip)

    config = PusherConfig(remote(origin, work, "work"), SESSION, git_dir=str(own.git_dir))
    SessionRef(config).move(made)

    assert work.tip(SESSION) == made
    assert refs(origin) == {TARGET}


def test_a_probe_tries_each_account_where_it_is_for(
    origin: Origin, work: Origin, folder: Callable[[], str]
) -> None:
    origin.commit({"a": "1\n"}, ref=TARGET)

    def tried(user: str) -> ProbeResult:
        ref = "refs/bernstein/1111222233334444/probe" if user == "work" else None
        asked = remote(origin, work, user)
        return probe.run(ProbeConfig(asked, user, "main", "git", "ca", folder(), ref))

    assert {user: tried(user) for user in ("read", "work", "deliver")} == dict.fromkeys(
        ("read", "work", "deliver"), ProbeResult(too_strong=False)
    )

    begin.run(BeginConfig(remote(origin, work, "work"), "main", INTEGRATION, folder(), False))
    (work.path / "hooks" / "pre-receive").write_text(ONLY_DELIVER)
    assert reason(lambda: tried("work")) == "CredentialRefused"


def test_no_account_goes_to_another_server(origin: Origin, folder: Callable[[], str]) -> None:
    origin.commit({"a": "1\n"}, ref=TARGET)
    elsewhere = replace(origin.remote("work"), work_url="https://elsewhere.example/work.git")
    before = len(origin.server.requests)

    told = BeginConfig(elsewhere, "main", INTEGRATION, folder(), False)

    assert reason(lambda: begin.run(told)) == "InvalidConfig"
    assert len(origin.server.requests) == before
