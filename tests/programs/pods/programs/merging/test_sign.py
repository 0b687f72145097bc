"""land with a key of the Project's: what lands is a signed copy of what was verified."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.programs.merge import AttestConfig, LandResult, SignConfig
from bernstein.attestation import statement
from bernstein.core.names import attestation_ref
from bernstein.pods.git import signing
from bernstein.pods.git.client import Git, GitError
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.merging.refs import CANDIDATE, INTEGRATION, TARGET, reason

pytestmark = pytest.mark.verification

BRANCH = "refs/heads/bernstein/web-01234567"


@dataclass(frozen=True)
class Key:
    file: Path

    @property
    def config(self) -> SignConfig:
        return SignConfig(str(self.file), f"{self.file}.pub")


def ssh_key(folder: Path, kind: str = "ed25519", passphrase: str = "") -> Key:
    folder.mkdir(exist_ok=True)
    file = folder / f"{kind}{len([*folder.iterdir()])}"
    command = ["ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-C", "ours", "-f", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    return Key(file)


@pytest.fixture
def key(tmp_path: Path) -> Key:
    return ssh_key(tmp_path / "keys")


@pytest.fixture
def ready(origin: Origin) -> tuple[str, str]:
    """The target's tip, and a candidate on it."""
    tip = origin.commit({"a": "1\n"}, ref=TARGET)
    return tip, origin.commit({"b": "2\n"}, tip, ref=CANDIDATE)


@pytest.fixture
def do_sign(do_land: Callable[..., LandResult], key: Key) -> Callable[..., LandResult]:
    def run(sha: str, expect: str | None, **changes: Any) -> LandResult:
        return do_land(sha, expect, **{"onto": TARGET, "sign": key.config, **changes})

    return run


def proved(origin: Origin, sha: str, key: Key, folder: Path) -> bool:
    """As people and forges look."""
    signers = folder / "allowed_signers"
    signers.write_text(f"someone@example.com {Path(f'{key.file}.pub').read_text()}")
    settings = ["-c", "gpg.format=ssh", "-c", f"gpg.ssh.allowedSignersFile={signers}"]
    command = ["git", "-C", str(origin.path), *settings, "verify-commit", sha]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def shown(origin: Origin, sha: str) -> str:
    return origin.git("show", "-s", "--format=%T %P %an %ae %at %cn %ce %ct %B", sha)


def test_what_lands_is_the_verified_commit_with_a_signature_that_git_proves(
    origin: Origin,
    ready: tuple[str, str],
    do_sign: Callable[..., LandResult],
    key: Key,
    tmp_path: Path,
) -> None:
    tip, verified = ready

    result = do_sign(verified, tip)

    assert result == LandResult("Landed", origin.tip(TARGET), sha=origin.tip(TARGET))
    assert result.sha != verified
    assert shown(origin, result.sha) == shown(origin, verified)
    assert proved(origin, result.sha, key, tmp_path)
    assert not proved(origin, result.sha, ssh_key(tmp_path / "keys"), tmp_path)
    assert not proved(origin, verified, key, tmp_path)
    origin.git("fsck", "--strict")


def test_a_repeat_finds_it_landed_also_below_what_came_later_and_after_a_change_of_keys(
    origin: Origin, ready: tuple[str, str], do_sign: Callable[..., LandResult], tmp_path: Path
) -> None:
    tip, verified = ready
    first = do_sign(verified, tip).sha
    other = ssh_key(tmp_path / "keys").config

    for more in ({}, {"sign": other}, {"sign": None}):
        expect = None if more == {"sign": None} else tip
        assert do_sign(verified, expect, **more) == LandResult("Landed", first, sha=first)

    later = origin.commit({"c": "3\n"}, first, ref=TARGET)
    assert do_sign(verified, tip, sign=other) == LandResult("Landed", later, sha=first)
    reader = {"sign": None, "remote": origin.remote("read")}
    assert do_sign(verified, None, **reader) == LandResult("Landed", later, sha=first)


def test_an_answer_lost_after_the_push_is_answered_by_the_remote(
    origin: Origin,
    ready: tuple[str, str],
    do_sign: Callable[..., LandResult],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tip, verified = ready
    push = Git.push

    def lost(self: Git, ref: str, new: str, expect: str | None) -> None:
        push(self, ref, new, expect)
        raise GitError("RepositoryUnreachable", "the answer was lost")

    monkeypatch.setattr(Git, "push", lost)

    result = do_sign(verified, tip)

    assert (result.state, result.sha) == ("Landed", origin.tip(TARGET))


def test_what_was_never_pushed_is_not_found(
    origin: Origin, ready: tuple[str, str], do_sign: Callable[..., LandResult]
) -> None:
    tip, verified = ready
    assert do_sign(verified, None, sign=None) == LandResult("Moved", tip)
    other = origin.commit({"b": "2\n", "c": "3\n"}, tip, ref=TARGET)
    assert do_sign(verified, tip) == LandResult("Moved", other)


def test_the_branch_of_a_pull_request_gets_the_signed_copy_once(
    origin: Origin,
    ready: tuple[str, str],
    do_sign: Callable[..., LandResult],
    key: Key,
    tmp_path: Path,
) -> None:
    tip, verified = ready

    first = do_sign(verified, tip, branch=BRANCH)

    assert (first.state, first.sha) == ("Landed", origin.tip(BRANCH))
    assert proved(origin, first.sha, key, tmp_path)
    assert origin.tip(TARGET) == tip
    other = ssh_key(tmp_path / "keys").config
    assert do_sign(verified, tip, branch=BRANCH, sign=other) == first


def test_what_the_target_holds_already_is_signed_by_nobody(
    origin: Origin, do_sign: Callable[..., LandResult]
) -> None:
    tip = origin.commit({"a": "1\n"}, ref=TARGET)

    assert do_sign(tip, tip, ref=TARGET) == LandResult("Landed", tip)


def test_the_attestation_is_of_the_commit_that_landed(
    origin: Origin, ready: tuple[str, str], do_sign: Callable[..., LandResult]
) -> None:
    tip, verified = ready
    attest = AttestConfig(attestation_ref(verified), json.dumps({"verificationResult": "PASSED"}))

    result = do_sign(verified, tip, attest=attest)

    assert result.attestation == "Unsigned"
    envelope = json.loads(origin.git("show", f"{attestation_ref(result.sha)}:{statement.FILE}"))
    assert envelope["signatures"] == []
    refs = origin.git("for-each-ref", "--format=%(refname)", "refs/bernstein/attestations")
    assert refs == attestation_ref(result.sha)
    assert do_sign(verified, tip, attest=attest) == result


def test_only_what_is_ours_of_a_commit_is_signed(
    origin: Origin, ready: tuple[str, str], do_sign: Callable[..., LandResult]
) -> None:
    tip, verified = ready
    raw = origin.git("cat-file", "commit", verified)
    head, _, message = raw.partition("\n\n")
    forged = f"{head}\ngpgsig -----BEGIN SSH SIGNATURE-----\n forged\nx-more words\n\n{message}\n"
    made = subprocess.run(
        ["git", "-C", str(origin.path), "hash-object", "-t", "commit", "-w", "--stdin"],
        input=forged.encode(),
        check=True,
        capture_output=True,
    )
    sha = made.stdout.decode().strip()
    origin.git("update-ref", CANDIDATE, sha)

    landed = origin.git("cat-file", "commit", do_sign(sha, tip).sha)

    assert "forged" not in landed
    assert "x-more" not in landed
    assert landed.count("\ngpgsig ") == 1


@pytest.mark.parametrize("kind", ["rsa", "ecdsa", "passphrase", "public", "other", "none", "text"])
def test_with_a_key_that_cannot_sign_nothing_lands_and_none_is_quoted(
    origin: Origin,
    ready: tuple[str, str],
    do_sign: Callable[..., LandResult],
    tmp_path: Path,
    kind: str,
) -> None:
    tip, verified = ready
    type_ = kind if kind in ("rsa", "ecdsa") else "ed25519"
    bad = ssh_key(tmp_path / "bad", type_, "secret words" if kind == "passphrase" else "").file
    config = SignConfig(str(bad))
    if kind == "public":
        config = SignConfig(f"{bad}.pub")
    elif kind == "other":
        config = SignConfig(str(bad), f"{ssh_key(tmp_path / 'bad').file}.pub")
    elif kind in ("none", "text"):
        bad.unlink() if kind == "none" else bad.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    quoted = bad.read_text().splitlines()[1:2] if bad.exists() else []

    with pytest.raises(Exception, match="SigningKeyInvalid") as raised:
        do_sign(verified, tip, sign=config)

    assert not any(each in str(raised.value) for each in quoted)
    assert origin.tip(TARGET) == tip


def test_a_tree_that_was_not_verified_is_not_signed(
    origin: Origin, ready: tuple[str, str], do_sign: Callable[..., LandResult]
) -> None:
    tip, verified = ready
    other = origin.tip(f"{tip}^{{tree}}")

    assert reason(partial(do_sign, verified, tip, tree=other)) == "TreeMismatch"
    assert origin.tip(TARGET) == tip
    assert origin.git("for-each-ref", INTEGRATION) == ""


def test_the_signature_is_what_ssh_keygen_makes(key: Key, tmp_path: Path) -> None:
    content = b"tree 1\n\nWork\n"
    file = tmp_path / "content"
    file.write_bytes(content)
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", str(key.file), str(file)]
    subprocess.run(command, check=True, capture_output=True)

    ours = signing.armoured(content, signing.private_key(key.config))

    assert ours + "\n" == Path(f"{file}.sig").read_text()
