"""The program probe against a real git server: what an account may do, and nothing left behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.programs.probe import ProbeConfig, ProbeResult
from bernstein.core import names
from bernstein.pods.errors import PodError
from bernstein.pods.programs import probe
from tests.programs.pods.conftest import Origin

REF = "refs/bernstein/1111222233334444/probe"
Do = Callable[..., ProbeResult]


@pytest.fixture
def do_probe(origin: Origin, tmp_path: Path) -> Do:
    def run(account: str, **changes: Any) -> ProbeResult:
        config = ProbeConfig(
            remote=changes.pop("remote", origin.remote(account)),
            account=account,
            branch="main",
            secret=f"git-{account}",
            config_map="ca",
            git_dir=str(tmp_path / account / "repo.git"),
            ref=REF if account == "work" else None,
        )
        return probe.run(replace(config, **changes))

    return run


@pytest.fixture
def refs(origin: Origin) -> Callable[[], str]:
    return lambda: origin.git("for-each-ref", "--format=%(refname) %(objectname)")


@pytest.mark.parametrize("account", ["read", "work", "deliver"])
def test_an_account_that_does_what_it_is_for_is_sound_and_nothing_is_left_behind(
    origin: Origin, do_probe: Do, refs: Callable[[], str], account: str
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    before = refs(), origin.git("count-objects", "-v")

    assert do_probe(account) == ProbeResult(too_strong=False)
    assert (refs(), origin.git("count-objects", "-v")) == before


def test_a_work_account_that_may_push_to_the_branch_is_too_strong(
    origin: Origin, do_probe: Do, refs: Callable[[], str]
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    (origin.path / "hooks" / "pre-receive").unlink()
    before = refs()

    assert do_probe("work") == ProbeResult(too_strong=True)
    assert refs() == before


@pytest.mark.parametrize("others", [(), ("refs/heads/release",), ("refs/heads/absent",)])
def test_one_that_may_push_to_another_branch_that_is_delivered_to_is_too_strong(
    origin: Origin, do_probe: Do, refs: Callable[[], str], others: tuple[str, ...]
) -> None:
    first = origin.commit({"a": "1"}, ref="refs/heads/main")
    origin.commit({"a": "2"}, first, ref="refs/heads/release")
    hook = origin.path / "hooks" / "pre-receive"
    allowed = "work:refs/bernstein/*|work:refs/heads/release"
    hook.write_text(hook.read_text().replace("work:refs/bernstein/*", allowed))
    before = refs()

    found = do_probe("work", others=others)

    assert found == ProbeResult(too_strong=others == ("refs/heads/release",))
    assert refs() == before


@pytest.mark.parametrize("proposed", [None, names.PROBED_BRANCH])
def test_one_that_may_push_to_the_branches_of_pull_requests_is_too_strong_where_there_are_any(
    origin: Origin, do_probe: Do, refs: Callable[[], str], proposed: str | None
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    assert do_probe("work", proposed=proposed) == ProbeResult(too_strong=False)
    hook = origin.path / "hooks" / "pre-receive"
    hook.write_text(hook.read_text().replace("refs/bernstein/", "refs/*bernstein/"))
    before = refs()

    assert do_probe("work", proposed=proposed) == ProbeResult(too_strong=proposed is not None)
    assert refs() == before


def test_a_work_account_with_the_key_of_deliver_in_a_secret_of_its_own_is_too_strong(
    origin: Origin, do_probe: Do, tmp_path: Path
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    copied = tmp_path / "work-secret"
    shutil.copytree(str(origin.remote("deliver").credential_dir), copied)
    remote = replace(origin.remote("work"), credential_dir=str(copied))

    assert do_probe("work", remote=remote) == ProbeResult(too_strong=True)


def test_a_ref_of_that_name_stays_where_it_is(
    origin: Origin, do_probe: Do, refs: Callable[[], str]
) -> None:
    tip = origin.commit({"a": "1"}, ref="refs/heads/main")
    for at in (tip, origin.commit({"b": "2"}, tip)):
        origin.git("update-ref", REF, at)
        before = refs()

        assert do_probe("work") == ProbeResult(too_strong=False)
        assert refs() == before


@pytest.mark.parametrize("account", ["work", "deliver"])
def test_an_account_that_may_only_read_is_too_weak_to_push(
    origin: Origin, do_probe: Do, account: str
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")

    with pytest.raises(PodError) as found:
        do_probe(account, remote=origin.remote("read"))
    assert found.value.reason == "CredentialRefused"


def test_a_work_account_that_may_not_push_below_our_refs_is_too_weak(
    origin: Origin, do_probe: Do
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    hook = origin.path / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\nexit 1\n")

    with pytest.raises(PodError) as found:
        do_probe("work")
    assert (found.value.reason, REF in found.value.message) == ("CredentialRefused", True)


def test_a_wrong_password_a_missing_branch_and_a_missing_server_are_told_apart(
    origin: Origin, do_probe: Do, tmp_path: Path
) -> None:
    with pytest.raises(PodError) as missing:
        do_probe("read")
    assert missing.value.reason == "RefNotFound"

    wrong = tmp_path / "wrong"
    wrong.mkdir()
    (wrong / "username").write_text("read")
    (wrong / "password").write_text("guess")
    with pytest.raises(PodError) as refused:
        do_probe("read", remote=replace(origin.remote(), credential_dir=str(wrong)))
    assert refused.value.reason == "RepositoryAuthFailed"
    assert "guess" not in refused.value.message

    nowhere = replace(origin.remote(), url="https://localhost:1/app.git")
    with pytest.raises(PodError) as unreachable:
        do_probe("read", remote=nowhere)
    assert unreachable.value.reason == "RepositoryUnreachable"


def test_what_the_account_needs_and_lacks_is_named(
    origin: Origin, do_probe: Do, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "FILES_SECONDS", 0.0)
    half = tmp_path / "half"
    half.mkdir()
    (half / "username").write_text("read")
    with pytest.raises(PodError) as secret:
        do_probe("read", remote=replace(origin.remote(), credential_dir=str(half)))
    assert (secret.value.reason, secret.value.message) == (
        "SecretNotFound",
        'secret "git-read" has no key password',
    )

    with pytest.raises(PodError) as authority:
        do_probe("read", remote=replace(origin.remote(), ca_file=str(tmp_path / "none")))
    assert authority.value.reason == "ConfigMapNotFound"
    assert '"ca"' in authority.value.message


def test_a_password_of_two_lines_reaches_no_header(
    origin: Origin, do_probe: Do, tmp_path: Path
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    before = len(origin.server.requests)
    odd = tmp_path / "odd"
    odd.mkdir()
    (odd / "username").write_text("work")
    (odd / "password").write_text("work-secret\nX-Other: yes\n")

    with pytest.raises(PodError) as found:
        do_probe("work", remote=replace(origin.remote("work"), credential_dir=str(odd)))
    assert found.value.reason == "RepositoryAuthFailed"
    assert all(request.user is None for request in origin.server.requests[before:])
