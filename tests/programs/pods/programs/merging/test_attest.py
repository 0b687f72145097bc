"""land with an attestation, against a real server: nothing lands without what is said of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.programs.merge import AttestConfig, LandResult
from bernstein.attestation import envelope, statement
from bernstein.core import names
from bernstein.pods.git.client import Git, GitError, init_bare
from bernstein.pods.git.errors import from_output
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.merging.keys import KeyPair, key_pair
from tests.programs.pods.programs.merging.refs import CANDIDATE, INTEGRATION, reason

pytestmark = pytest.mark.verification

TIME, _BY = "2030-01-01T12:00:00Z", {"id": statement.VERIFIER}
PREDICATE = {"verifier": _BY, "verificationResult": "PASSED", "timeVerified": TIME}
NO_ATTESTATIONS = """#!/bin/sh
while read -r old new ref; do
  case "$ref" in refs/bernstein/attestations/*) echo "not these" >&2; exit 1 ;; esac
done
"""
Lands = Callable[..., LandResult]


@pytest.fixture
def ready(origin: Origin) -> tuple[str, str]:
    """(tip of the integration ref, candidate on it)."""
    tip = origin.commit({"a": "1\n"}, ref=INTEGRATION)
    return tip, origin.commit({"b": "2\n"}, tip, ref=CANDIDATE)


@pytest.fixture
def keys(tmp_path: Path) -> KeyPair:
    return key_pair(tmp_path / "keys")


@pytest.fixture
def attest(do_land: Lands, keys: KeyPair) -> Lands:
    """Runs land as the operator has it run where the Project names a key."""

    def run(sha: str, expect: str | None, *, signs: bool = True, **changes: Any) -> LandResult:
        key = str(changes.pop("key", keys.private)) if signs else None
        where, public = names.attestation_ref(sha), changes.pop("public", None)
        asked = AttestConfig(where, json.dumps(PREDICATE), key, public)
        return do_land(sha, expect, attest=asked, **changes)

    return run


def said(origin: Origin, sha: str) -> bytes:
    """The file at the ref of the commit's attestation."""
    return origin.git("show", f"{names.attestation_ref(sha)}:{statement.FILE}").encode()


def refuses(origin: Origin, hook: str = NO_ATTESTATIONS) -> None:
    (origin.path / "hooks" / "pre-receive").write_text(hook)


def test_what_lands_is_attested_with_its_commit_and_its_tree(
    origin: Origin, ready: tuple[str, str], attest: Lands, keys: KeyPair
) -> None:
    tip, sha = ready

    assert attest(sha, tip) == LandResult("Landed", sha, "Signed")

    payload = envelope.opened(said(origin, sha), envelope.public_key(keys.public.read_bytes()))
    found = statement.read(payload)
    assert found.commits == {sha}
    assert found.trees == {origin.tip(f"{sha}^{{tree}}")}
    assert found.predicate == PREDICATE


def test_without_a_key_it_is_left_unsigned_and_said_so(
    origin: Origin, ready: tuple[str, str], attest: Lands
) -> None:
    tip, sha = ready

    assert attest(sha, tip, signs=False) == LandResult("Landed", sha, "Unsigned")
    assert json.loads(said(origin, sha))["signatures"] == []


def test_a_repeat_says_the_same_and_pushes_nothing(
    origin: Origin, ready: tuple[str, str], attest: Lands, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, sha = ready
    attest(sha, tip)
    there = origin.tip(names.attestation_ref(sha))
    monkeypatch.setattr(Git, "_push", lambda *_, **__: pytest.fail("it pushes"))

    assert attest(sha, tip) == LandResult("Landed", sha, "Signed")
    assert origin.tip(names.attestation_ref(sha)) == there


def test_what_somebody_else_has_put_there_is_overwritten(
    origin: Origin, ready: tuple[str, str], attest: Lands, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, sha = ready
    foreign = origin.commit({statement.FILE: "forged\n"}, ref=names.attestation_ref(sha))
    with monkeypatch.context() as taken:
        taken.setattr(Git, "overwrite", lambda git, ref, there: git.push(ref, there, None))
        assert reason(lambda: attest(sha, tip)) == "AttestationRefused", "nothing lands any more"

    assert attest(sha, tip) == LandResult("Landed", sha, "Signed")
    assert origin.tip(names.attestation_ref(sha)) != foreign


def test_branch_and_attestation_move_together_or_not_at_all(
    origin: Origin, ready: tuple[str, str], attest: Lands, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, sha = ready
    rival = origin.commit({"c": "3\n"}, tip)
    push_with = Git.push_with

    def late(self: Git, *arguments: str) -> None:
        origin.git("update-ref", INTEGRATION, rival)
        push_with(self, *arguments)

    monkeypatch.setattr(Git, "push_with", late)

    assert attest(sha, tip) == LandResult("Moved", rival)
    assert origin.git("for-each-ref", names.attestation_ref(sha)) == ""


def test_an_answer_lost_after_both_were_pushed_is_answered_by_the_remote(
    ready: tuple[str, str], attest: Lands, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, sha = ready
    push_with = Git.push_with

    def lost(self: Git, *arguments: str) -> None:
        push_with(self, *arguments)
        raise GitError("RepositoryUnreachable", "the connection broke")

    monkeypatch.setattr(Git, "push_with", lost)

    assert attest(sha, tip) == LandResult("Landed", sha, "Signed")


# --- servers that do not take both at once --------------------------------------------------------


def test_a_server_without_atomic_pushes_gets_the_signed_attestation_first(
    origin: Origin, ready: tuple[str, str], attest: Lands, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, sha = ready
    origin.git("config", "receive.advertiseAtomic", "false")
    push, seen = Git.push, []

    def watched(self: Git, *arguments: str | None) -> None:
        seen.append(origin.git("for-each-ref", "--format=%(refname)", names.attestation_ref(sha)))
        push(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Git, "push", watched)

    assert attest(sha, tip) == LandResult("Landed", sha, "Signed")
    assert seen == [names.attestation_ref(sha)]


def test_a_pod_that_dies_between_the_two_pushes_has_landed_nothing_and_the_next_one_lands(
    origin: Origin, ready: tuple[str, str], attest: Lands, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, sha = ready
    origin.git("config", "receive.advertiseAtomic", "false")
    with monkeypatch.context() as dying:
        dying.setattr(Git, "push", lambda *_: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            attest(sha, tip)
    assert origin.tip(INTEGRATION) == tip

    assert attest(sha, None, remote=origin.remote("read")) == LandResult("Moved", tip)
    assert attest(sha, tip) == LandResult("Landed", sha, "Signed")


def test_where_attestations_are_refused_nothing_lands_that_should_be_signed(
    origin: Origin, ready: tuple[str, str], attest: Lands
) -> None:
    tip, sha = ready
    refuses(origin)

    assert reason(lambda: attest(sha, tip)) == "AttestationRefused"
    assert origin.tip(INTEGRATION) == tip


def test_where_attestations_are_refused_what_is_unsigned_lands_without_one(
    origin: Origin, ready: tuple[str, str], attest: Lands
) -> None:
    tip, sha = ready
    refuses(origin)

    found = attest(sha, tip, signs=False)

    assert (found.state, found.tip, found.attestation) == ("Landed", sha, "Missing")
    assert found.refused.startswith("the git server does not take refs/")
    assert origin.tip(INTEGRATION) == sha


WORDS = {
    "not allowed": b"remote: error: refs/bernstein/ is not allowed here",
    "not supported": b"fatal: the receiving end does not support it: not supported",
    "forbidden": b"error: RPC failed; HTTP 403\nfatal: returned error: 403",
    "unknown": b"remote: computer says no",
    "broken off": b"fatal: the remote end hung up unexpectedly",
}


def refused_in(words: bytes, monkeypatch: pytest.MonkeyPatch, *, late: bool = True) -> None:
    """The server refuses both at once and, if `late`, the attestation alone, in these words."""

    def refuse(*_: Any) -> None:
        raise from_output(words, pushing=True)

    monkeypatch.setattr(Git, "push_with", refuse)
    if late:
        monkeypatch.setattr(Git, "overwrite", refuse)


@pytest.mark.parametrize("words", WORDS)
def test_in_whatever_words_a_server_refuses_one_what_is_unsigned_lands_and_says_so(
    origin: Origin,
    ready: tuple[str, str],
    attest: Lands,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
) -> None:
    tip, sha = ready
    refused_in(WORDS[words], monkeypatch)

    found = attest(sha, tip, signs=False)

    assert (found.state, found.tip, found.attestation) == ("Landed", sha, "Missing")
    assert origin.tip(INTEGRATION) == sha
    assert names.attestation_ref(sha) in found.refused


@pytest.mark.parametrize("words", WORDS)
def test_in_whatever_words_both_at_once_are_refused_they_go_one_after_the_other(
    ready: tuple[str, str], attest: Lands, monkeypatch: pytest.MonkeyPatch, words: str
) -> None:
    tip, sha = ready
    refused_in(WORDS[words], monkeypatch, late=False)

    assert attest(sha, tip) == LandResult("Landed", sha, "Signed")


@pytest.mark.parametrize("words", WORDS)
def test_in_whatever_words_a_server_refuses_one_nothing_lands_that_should_be_signed(
    origin: Origin,
    ready: tuple[str, str],
    attest: Lands,
    monkeypatch: pytest.MonkeyPatch,
    words: str,
) -> None:
    tip, sha = ready
    refused_in(WORDS[words], monkeypatch)
    expected = "CredentialRefused" if words == "forbidden" else "AttestationRefused"

    assert reason(lambda: attest(sha, tip)) == expected
    assert origin.tip(INTEGRATION) == tip


def test_a_server_that_is_gone_is_told_as_such(
    ready: tuple[str, str], attest: Lands, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, sha = ready
    refused_in(WORDS["broken off"], monkeypatch)
    read_ref, asked = Git.read_ref, []

    def goes_away(self: Git, ref: str) -> str | None:
        asked.append(ref)
        if len(asked) > 2:
            raise from_output(b"Could not resolve host", pushing=False)
        return read_ref(self, ref)

    monkeypatch.setattr(Git, "read_ref", goes_away)

    assert reason(lambda: attest(sha, tip)) == "RepositoryUnreachable"


def test_a_ref_in_the_way_of_the_attestation_has_its_reason(
    origin: Origin, ready: tuple[str, str], attest: Lands
) -> None:
    """Who may push below refs/bernstein/ can keep work from landing, as he can by moving refs."""
    tip, sha = ready
    origin.git("update-ref", f"{names.attestation_ref(sha)}/in-the-way", tip)

    assert reason(lambda: attest(sha, tip)) == "AttestationRefused"
    assert attest(sha, tip, signs=False).attestation == "Missing"


@pytest.mark.parametrize("signs", [True, False], ids=["signed", "unsigned"])
def test_a_protected_branch_has_its_own_reason(
    origin: Origin, ready: tuple[str, str], attest: Lands, *, signs: bool
) -> None:
    tip, sha = ready
    origin.git("update-ref", "refs/heads/protected", tip)
    onto = {"onto": "refs/heads/protected", "signs": signs}

    assert reason(lambda: attest(sha, tip, **onto)) == "BranchProtected"
    assert origin.tip("refs/heads/protected") == tip


def test_an_account_that_may_push_nothing_has_its_own_reason(
    origin: Origin, ready: tuple[str, str], attest: Lands
) -> None:
    tip, sha = ready

    assert reason(lambda: attest(sha, tip, remote=origin.remote("read"))) == "CredentialRefused"


# --- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["ed448", "x25519"])
def test_another_kind_of_key_is_refused_before_anything_is_pushed(
    origin: Origin, ready: tuple[str, str], attest: Lands, tmp_path: Path, algorithm: str
) -> None:
    tip, sha = ready
    key = key_pair(tmp_path / "others", algorithm).private

    assert reason(lambda: attest(sha, tip, key=key)) == "AttestationKeyInvalid"
    assert origin.tip(INTEGRATION) == tip


def test_nothing_is_signed_that_the_named_public_key_would_not_prove(
    ready: tuple[str, str], attest: Lands, keys: KeyPair, tmp_path: Path
) -> None:
    tip, sha = ready
    for public in (key_pair(tmp_path / "others").public, keys.private, tmp_path / "missing.pem"):
        assert reason(partial(attest, sha, tip, public=str(public))) == "AttestationKeyInvalid"
    assert attest(sha, tip, public=str(keys.public)) == LandResult("Landed", sha, "Signed")


def test_a_key_that_is_none_is_refused_and_not_quoted(
    ready: tuple[str, str], attest: Lands, keys: KeyPair, tmp_path: Path
) -> None:
    tip, sha = ready
    nonsense = tmp_path / "nonsense.pem"
    nonsense.write_text("-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n")

    for key in (nonsense, keys.public, tmp_path / "missing.pem"):
        with pytest.raises(Exception, match="AttestationKeyInvalid") as raised:
            attest(sha, tip, key=key)
        assert "c2VjcmV0" not in str(raised.value)


# --- who only looks -------------------------------------------------------------------------------


def test_who_only_looks_tells_whether_exactly_this_attestation_is_there(
    origin: Origin, ready: tuple[str, str], attest: Lands
) -> None:
    tip, sha = ready
    reader = origin.remote("read")
    attest(sha, tip)
    assert attest(sha, None, remote=reader) == LandResult("Landed", sha, "Signed")

    origin.commit({statement.FILE: "forged\n"}, ref=names.attestation_ref(sha))

    assert attest(sha, None, remote=reader) == LandResult("Landed", sha, "Missing")


def test_who_only_looks_needs_no_key_to_see_that_it_has_landed(
    origin: Origin, ready: tuple[str, str], attest: Lands, tmp_path: Path
) -> None:
    tip, sha = ready
    attest(sha, tip)

    gone = {"remote": origin.remote("read"), "key": tmp_path / "gone.pem"}

    assert attest(sha, None, **gone) == LandResult("Landed", sha, "OtherKey")


def test_who_only_looks_tells_of_the_signature_of_another_key(
    origin: Origin, ready: tuple[str, str], attest: Lands, tmp_path: Path
) -> None:
    tip, sha = ready
    reader, other = origin.remote("read"), key_pair(tmp_path / "newer").private
    attest(sha, tip)

    assert attest(sha, None, remote=reader, key=other).attestation == "OtherKey"
    assert attest(sha, None, remote=reader, signs=False).attestation == "OtherKey"

    forged = json.loads(said(origin, sha))
    forged["signatures"][0]["sig"] = "AAAA"
    origin.commit({statement.FILE: json.dumps(forged)}, ref=names.attestation_ref(sha))
    assert attest(sha, None, remote=reader).attestation == "Missing", "the key is ours"
    forged["payload"] = "e30="
    origin.commit({statement.FILE: json.dumps(forged)}, ref=names.attestation_ref(sha))
    assert attest(sha, None, remote=reader, key=other).attestation == "Missing"


def test_who_only_looks_tells_that_it_landed_before_there_was_a_key(
    origin: Origin, ready: tuple[str, str], attest: Lands
) -> None:
    tip, sha = ready
    attest(sha, tip, signs=False)

    assert attest(sha, None, remote=origin.remote("read")).attestation == "Unsigned"


def test_what_landed_under_another_key_is_signed_anew_by_who_may_push(
    ready: tuple[str, str], attest: Lands, tmp_path: Path
) -> None:
    tip, sha = ready
    attest(sha, tip)

    assert attest(sha, tip, key=key_pair(tmp_path / "newer").private).attestation == "Signed"


def test_what_somebody_else_has_landed_is_attested_afterwards(
    origin: Origin, ready: tuple[str, str], attest: Lands
) -> None:
    tip, sha = ready
    later = origin.commit({"c": "3\n"}, sha, ref=INTEGRATION)

    assert attest(sha, tip) == LandResult("Landed", later, "Signed")
    assert said(origin, sha)
    other_tree = origin.tip(f"{tip}^{{tree}}")
    assert attest(sha, tip, tree=other_tree).attestation == "Missing"


def test_a_look_at_a_branch_and_a_fetch_list_no_attestations(
    origin: Origin, ready: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tip, _ = ready
    origin.git("update-ref", "refs/heads/main", tip)
    for number in range(20):
        origin.git("update-ref", names.attestation_ref(f"{number:040x}"), tip)
    environment, trace = Git._environment, tmp_path / "trace"

    def traced(self: Git, extra: dict[str, str]) -> dict[str, str]:
        return environment(self, {**extra, "GIT_TRACE_PACKET": str(trace)})

    monkeypatch.setattr(Git, "_environment", traced)
    repository = init_bare(tmp_path / "mine.git")
    repository = Git(repository.git_dir, origin.remote())

    assert repository.read_ref("refs/heads/main") == tip
    repository.fetch([f"{INTEGRATION}:refs/seen"])
    assert "refs/heads/main" in trace.read_text()
    assert "refs/bernstein/attestations/" not in trace.read_text()
