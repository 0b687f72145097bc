"""What Git LFS stores on a real Gitea is in the checkout of a check whose Project asks for it."""

from __future__ import annotations

import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from bernstein.api.pod import CheckoutConfig, Remote
from bernstein.pods.errors import PodError
from bernstein.pods.programs import checkout
from tests.gitea import Gitea
from tests.programs.forges.repository import BOT, OWNER, Repository

TLS = True
DATA = b"\x89PNG\r\n" + bytes(range(256)) * 1000
MEDIA = "application/vnd.git-lfs+json"


def stored(server: Gitea, name: str, data: bytes) -> str:
    """Uploads a content as its owner's git would; returns its pointer."""
    oid = hashlib.sha256(data).hexdigest()
    wanted = [{"oid": oid, "size": len(data)}]
    asked = {"operation": "upload", "transfers": ["basic"], "objects": wanted}
    url = f"{server.url}/{OWNER}/{name}.git/info/lfs/objects/batch"
    with httpx.Client(auth=(OWNER, server.password), verify=server.trusts()) as http:
        told = http.post(url, json=asked, headers={"accept": MEDIA, "content-type": MEDIA})
        actions = told.raise_for_status().json()["objects"][0].get("actions")
        if actions is not None:
            place = actions["upload"]
            headers = {**place.get("header", {}), "content-type": "application/octet-stream"}
            http.put(place["href"], content=data, headers=headers).raise_for_status()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(data)}\n"


@pytest.fixture
def config(server: Gitea, repository: Repository, tmp_path: Path) -> CheckoutConfig:
    """Of the branch, by the account of who may read it."""
    assert server.certificate is not None
    (tmp_path / "ca.crt").write_text(server.certificate.ca)
    (tmp_path / "account").mkdir()
    (tmp_path / "account/username").write_text(BOT)
    (tmp_path / "account/password").write_text(server.password)
    remote = Remote(repository.url, str(tmp_path / "account"), str(tmp_path / "ca.crt"))
    return CheckoutConfig(
        remote,
        "refs/heads/main",
        git_dir=str(tmp_path / "own.git"),
        worktree=str(tmp_path / "tree"),
        worktree_git=True,
        lfs=True,
    )


def commit(server: Gitea, repository: Repository, file: str, text: str) -> None:
    server.commit(OWNER, repository.name, file, text, branch="main")


def test_a_check_finds_the_content_and_its_git_no_change(
    server: Gitea, repository: Repository, config: CheckoutConfig, tmp_path: Path
) -> None:
    pointer = stored(server, repository.name, DATA)
    commit(server, repository, "art/a.png", pointer)
    commit(server, repository, ".lfsconfig", "[lfs]\n\turl = https://evil.example/\n")

    told = checkout.run(config)

    assert (tmp_path / "tree/art/a.png").read_bytes() == DATA
    assert told.lacking == 0
    status = ["git", "-C", str(tmp_path / "tree"), "status", "--porcelain"]
    assert subprocess.run(status, check=True, capture_output=True).stdout == b""
    own = ["git", "--git-dir", config.git_dir, "show", f"{told.sha}:art/a.png"]
    assert subprocess.run(own, check=True, capture_output=True).stdout.decode() == pointer


def test_both_trees_have_it_where_a_gate_compares(
    server: Gitea, repository: Repository, config: CheckoutConfig, tmp_path: Path
) -> None:
    commit(server, repository, "a.png", stored(server, repository.name, DATA))
    base = checkout.run(replace(config, worktree=None, git_dir=str(tmp_path / "first.git"))).sha
    commit(server, repository, "b.png", stored(server, repository.name, DATA))

    checkout.run(replace(config, base=base, base_worktree=str(tmp_path / "before")))

    for file in ("tree/a.png", "tree/b.png", "before/a.png"):
        assert (tmp_path / file).read_bytes() == DATA


def test_without_the_projects_word_it_stays_a_pointer_and_the_log_says_so(
    server: Gitea,
    repository: Repository,
    config: CheckoutConfig,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pointer = stored(server, repository.name, DATA)
    commit(server, repository, "a.png", pointer)
    commit(server, repository, ".gitattributes", "*.png filter=lfs\n")

    checkout.run(replace(config, lfs=False))

    assert (tmp_path / "tree/a.png").read_text() == pointer
    assert '"event":"lfs","fetched":0,"left":1' in capsys.readouterr().err


def test_what_another_repository_has_is_not_to_be_had_by_its_name(
    server: Gitea, repository: Repository, config: CheckoutConfig, tmp_path: Path
) -> None:
    server.repository(OWNER, f"{repository.name}-other")
    pointer = stored(server, f"{repository.name}-other", b"others' " * 100)
    commit(server, repository, "a.png", pointer)

    checkout.run(config)

    assert (tmp_path / "tree/a.png").read_text() == pointer


def test_an_account_that_may_not_read_is_an_error_that_says_so(
    server: Gitea, repository: Repository, config: CheckoutConfig, tmp_path: Path
) -> None:
    commit(server, repository, "a.png", stored(server, repository.name, DATA))
    (tmp_path / "account/password").write_text("wrong")

    with pytest.raises(PodError) as failed:
        checkout.run(config)
    assert failed.value.reason == "RepositoryAuthFailed"
