"""The checkout: exact bytes, nothing of the tree takes effect, and no credential stays behind."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import CheckoutConfig
from bernstein.pods.errors import PodError
from bernstein.pods.git.client import Git
from bernstein.pods.programs import checkout
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import USERS, plain_env


def files(folder: Path) -> dict[str, bytes | str]:
    """Content of every file below `folder` but `.git`; `->TARGET` for a symlink."""
    found: dict[str, bytes | str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name.split("/")[0] == ".git":
            continue
        if path.is_symlink():
            found[name] = f"->{path.readlink()}"
        elif path.is_file():
            found[name] = path.read_bytes()
        elif not any(path.iterdir()):
            found[name + "/"] = b""
    return found


def plain_git(worktree: Path, *args: str) -> str:
    """What the code in the worktree gets from its own git."""
    done = subprocess.run(
        ["git", *args], cwd=worktree, env=plain_env(), capture_output=True, check=True, text=True
    )
    return done.stdout.strip()


def test_writes_the_committed_bytes_whatever_the_attributes_say(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    content: dict[str, bytes | str | None] = {
        ".gitattributes": (
            b"*.txt text eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16\n"
            b"*.bin filter=lfs\n*.x export-ignore\n"
        ),
        "a.txt": b"one\ntwo\r\n",
        "a.id": b"$Id$\n",
        "a.u16": "é\n".encode(),
        "a.bin": pointer,
        "a.x": b"kept\n",
        "run": "+x #!/bin/sh\n",
        "deep/link": "->../../../etc/passwd",
        "module": "!" + "1" * 40,
        "caf\udce9": b"name in Latin-1\n",
    }
    sha = origin.commit(content, ref="refs/heads/main")
    result = checkout.run(CheckoutConfig(**config))
    assert result.sha == sha
    assert result.tree == origin.tip(f"{sha}^{{tree}}")
    wanted = {name: value for name, value in content.items() if name not in {"run", "module"}}
    assert files(tmp_path / "workspace") == wanted | {"run": b"#!/bin/sh\n", "module/": b""}
    assert (tmp_path / "workspace" / "run").stat().st_mode & 0o111 == 0o111
    assert not (tmp_path / "workspace" / ".git").exists()

    os.rename(tmp_path / "workspace", tmp_path / "raw")  # noqa: PTH104
    attributes = tmp_path / "base" / "repo.git" / "info" / "attributes"
    attributes.unlink()
    repository = Git(tmp_path / "base" / "repo.git")
    (tmp_path / "workspace").mkdir()
    here = {
        "GIT_WORK_TREE": str(tmp_path / "workspace"),
        "GIT_INDEX_FILE": str(tmp_path / "base" / "repo.git" / "index"),
    }
    repository.run("checkout-index", "--all", env=here)
    converted = files(tmp_path / "workspace")
    for name in ("a.txt", "a.id", "a.u16"):
        assert converted[name] != content[name], "converts with the protection off"


def test_only_the_tip_is_fetched_unless_the_history_is_wanted(
    origin: Origin, config: dict[str, Any]
) -> None:
    first = origin.commit({"a": "1"})
    second = origin.commit({"a": "2"}, first, ref="refs/heads/main")
    checkout.run(CheckoutConfig(**config | {"worktree": None}))
    repository = Git(Path(config["git_dir"]))
    assert repository.text("rev-list", "--all") == second
    assert repository.text("rev-parse", "HEAD") == second
    checkout.run(CheckoutConfig(**config | {"worktree": None, "history": True}))
    assert repository.text("rev-list", "--all").split() == [second, first]


def test_fetches_more_refs_and_commits_behind_the_tip(
    origin: Origin, config: dict[str, Any]
) -> None:
    chain = [origin.commit({"a": "0"})]
    for i in range(60):
        chain.append(origin.commit({"a": str(i)}, chain[-1]))
    origin.git("update-ref", "refs/heads/main", chain[-1])
    other = origin.commit({"b": "1"}, ref="refs/bernstein/0/integration")
    also = (chain[0], "refs/bernstein/0/integration", chain[-2])
    checkout.run(CheckoutConfig(**config | {"worktree": None, "also": also}))
    repository = Git(Path(config["git_dir"]))
    for sha in (chain[0], other, chain[-2]):
        assert repository.text("cat-file", "-t", sha) == "commit"
    assert repository.text("rev-parse", "refs/bernstein/0/integration") == other


def test_a_commit_that_no_ref_contains_is_not_found(origin: Origin, config: dict[str, Any]) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    elsewhere = origin.commit({"b": "1"}, ref="refs/heads/secret")
    with pytest.raises(PodError) as raised:
        checkout.run(CheckoutConfig(**config | {"also": (elsewhere,)}))
    assert raised.value.reason == "RefNotFound"


def test_a_moved_ref_is_refused_before_anything_is_written(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    first = origin.commit({"a": "1"})
    origin.commit({"a": "2"}, first, ref="refs/heads/main")
    with pytest.raises(PodError) as raised:
        checkout.run(CheckoutConfig(**config | {"sha": first}))
    assert raised.value.reason == "RefMoved"
    assert not (tmp_path / "workspace").exists()


def test_a_worktree_that_is_not_empty_is_refused(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / ".git").symlink_to("/tmp")
    with pytest.raises(PodError, match="not empty"):
        checkout.run(CheckoutConfig(**config))


def test_the_worktrees_own_git_is_clean_and_knows_no_remote(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    first = origin.commit({"a.txt": "1"})
    content: dict[str, bytes | str | None] = {
        ".gitattributes": "*.txt text eol=crlf\n",
        "a.txt": b"1\n",
        "link": "->a.txt",
    }
    sha = origin.commit(content, first, ref="refs/heads/main")
    checkout.run(CheckoutConfig(**config | {"worktree_git": True}))
    worktree = tmp_path / "workspace"
    assert plain_git(worktree, "status", "--porcelain") == ""
    assert plain_git(worktree, "log", "--format=%H") == sha
    assert plain_git(worktree, "branch", "--show-current") == "work"
    assert plain_git(worktree, "remote") == ""
    assert plain_git(worktree, "fsck", "--strict") == ""
    (worktree / "a.txt").write_bytes(b"2\n")
    plain_git(worktree, "commit", "-qam", "works")
    assert plain_git(worktree, "cat-file", "blob", "HEAD:a.txt") == "2"

    everything = b"".join(
        path.read_bytes() for path in (worktree / ".git").rglob("*") if path.is_file()
    )
    for hidden in (*USERS.values(), "https://", str(tmp_path / "base"), "helper", "secrets"):
        assert hidden.encode() not in everything


CHECKPOINT = "refs/bernstein/0/task/s1"


@pytest.mark.parametrize("moved", [False, True])
def test_a_session_goes_on_from_the_checkpoint_on_the_tip_of_now(
    origin: Origin, config: dict[str, Any], tmp_path: Path, moved: bool
) -> None:
    before = origin.commit({"a.txt": "0\n"})
    tip = origin.commit({"a.txt": "1\n", "gone.txt": "x\n"}, before, ref="refs/heads/main")
    origin.commit({"gone.txt": None, "new.txt": "n\n", "a.txt": "2\n"}, tip, ref=CHECKPOINT)
    if moved:
        tip = origin.commit({"other.txt": "o\n"}, tip, ref="refs/heads/main")

    found = checkout.run(CheckoutConfig(**config | {"worktree_git": True, "resume": CHECKPOINT}))

    worktree = tmp_path / "workspace"
    other = {"other.txt": b"o\n"} if moved else {}
    assert files(worktree) == {"a.txt": b"2\n", "new.txt": b"n\n"} | other
    assert found.sha == tip, "the work stays one commit on the tip"
    assert plain_git(worktree, "rev-parse", "HEAD") == tip
    changed = plain_git(worktree, "status", "--porcelain").split("\n")
    assert sorted(line.strip() for line in changed) == ["?? new.txt", "D gone.txt", "M a.txt"]


@pytest.mark.parametrize("how", ["conflict", "gone"])
def test_a_checkpoint_that_cannot_be_had_lets_the_session_start_afresh(
    origin: Origin, config: dict[str, Any], tmp_path: Path, how: str
) -> None:
    first = origin.commit({"a.txt": "1\n"})
    if how == "conflict":
        origin.commit({"a.txt": "mine\n"}, first, ref=CHECKPOINT)
    tip = origin.commit({"a.txt": "theirs\n"}, first, ref="refs/heads/main")

    found = checkout.run(CheckoutConfig(**config | {"worktree_git": True, "resume": CHECKPOINT}))

    assert found.sha == tip
    assert files(tmp_path / "workspace") == {"a.txt": b"theirs\n"}
    assert plain_git(tmp_path / "workspace", "status", "--porcelain") == ""


@pytest.mark.parametrize("recorded", [False, True])
def test_a_session_goes_on_from_no_other_commit_than_the_recorded_one(
    origin: Origin, config: dict[str, Any], tmp_path: Path, recorded: bool
) -> None:
    """Below refs/bernstein/ somebody else may write, too."""
    tip = origin.commit({"a.txt": "1\n"}, ref="refs/heads/main")
    ours = origin.commit({"a.txt": "2\n"}, tip, ref=CHECKPOINT)
    origin.commit({"a.txt": "2\n", "foreign.txt": "f\n"}, tip, ref=CHECKPOINT)
    more = {"worktree_git": True, "resume": CHECKPOINT, "resume_sha": ours if recorded else None}

    checkout.run(CheckoutConfig(**config | more))

    brought = {"a.txt": b"2\n", "foreign.txt": b"f\n"}
    assert files(tmp_path / "workspace") == ({"a.txt": b"1\n"} if recorded else brought)


@pytest.mark.parametrize("kind", ["heads", "tags"])
def test_a_branch_or_tag_of_the_whole_name_of_a_checkpoint_that_is_not_there_is_none(
    origin: Origin, config: dict[str, Any], tmp_path: Path, kind: str
) -> None:
    """Whoever may make branches may make one, whatever he may below refs/bernstein/."""
    tip = origin.commit({"a.txt": "1\n"}, ref="refs/heads/main")
    origin.commit({"a.txt": "2\n", "foreign.txt": "f\n"}, tip, ref=f"refs/{kind}/{CHECKPOINT}")

    checkout.run(CheckoutConfig(**config | {"worktree_git": True, "resume": CHECKPOINT}))

    assert files(tmp_path / "workspace") == {"a.txt": b"1\n"}


def test_the_worktrees_objects_are_copies(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    checkout.run(CheckoutConfig(**config | {"worktree_git": True}))
    ours = {p.stat().st_ino for p in (tmp_path / "base").rglob("*") if p.is_file()}
    theirs = {p.stat().st_ino for p in (tmp_path / "workspace").rglob("*") if p.is_file()}
    assert not ours & theirs


def test_pinned_files_come_from_the_pinned_commit(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    pinned = origin.commit(
        {
            "ruff.toml": "strict\n",
            "lib/ruff.toml": "strict in lib\n",
            "gone/ruff.toml": "no folder for it any more\n",
            "was-folder/ruff.toml": "x",
            "code.py": "old\n",
        }
    )
    origin.commit(
        {
            "ruff.toml": "->lax.toml",
            "lib": None,
            "lib/ruff.toml/planted.py": "x",
            "new/ruff.toml": "lax\n",
            "gone": None,
            "was-folder": None,
            "was-folder ": "y",
            "code.py": "new\n",
            "lax.toml": "lax\n",
        },
        pinned,
        ref="refs/heads/main",
    )
    overlay = {"pinned_sha": pinned, "pinned_names": ("ruff.toml",)}
    checkout.run(CheckoutConfig(**config | overlay | {"worktree_git": True}))
    assert files(tmp_path / "workspace") == {
        "ruff.toml": b"strict\n",
        "lib/ruff.toml": b"strict in lib\n",
        "gone/ruff.toml": b"no folder for it any more\n",
        "was-folder/ruff.toml": b"x",
        "was-folder ": b"y",
        "code.py": b"new\n",
        "lax.toml": b"lax\n",
    }


def test_a_pinned_file_never_replaces_a_file_that_took_its_folders_place(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    pinned = origin.commit({"lib/ruff.toml": "strict\n", "a": "1"})
    origin.commit({"lib": None}, pinned, ref="refs/heads/other")
    origin.commit({"lib": "->elsewhere", "a": "1"}, ref="refs/heads/main")
    overlay = {"pinned_sha": pinned, "also": ("refs/heads/other",), "pinned_names": ("ruff.toml",)}
    checkout.run(CheckoutConfig(**config | overlay))
    assert files(tmp_path / "workspace") == {"lib": "->elsewhere", "a": b"1"}


def test_the_launcher_is_copied_executable(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    (tmp_path / "source").write_bytes(b"\x7fELF")
    copy = {"launcher_from": str(tmp_path / "source"), "launcher_to": str(tmp_path / "launcher")}
    checkout.run(CheckoutConfig(**config | copy))
    assert (tmp_path / "launcher").read_bytes() == b"\x7fELF"
    assert (tmp_path / "launcher").stat().st_mode & 0o777 == 0o755


def test_a_committed_bare_repository_runs_nothing(
    origin: Origin, config: dict[str, Any], tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    program = f"#!/bin/sh\ntouch {ran}\n"
    origin.commit(
        {
            "HEAD": "ref: refs/heads/main\n",
            "config": (
                "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
                f'\tworktree = "worktree"\n\tfsmonitor = "touch {ran} #"\n'
            ),
            "worktree/keep": "",
            "objects/keep": "",
            "refs/keep": "",
            "hooks/post-checkout": f"+x {program}",
            "hooks/reference-transaction": f"+x {program}",
            ".githooks/post-checkout": f"+x {program}",
            ".gitmodules": '[submodule "m"]\n\tpath = m\n\turl = https://example.com/m.git\n',
            ".lfsconfig": f"[lfs]\n\turl = file://{tmp_path}\n",
            ".gitattributes": "* filter=evil\n",
        },
        ref="refs/heads/main",
    )
    checkout.run(CheckoutConfig(**config | {"worktree_git": True}))
    worktree = tmp_path / "workspace"
    assert not ran.exists()

    outside = tmp_path / "copy"  # the same files, where git finds no `.git` before them
    subprocess.run(["cp", "-r", str(worktree), str(outside)], check=True)
    subprocess.run(["rm", "-rf", str(outside / ".git")], check=True)
    subprocess.run(
        ["git", "status"], cwd=outside, env=plain_env(), capture_output=True, check=False
    )
    assert ran.exists(), "fires for a plain git with its current directory inside"
