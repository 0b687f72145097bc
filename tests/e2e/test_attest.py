"""What lands is attested in real pods, and proved from a clone by the public key."""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.attestation.statement import EXTENSION
from bernstein.cli.main import app
from tests.demo.manifests import GIT_PORT
from tests.demo.run import forwarded
from tests.e2e.conftest import (
    EXISTS,
    MakeWorld,
    Object,
    World,
    condition,
    does,
    state,
    with_default_gates,
    writing,
)
from tests.e2e.test_cli import CommandLine
from tests.programs.pods.programs.merging.keys import KeyPair, key_pair

pytestmark = pytest.mark.verification

GOOD = does("good", writing("new.py", "X = 1\n"))


@pytest.fixture
def keys(tmp_path: Path) -> KeyPair:
    return key_pair(tmp_path / "keys")


def signs(spec: Object) -> None:
    spec["attestation"] = {"key": {"name": "signs", "key": "key.pem"}, "publicKey": "key.pub"}


def secret(private: Path, public: Path) -> Object:
    content = {"key.pem": private.read_text(), "key.pub": public.read_text()}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "signs"},
        "stringData": content,
    }


def clone(here: World, folder: Path, refs: str = "refs/bernstein/attestations/*") -> Path:
    """One that has these refs, too. Made with the account *read*, through the server's own name and
    certificate."""
    folder.mkdir()
    ca = folder / "ca.crt"
    ca.write_text(here.server.certificate.ca)
    token = base64.b64encode(f"read:{here.server.passwords['read']}".encode()).decode()
    environment = {**here.stack.environment, "GIT_SSL_CAINFO": str(ca)}
    with forwarded(here.stack, here.server.namespace, here.server.name, GIT_PORT) as port:
        host = f"{here.server.name}.{here.server.namespace}.svc"
        url = here.server.url(here.repository).replace(f":{GIT_PORT}/", f":{port}/")
        settings = [f"http.curloptResolve={host}:{port}:127.0.0.1"]
        settings.append(f"http.extraHeader=Authorization: Basic {token}")
        git = ["git", *(word for each in settings for word in ("-c", each))]
        for command in (
            ["clone", "--quiet", url, str(folder / "clone")],
            ["-C", str(folder / "clone"), "fetch", "--quiet", url, f"+{refs}:{refs}"],
        ):
            subprocess.run([*git, *command], check=True, env=environment)
    return folder / "clone"


def proved(folder: Path, sha: str, keys: KeyPair, *more: str) -> tuple[int, Any]:
    options = ("--key", str(keys.public), "--repo", str(folder), "--json", *more)
    done = CliRunner().invoke(app, ["attest", "verify", *options, sha])
    return done.exit_code, json.loads(done.stdout)


def test_what_lands_is_signed_and_a_clone_proves_every_check(
    world: MakeWorld, keys: KeyPair, tmp_path: Path
) -> None:
    def signs_verdicts(spec: Object) -> None:
        signs(spec)
        with_default_gates(spec)

    here = world([GOOD], signs_verdicts)
    here.apply(secret(keys.private, keys.public))
    here.task("good")
    status = here.closed("good")["status"]

    assert status["delivery"]["attestation"] == "Signed"
    sha = status["delivery"]["sha"]
    code, answer = proved(clone(here, tmp_path / "git"), sha, keys)
    assert code == 0
    assert answer["tree"] == status["verification"]["tree"]
    checks = {each["name"]: each for each in answer["predicate"][EXTENSION]["checks"]}
    assert checks.keys() == {each["name"] for each in status["verification"]["checks"]}
    assert checks["lint"]["verdict"] == "Passed"
    assert checks["lint"]["image"].startswith("sha256:")


def test_who_has_let_work_go_on_without_a_gate_is_in_what_is_signed(
    world: MakeWorld, keys: KeyPair, tmp_path: Path
) -> None:
    own = {"name": "no_foo", "command": "! grep -n foo new.py", "image": "bernstein-toolchain:dev"}

    def gates(spec: Object) -> None:
        signs(spec)
        spec["gates"] = {"extends": "Default", "pipeline": [own], "allowBypass": True}

    here = world([does("foolish", writing("new.py", "foo = 1\n"))], gates)
    here.apply(secret(keys.private, keys.public))
    bernstein, before = CommandLine(here, tmp_path), here.tip()
    here.task("foolish", maxRetries=0)
    here.await_("task", "foolish", lambda t: state(t) == "PendingApproval", 180)

    shown = bernstein("pending", "--json")
    silent = bernstein("approve", "foolish")
    (asked,) = json.loads(shown.out)
    assert (asked["gate"], "1:foo = 1" in asked["excerpt"]) == ("no_foo", True)
    assert (silent.code, "1:foo = 1" in silent.err) == (2, True)
    assert here.tip() == before
    answer = bernstein("approve", "foolish", "--reason", "foo is a word here")

    assert answer.code == 0, answer
    assert "gate 'no_foo' is bypassed by" in answer.out
    status = here.closed("foolish", 180)["status"]
    assert (status["attempt"], status["delivery"]["attestation"]) == (1, "Signed")
    sha = status["delivery"]["sha"]
    assert sha == here.tip()
    code, answered = proved(clone(here, tmp_path / "git"), sha, keys)
    assert code == 0
    (check,) = (c for c in answered["predicate"][EXTENSION]["checks"] if c["name"] == "no_foo")
    assert check["verdict"] == "Bypassed"
    assert (check["bypass"]["reason"], check["bypass"]["verdict"]) == (
        "foo is a word here",
        "Failed",
    )


WORKFLOW = ".github/workflows/x.yml"
CODE, CI = "small-code-good", "small-ci-ci"


def test_what_ci_runs_waits_for_a_person_whom_the_plans_attestation_names(
    world: MakeWorld, keys: KeyPair, tmp_path: Path
) -> None:
    """The Project says nothing of approvals or protected paths."""
    here = world([GOOD, does("ci", writing(WORKFLOW, "on: push\n"))], signs)
    here.apply(secret(keys.private, keys.public))
    before = here.tip()
    stages = [
        {"name": "code", "steps": [{"title": "good", "completionSignals": [EXISTS]}]},
        {"name": "ci", "dependsOn": ["code"], "steps": [{"title": "ci"}]},
    ]
    here.plan("small", stages)

    task = here.await_("task", CI, lambda t: state(t) == "PendingApproval", 240)
    assert task["status"]["approval"]["because"] == [f"it changes a protected path: '{WORKFLOW}'"]
    assert "approval" not in here.get("task", CODE)["status"]
    judged_again = here.bernstein("verify", CI, "--json")
    assert (judged_again.code, judged_again.json["error"]["reason"]) == (1, "NothingToVerify")
    assert here.tip() == before
    assert here.bernstein("approve", CI, "--reason", "it is asked for").code == 0

    here.wait("plan/small", "condition=Succeeded")
    me = here.kubectl("auth", "whoami", "-o", "jsonpath={.status.userInfo.username}")
    sha, first = here.tip(), here.get("task", CODE)["status"]["delivery"]["sha"]
    code, answer = proved(clone(here, tmp_path / "git"), sha, keys, "--landings")
    assert code == 0, answer
    ours, last = answer["predicate"][EXTENSION], here.get("task", CI)
    assert answer["landings"] == [first]
    assert (ours["kind"], ours["name"], ours["landings"]["count"]) == ("Plan", "small", 2)
    told = ours["lastTask"]
    assert (told["name"], told["uid"]) == (CI, last["metadata"]["uid"])
    assert (told["session"], told["attempt"]) == (f"{CI}-s1", 1)
    given = last["status"]["approval"]
    assert told["approval"] == {"name": given["name"], "by": me, "digest": given["asks"]["digest"]}


def test_without_a_key_it_is_left_unsigned(world: MakeWorld, keys: KeyPair, tmp_path: Path) -> None:
    here = world([GOOD])
    here.task("good")
    delivery = here.closed("good")["status"]["delivery"]

    assert delivery["attestation"] == "Unsigned"
    code, answer = proved(clone(here, tmp_path / "git"), delivery["sha"], keys)
    assert (code, answer["error"]["reason"]) == (1, "Unsigned")


def test_a_key_that_cannot_sign_is_told_by_the_project_and_nothing_lands(
    world: MakeWorld, keys: KeyPair
) -> None:
    here = world([GOOD], signs)
    before = here.tip()
    here.apply(secret(keys.public, keys.private))
    here.task("good")

    name = here.project["metadata"]["name"]
    project = here.await_("project", name, _ready("AttestationKeyInvalid"))
    assert "openssl genpkey" in condition(project, "Ready")["message"]
    here.await_("task", "good", _waits("AttestationKeyInvalid"))
    assert here.tip() == before


def test_a_key_that_its_public_half_does_not_prove_signs_nothing_and_the_work_waits(
    world: MakeWorld, keys: KeyPair, tmp_path: Path
) -> None:
    here = world([GOOD], signs)
    before = here.tip()
    here.apply(secret(keys.private, key_pair(tmp_path / "others").public))
    here.task("good")

    here.await_("project", here.project["metadata"]["name"], _ready("Accepted"))
    task = here.await_("task", "good", _waits("AttestationKeyInvalid"))
    assert here.tip() == before
    assert task["status"]["attempt"] == 1


def test_no_pod_but_the_one_that_lands_has_the_private_key(world: MakeWorld, keys: KeyPair) -> None:
    here = world([GOOD], signs)
    here.await_("project", here.project["metadata"]["name"], _ready("SecretNotFound"))
    assert _that_name(here, "key.pub") == {"probe"}
    assert _that_name(here, "key.pem") == set()

    here.apply(secret(keys.private, keys.public))
    here.task("good")
    here.closed("good")

    assert _that_name(here, "key.pem") == {"land"}


def _that_name(here: World, key: str) -> set[str]:
    """Which Jobs have a pod that names it."""
    pods = here.all("pod")
    return {p["metadata"]["labels"]["bernstein.dev/job"] for p in pods if key in json.dumps(p)}


def _ready(reason: str) -> Callable[[Object], bool]:
    return lambda project: condition(project, "Ready").get("reason") == reason


def _waits(reason: str) -> Callable[[Object], bool]:
    return lambda task: (task["status"].get("waiting") or {}).get("reason") == reason
