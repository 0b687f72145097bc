"""`bernstein attest verify` on a clone of what land has pushed, and on whatever else is there."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from securesystemslib.dsse import Envelope
from typer.testing import CliRunner

from bernstein.api.programs.merge import AttestConfig, LandConfig
from bernstein.attestation import envelope, statement
from bernstein.attestation.statement import EXTENSION, VERIFIER
from bernstein.cli.main import app
from bernstein.core import names
from bernstein.pods.programs import land
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import GitServer, plain_env
from tests.programs.pods.programs.merging.keys import KeyPair, key_pair
from tests.programs.pods.programs.merging.refs import CANDIDATE, INTEGRATION, TARGET

pytestmark = pytest.mark.verification

Object = dict[str, Any]
READ = statement.read


@dataclass(frozen=True)
class Landed:
    """A Task's commit in the integration ref and, on that, one that a Plan has delivered."""

    clone: Path
    keys: KeyPair
    base: str
    task: str
    plan: str


def predicate(**ours: Any) -> Object:
    said = {"kind": "Task", "name": "add-api", "namespace": "team", "checks": [], **ours}
    return {
        "verifier": {"id": VERIFIER},
        "verificationResult": "PASSED",
        "resourceUri": "git+https://git.example/app.git@refs/heads/main",
        "timeVerified": "2030-01-01T12:00:00Z",
        EXTENSION: said | {"project": {"name": "default"}},
    }


@pytest.fixture(scope="module")
def template(git_server: GitServer, tmp_path_factory: pytest.TempPathFactory) -> Landed:
    (git_server.folder / "repositories").mkdir(exist_ok=True)
    origin = Origin(git_server, "attested", git_server.create("attested"))
    folder = tmp_path_factory.mktemp("attested")
    keys = key_pair(folder / "keys")
    base = origin.commit({"a": "1\n"}, ref=TARGET)
    origin.git("update-ref", INTEGRATION, base)
    task = origin.commit({"b": "2\n"}, base, ref=CANDIDATE)
    checks = [{"name": "lint", "verdict": "Passed", "required": True}]
    _land(origin, folder / "task", keys, task, base, INTEGRATION, predicate(checks=checks))
    newer = origin.commit({"c": "3\n"}, base, ref=TARGET)
    plan = origin.commit({"b": "2\n"}, newer, task, ref=CANDIDATE)
    landings = {"base": base, "tip": task, "count": 1}
    whole = predicate(kind="Plan", landings=landings)
    _land(origin, folder / "plan", keys, plan, newer, TARGET, whole)
    clone = folder / "clone"
    _git("clone", "-q", str(origin.path), str(clone))
    every = "+refs/bernstein/attestations/*:refs/bernstein/attestations/*"
    _git("-C", str(clone), "fetch", "-q", "origin", every)
    return Landed(clone, keys, base, task, plan)


def _land(
    origin: Origin, folder: Path, keys: KeyPair, sha: str, expect: str, onto: str, says: Object
) -> None:
    tree = origin.tip(f"{sha}^{{tree}}")
    asked = AttestConfig(names.attestation_ref(sha), json.dumps(says), str(keys.private))
    values = (CANDIDATE, sha, tree, onto, expect, str(folder))
    assert land.run(LandConfig(origin.remote("deliver"), *values, asked)).attestation == "Signed"


@pytest.fixture
def landed(template: Landed, tmp_path: Path) -> Landed:
    """With a clone of its own."""
    clone = tmp_path / "clone"
    shutil.copytree(template.clone, clone)
    return Landed(clone, template.keys, template.base, template.task, template.plan)


def _git(*arguments: str, input: bytes | None = None) -> str:  # noqa: A002
    command = ["git", *arguments]
    done = subprocess.run(command, input=input, env=plain_env(), capture_output=True, check=True)
    return done.stdout.decode().strip()


def there(landed: Landed, sha: str) -> bytes:
    at = f"{names.attestation_ref(sha)}:{statement.FILE}"
    return _git("-C", str(landed.clone), "show", at).encode()


def put(landed: Landed, sha: str, content: bytes, file: str = statement.FILE) -> None:
    """Lets the clone have this in place of the attestation of the commit."""
    where = ("-C", str(landed.clone))
    blob = _git(*where, "hash-object", "-w", "--stdin", input=content)
    tree = _git(*where, "mktree", input=f"100644 blob {blob}\t{file}\n".encode())
    commit = _git(*where, "commit-tree", tree, "-m", "forged")
    _git(*where, "update-ref", names.attestation_ref(sha), commit)


def call(landed: Landed, sha: str, *more: str, key: Path | None = None) -> tuple[int, Object]:
    """(exit code, answer) of the command."""
    options = ("--key", str(key or landed.keys.public), "--repo", str(landed.clone), "--json")
    done = CliRunner().invoke(app, ["attest", "verify", *options, *more, "--", sha])
    return done.exit_code, json.loads(done.stdout)


def refused(landed: Landed, sha: str, *more: str, key: Path | None = None) -> str:
    """The reason; nothing is refused without a remedy."""
    code, answer = call(landed, sha, *more, key=key)
    assert code != 0
    assert answer["error"]["remedy"]
    return str(answer["error"]["reason"])


def test_what_land_has_pushed_is_proved_from_a_clone(landed: Landed) -> None:
    code, answer = call(landed, landed.task)

    assert (code, answer["verified"], answer["sha"]) == (0, True, landed.task)
    assert answer["predicate"][EXTENSION]["checks"][0]["name"] == "lint"


@pytest.mark.parametrize("left_out", ["blob:none", "tree:0"])
def test_it_asks_no_server_also_in_a_clone_that_has_left_contents_there(
    landed: Landed, left_out: str, tmp_path: Path
) -> None:
    url = _git("-C", str(landed.clone), "remote", "get-url", "origin")
    _git("-C", url, "config", "uploadpack.allowFilter", "true")
    asked, server = tmp_path / "asked", tmp_path / "upload-pack"
    server.write_text(f'#!/bin/sh\ntouch {asked}\nexec git-upload-pack "$@"\n')
    server.chmod(0o755)
    partial = replace(landed, clone=tmp_path / "partial")
    where = ("-C", str(partial.clone))
    _git("clone", "-q", "-n", f"--filter={left_out}", f"file://{url}", str(partial.clone))
    _git(*where, "config", "remote.origin.uploadpack", str(server))
    ref = names.attestation_ref(landed.task)
    _git(*where, "fetch", "-q", "origin", f"+{ref}:{ref}")
    asked.unlink()

    assert refused(partial, landed.task) == "NoAttestation"
    assert not asked.exists()

    _git(*where, "fetch", "-q", "--refetch", "--no-filter", "origin", f"+{ref}:{ref}")
    asked.unlink()
    code, answer = call(partial, landed.task)
    assert (code, answer["verified"], answer["sha"]) == (0, True, landed.task)
    assert not asked.exists()


def test_a_person_reads_which_checks_it_passed(landed: Landed) -> None:
    options = ["--key", str(landed.keys.public), "--repo", str(landed.clone)]
    shown = CliRunner().invoke(app, ["verify-attestation", landed.task, *options])

    assert shown.exit_code == 0
    assert f"✓ {landed.task} was verified" in shown.stdout
    assert "Passed     lint" in shown.stdout


def test_a_plan_is_proved_with_what_each_of_its_tasks_landed(landed: Landed) -> None:
    code, answer = call(landed, "HEAD", "--landings")

    assert (code, answer["sha"], answer["landings"]) == (0, landed.plan, [landed.task])
    _git("-C", str(landed.clone), "update-ref", "-d", names.attestation_ref(landed.task))
    assert call(landed, "HEAD")[0] == 0
    assert refused(landed, "HEAD", "--landings") == "NoAttestation"


@pytest.mark.parametrize("number", [0, 2, "1", None])
def test_as_many_commits_landed_as_the_plan_counted(landed: Landed, number: object) -> None:
    landings = {"base": landed.base, "tip": landed.task, "count": number}
    signer = envelope.private_key(landed.keys.private.read_bytes())
    tree = _git("-C", str(landed.clone), "rev-parse", f"{landed.plan}^{{tree}}")
    says = predicate(kind="Plan", landings=landings)
    put(
        landed,
        landed.plan,
        envelope.signed(statement.made(says, commit=landed.plan, tree=tree), signer),
    )

    assert call(landed, landed.plan)[0] == 0
    assert refused(landed, landed.plan, "--landings") == "WrongLandings"


def test_what_it_was_verified_for_can_be_asked_for(landed: Landed) -> None:
    uri = "git+https://git.example/app.git@refs/heads/main"

    assert call(landed, landed.task, "--resource", uri)[0] == 0
    assert refused(landed, landed.task, "--resource", f"{uri}-other") == "WrongResource"


def test_a_commit_that_names_no_landings_has_none(landed: Landed) -> None:
    assert refused(landed, landed.task, "--landings") == "NoLandings"


def test_a_commit_without_an_attestation_is_not_proved(landed: Landed) -> None:
    assert refused(landed, landed.base) == "NoAttestation"


def test_the_signature_of_another_key_proves_nothing(landed: Landed, tmp_path: Path) -> None:
    assert refused(landed, landed.task, key=key_pair(tmp_path / "own").public) == "WrongKey"


class Everything(frozenset[str]):
    def __contains__(self, _: object) -> bool:
        return True


def about_everything(payload: bytes) -> statement.Statement:
    return replace(READ(payload), commits=Everything(), trees=Everything())


def test_the_attestation_of_another_commit_proves_nothing(
    landed: Landed, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(landed, landed.base, there(landed, landed.task))

    with monkeypatch.context() as taken:
        taken.setattr(statement, "read", about_everything)
        assert call(landed, landed.base)[0] == 0, "who compares the signature alone believes it"

    assert refused(landed, landed.base) == "WrongSubject"


def test_another_tree_under_the_same_commit_proves_nothing(
    landed: Landed, monkeypatch: pytest.MonkeyPatch
) -> None:
    signer = envelope.private_key(landed.keys.private.read_bytes())
    other = statement.made(predicate(), commit=landed.task, tree="0" * 40)
    put(landed, landed.task, envelope.signed(other, signer))

    with monkeypatch.context() as taken:
        taken.setattr(statement, "read", about_everything)
        assert call(landed, landed.task)[0] == 0, "who compares the signature alone believes it"

    assert refused(landed, landed.task) == "WrongSubject"


def test_a_replaced_object_shows_no_other_tree(landed: Landed) -> None:
    _git("-C", str(landed.clone), "replace", landed.task, landed.base)

    assert call(landed, landed.task)[0] == 0


def test_what_is_unsigned_proves_nothing(landed: Landed) -> None:
    payload = json.loads(there(landed, landed.task))["payload"]
    put(landed, landed.task, envelope.unsigned(base64.b64decode(payload)))

    assert refused(landed, landed.task) == "Unsigned"


def test_how_to_read_what_is_unsigned_is_told(landed: Landed) -> None:
    payload = json.loads(there(landed, landed.task))["payload"]
    put(landed, landed.task, envelope.unsigned(base64.b64decode(payload)))

    _, answer = call(landed, landed.task)

    (read,) = re.findall(r"`git show (\S+) \| jq '.payload[^`]*`", answer["error"]["remedy"])
    shown = json.loads(_git("-C", str(landed.clone), "show", read))
    assert base64.b64decode(shown["payload"]) == base64.b64decode(payload)


def edited(change: Callable[[Object], None]) -> Callable[[bytes], bytes]:
    """Changes the envelope."""

    def edit(content: bytes) -> bytes:
        found = json.loads(content)
        change(found)
        return json.dumps(found).encode()

    return edit


def _another_verdict(found: Object) -> None:
    said = base64.b64decode(found["payload"]).replace(b'"Passed"', b'"Bypassed"')
    found["payload"] = base64.b64encode(said).decode()


def _another_signature(found: Object) -> None:
    old = base64.b64decode(found["signatures"][0]["sig"])
    found["signatures"][0]["sig"] = base64.b64encode(bytes([old[0] ^ 1]) + old[1:]).decode()


TAMPERED: dict[str, Callable[[bytes], bytes]] = {
    "payload": edited(_another_verdict),
    "signature": edited(_another_signature),
    "type": edited(lambda found: found.update(payloadType="application/json")),
    "twice": edited(lambda found: found["signatures"].extend(found["signatures"])),
    "no signatures": edited(lambda found: found.pop("signatures")),
    "not base64": edited(lambda found: found.update(payload="?")),
    "list": lambda content: b"[" + content + b"]",
    "cut": lambda content: content[:-20],
    "empty": lambda _: b"",
    "deep": lambda _: b"[" * 100_000,
    "large": lambda content: content + b" " * envelope.LARGEST,
}


@pytest.mark.parametrize("how", TAMPERED)
def test_whatever_is_changed_of_the_envelope_proves_nothing(landed: Landed, how: str) -> None:
    put(landed, landed.task, TAMPERED[how](there(landed, landed.task)))

    assert refused(landed, landed.task) == "Tampered"


def test_another_verdict_is_believed_only_where_no_signature_is_compared(
    landed: Landed, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(landed, landed.task, TAMPERED["payload"](there(landed, landed.task)))

    with monkeypatch.context() as taken:
        taken.setattr(Envelope, "verify", lambda *_: {})
        code, answer = call(landed, landed.task)
        assert (code, answer["predicate"][EXTENSION]["checks"][0]["verdict"]) == (0, "Bypassed")

    assert refused(landed, landed.task) == "Tampered"


def test_a_ref_to_something_else_proves_nothing(landed: Landed) -> None:
    put(landed, landed.task, b"a", file="another")

    assert refused(landed, landed.task) == "Tampered"


def test_what_else_the_key_has_signed_proves_nothing(landed: Landed) -> None:
    signer = envelope.private_key(landed.keys.private.read_bytes())
    put(landed, landed.task, envelope.signed(b'{"_type":"something else"}', signer))

    assert refused(landed, landed.task) == "WrongSubject"


def test_a_wrong_call_says_what_is_wrong_and_ends_with_2(landed: Landed, tmp_path: Path) -> None:
    empty = replace(landed, clone=tmp_path / "empty")
    empty.clone.mkdir()
    for where, sha, key, reason in (
        (empty, "HEAD", None, "NoRepository"),
        (landed, "f" * 40, None, "CommitNotFound"),
        (landed, "--all", None, "CommitNotFound"),
        (landed, "HEAD", landed.keys.private, "KeyInvalid"),
        (landed, "HEAD", tmp_path / "missing.pem", "KeyInvalid"),
    ):
        code, answer = call(where, sha, key=key)
        assert (code, answer["error"]["reason"]) == (2, reason)


def test_a_person_reads_who_has_let_it_go_on_without_a_gate_and_why(landed: Landed) -> None:
    who = {"by": "ann@example.org", "reason": "wrong here", "approval": "a", "verdict": "Failed"}
    check = {"name": "no_foo", "verdict": "Bypassed", "reason": "ExitCode", "required": True}
    signer = envelope.private_key(landed.keys.private.read_bytes())
    tree = _git("-C", str(landed.clone), "rev-parse", f"{landed.task}^{{tree}}")
    says = statement.made(
        predicate(checks=[check | {"bypass": who}]), commit=landed.task, tree=tree
    )
    put(landed, landed.task, envelope.signed(says, signer))
    options = ["--key", str(landed.keys.public), "--repo", str(landed.clone)]

    shown = CliRunner().invoke(app, ["attest", "verify", landed.task, *options])

    row = "Bypassed   no_foo (ExitCode) by ann@example.org, who says: wrong here"
    assert row in shown.stdout


def test_one_other_commit_is_told_as_one(landed: Landed) -> None:
    options = ["--key", str(landed.keys.public), "--repo", str(landed.clone), "--landings"]

    shown = CliRunner().invoke(app, ["attest", "verify", landed.plan, *options])

    assert "✓ so was 1 other commit that its Tasks landed" in shown.stdout
