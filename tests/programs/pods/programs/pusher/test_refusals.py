"""What the pusher does not take."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from bernstein.pods.errors import PodError
from bernstein.pods.programs import pusher
from bernstein.pods.worktree import packs
from bernstein.pods.worktree.objects import Commit
from tests.programs.pods.agent_pod import write
from tests.programs.pods.programs.pusher.session import Session


def refused(session: Session, **changes: Any) -> str:
    session.start(**changes)
    failure = session.failure()
    assert session.tip() is None
    return f"{failure.reason}: {failure.message}"


def pack_of(session: Session, *wanted: str) -> Path:
    """A pack of anything in the recorder's repository."""
    folder = session.volumes.root / "packed"
    folder.mkdir()
    stdin = "\n".join([*wanted, f"^{session.base}", ""]).encode()
    name = session.taker.repository.run(
        "pack-objects", "--quiet", "--revs", str(folder / "p"), input=stdin
    )
    return folder / f"p-{name.decode().strip()}.pack"


def commit_on(session: Session, *parents: str) -> Commit:
    """A commit beside the recorder's own, with a new tree on these parents."""
    write(session.volumes.worktree, {"new.py": f"{parents}\n"})
    made = session.taker.take()
    person = {f"GIT_{w}_{n}": "x" for w in ("AUTHOR", "COMMITTER") for n in ("NAME", "EMAIL")}
    flags = [word for parent in parents for word in ("-p", parent)]
    sha = session.taker.repository.run("commit-tree", made.tree, "-m", "m", *flags, env=person)
    return Commit(sha.decode().strip(), made.tree)


def test_more_than_one_commit_is_refused(session: Session) -> None:
    first = commit_on(session, session.base)
    second = commit_on(session, first.sha)
    session.publish(second.sha, second.tree, pack_of(session, second.sha), final=True)
    assert refused(session).startswith("InvalidPack: ")


def test_a_commit_on_nothing_or_on_two_parents_is_refused(session: Session) -> None:
    root = commit_on(session)
    merge = commit_on(session, session.base, root.sha)
    session.publish(merge.sha, merge.tree, pack_of(session, merge.sha), final=True)
    assert "is not one commit on" in refused(session)


def test_another_tree_than_recorded_is_refused(session: Session) -> None:
    commit = commit_on(session, session.base)
    session.publish(commit.sha, session.base, pack_of(session, commit.sha), final=True)
    assert "is not one commit on" in refused(session)


def test_a_record_for_another_base_is_refused(session: Session) -> None:
    commit = commit_on(session, session.base)
    pack = pack_of(session, commit.sha)
    session.publish(commit.sha, commit.tree, pack, final=True, base="0" * 40)
    assert "another base" in refused(session)


def test_a_pack_without_the_commit_is_refused(session: Session) -> None:
    commit = commit_on(session, session.base)
    session.publish("f" * 40, commit.tree, pack_of(session, commit.sha), final=True)
    assert refused(session).startswith("InvalidPack: ")


def test_a_pack_with_missing_objects_is_refused(session: Session) -> None:
    commit = commit_on(session, session.base)
    folder = session.volumes.root / "partial"
    folder.mkdir()
    name = session.taker.repository.run(
        "pack-objects",
        "--quiet",
        str(folder / "p"),
        input=f"{commit.sha}\n{commit.tree}\n".encode(),
    )
    pack = folder / f"p-{name.decode().strip()}.pack"
    session.publish(commit.sha, commit.tree, pack, final=True)
    assert refused(session).startswith("InvalidPack: git refuses the pack: ")


def test_a_damaged_pack_is_refused(session: Session) -> None:
    commit = commit_on(session, session.base)
    pack = pack_of(session, commit.sha)
    pack.chmod(0o600)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 1
    pack.write_bytes(data)
    session.publish(commit.sha, commit.tree, pack, final=True)
    assert refused(session).startswith("InvalidPack: git refuses the pack: ")


def test_a_pack_over_the_limit_is_refused(session: Session) -> None:
    session.record({"big": os.urandom(5000)}, final=True)
    assert refused(session, pack_bytes=4000).startswith("SnapshotTooLarge: the pack takes ")


def test_a_pack_outside_the_folder_is_not_opened(session: Session, tmp_path: Path) -> None:
    commit = commit_on(session, session.base)
    pack = pack_of(session, commit.sha)
    for name in ("../1.pack", str(pack)):
        record = packs.PackRecord(session.base, commit.sha, commit.tree, True, name)
        with pytest.raises(PodError, match="names no pack"):
            pusher.Intake(session.config).take(1, record)
    (session.volumes.packs / "1.pack").symlink_to(pack)
    record = packs.PackRecord(session.base, commit.sha, commit.tree, True, "1.pack")
    with pytest.raises(PodError, match="symbolic link"):
        pusher.Intake(session.config).take(1, record)


@pytest.mark.parametrize("text", ["", "{}", "[]", "[" * 3000, '{"base": 1}', "x" * 9000])
def test_a_malformed_record_is_refused(session: Session, text: str) -> None:
    (session.volumes.packs / "1.json").write_text(text)
    session.ended.set()
    assert refused(session, final_wait=0.0).startswith("InvalidPack: 1.json: ")


def test_names_that_hold_options_reach_no_git_command(session: Session) -> None:
    hostile = {"base": session.base, "tree": "-x", "final": True, "pack": "1.pack"}
    (session.volumes.packs / "1.pack").write_bytes(b"")
    record = {**hostile, "sha": "--upload-pack=touch /tmp/x"}
    (session.volumes.packs / "1.json").write_text(json.dumps(record))
    assert refused(session).startswith("InvalidPack: ")


def test_an_invalid_checkpoint_does_not_keep_out_a_valid_one(session: Session) -> None:
    session.start()
    session.publish("f" * 40, "f" * 40, None)
    last = session.record({"new.py": "1\n"}, final=True)
    assert session.result().sha == last.sha
