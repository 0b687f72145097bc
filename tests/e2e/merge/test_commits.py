"""What lands is one commit in the names that the Project says, and a clone proves its signature."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.e2e.conftest import MakeWorld, Object, World, does, writing
from tests.e2e.test_attest import clone
from tests.programs.pods.programs.merging.test_sign import Key, ssh_key

AUTHOR = {"name": "Agents of Shop", "email": "agents@example.com"}
COMMITTER = {"name": "Bernstein", "email": "bernstein@example.com"}


def squashes_and_signs(spec: Object) -> None:
    spec["merge"] = {
        "strategy": "direct",
        "method": "Squash",
        "commit": {"author": AUTHOR, "committer": COMMITTER, "signOff": True},
        "signing": {"key": {"name": "signing-key", "key": "id"}, "publicKey": "id.pub"},
    }


def give_key(here: World, key: Key) -> None:
    content = {"id": key.file.read_text(), "id.pub": Path(f"{key.file}.pub").read_text()}
    metadata = {"name": "signing-key"}
    here.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": content})


def proved(repository: Path, sha: str, key: Key) -> bool:
    """As the page on signing has it done."""
    signers = repository.parent / "allowed_signers"
    signers.write_text(f"{COMMITTER['email']} {Path(f'{key.file}.pub').read_text()}")
    settings = ["-c", "gpg.format=ssh", "-c", f"gpg.ssh.allowedSignersFile={signers}"]
    command = ["git", "-C", str(repository), *settings, "verify-commit", sha]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def test_a_plan_lands_as_one_signed_commit_of_the_people_that_the_project_names(
    world: MakeWorld, tmp_path: Path
) -> None:
    key = ssh_key(tmp_path / "keys")
    names = ("new", "other")
    here = world([does(n, writing(f"{n}.py", "X = 1\n")) for n in names], squashes_and_signs)
    give_key(here, key)
    before = here.tip()
    steps = [
        {"title": n, "completionSignals": [{"type": "path_exists", "path": f"{n}.py"}]}
        for n in names
    ]
    here.plan("shop", [{"name": "build", "steps": steps}])
    plan = here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", 240)

    delivery, tip = plan["status"]["delivery"], here.tip()
    assert delivery["sha"] == tip != delivery["verifiedSha"]
    assert here.tip("main^{tree}") == delivery["tree"]
    assert here.on_server("rev-list", "--parents", "-1", "main").split() == [tip, before]
    assert {"new.py", "other.py"} <= set(here.files())
    shown = here.on_server("show", "-s", "--format=%an <%ae>%n%cn <%ce>%n%B", "main")
    author, committer, *message = shown.splitlines()
    assert author == "{name} <{email}>".format(**AUTHOR)
    assert committer == "{name} <{email}>".format(**COMMITTER)
    assert "Signed-off-by: {name} <{email}>".format(**COMMITTER) in message

    cloned = clone(here, tmp_path / "git")
    assert proved(cloned, tip, key)
    assert not proved(cloned, tip, ssh_key(tmp_path / "keys"))
