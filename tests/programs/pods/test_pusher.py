"""The pusher between a recorder's packs and a real git server."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.pod import CheckoutConfig, PusherConfig, PusherResult
from bernstein.pods import checkout, git, packs, pusher
from bernstein.pods.errors import PodError
from bernstein.pods.objects import Commit
from tests.background import wait_for
from tests.programs.pods.agent_pod import Taker, Volumes, write
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import GitServer

REF = "refs/bernstein/01234567/task/s1"


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pusher, "_POLL_SECONDS", 0.02)


class Session:
    """The volumes of one session, a recorder's hands and a pusher in a thread."""

    def __init__(self, folder: Path, origin: Origin, checked_out: Volumes) -> None:
        self.origin = origin
        self.volumes = Volumes(folder)
        shutil.copytree(checked_out.base, self.volumes.base, dirs_exist_ok=True)
        shutil.copytree(checked_out.worktree, self.volumes.worktree, dirs_exist_ok=True)
        self.base = origin.tip("refs/heads/main")
        self.taker = Taker(self.volumes)
        self.number = 0
        self.config = PusherConfig(
            remote=origin.remote("work"),
            ref=REF,
            base_git_dir=str(self.volumes.base_git_dir),
            git_dir=str(self.volumes.pusher / "repo.git"),
            packs=str(self.volumes.packs),
        )
        self.ended = threading.Event()
        self.thread: threading.Thread | None = None
        self.outcome: PusherResult | BaseException | None = None

    def record(self, files: dict[str, bytes | str], *, final: bool = False) -> Commit:
        """What a recorder does at a checkpoint."""
        write(self.volumes.worktree, files)
        commit = self.taker.take()
        pack = None if commit == self.taker.objects.base else self.taker.objects.pack(commit)
        self.publish(commit.sha, commit.tree, pack, final=final)
        return commit

    def publish(
        self, sha: str, tree: str, pack: Path | None, *, final: bool = False, base: str = ""
    ) -> None:
        self.number += 1
        record = packs.Record(base or self.base, sha, tree, final, None)
        packs.publish(self.volumes.packs, self.number, record, pack)

    def start(self, **changes: Any) -> None:
        limits = {k: changes.pop(k) for k in ("final_wait", "final_push") if k in changes}
        self.config = dataclasses.replace(self.config, **changes)

        def run() -> None:
            try:
                self.outcome = pusher.Pusher(self.config, **limits).run(self.ended)
            except BaseException as error:  # noqa: BLE001 - the test looks at it
                self.outcome = error

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def wait(self) -> PusherResult | BaseException | None:
        if self.thread is not None:
            self.thread.join(60)
            assert not self.thread.is_alive()
        return self.outcome

    def result(self) -> PusherResult:
        outcome = self.wait()
        assert isinstance(outcome, PusherResult), repr(outcome)
        return outcome

    def failure(self) -> PodError:
        outcome = self.wait()
        assert isinstance(outcome, PodError), repr(outcome)
        return outcome

    def tip(self) -> str | None:
        found = self.origin.git("for-each-ref", "--format=%(objectname)", REF)
        return found or None


@pytest.fixture(scope="module")
def example(
    git_server: GitServer, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Origin, Volumes]:
    """A repository and a checkout of it, shallow as in a pod; copied for every test."""
    origin = Origin(git_server, "example", git_server.create("example"))
    old = origin.commit({"a.py": "a\n", "sub/b.py": "b\n"})
    origin.commit({"a.py": "aa\n"}, old, ref="refs/heads/main")
    return origin, checked_out(origin, tmp_path_factory.mktemp("example"))


def checked_out(origin: Origin, folder: Path) -> Volumes:
    """Volumes as the pod's checkout leaves them."""
    volumes = Volumes(folder / "pod")
    base, tree = str(volumes.base_git_dir), str(volumes.worktree)
    checkout.run(CheckoutConfig(origin.remote("read"), "main", base, worktree=tree))
    return volumes


@pytest.fixture
def session(
    tmp_path: Path, git_server: GitServer, example: tuple[Origin, Volumes]
) -> Iterator[Session]:
    shared, volumes = example
    name = f"session-{tmp_path.name}"
    shutil.copytree(shared.path, git_server.repository(name))
    origin = Origin(git_server, name, git_server.repository(name))
    session = Session(tmp_path / "pod", origin, volumes)
    yield session
    session.ended.set()
    if session.thread is not None:
        session.thread.join(90)


# --- the ordinary way ---------------------------------------------------------------------------


def test_checkpoints_replace_each_other_and_the_final_one_ends_it(session: Session) -> None:
    session.start()
    first = session.record({"new.py": "1\n"})
    wait_for(lambda: session.tip() == first.sha)
    second = session.record({"new.py": "2\n"})
    wait_for(lambda: session.tip() == second.sha)
    last = session.record({"new.py": "3\n"}, final=True)
    assert session.result() == PusherResult(session.base, last.sha, last.tree, final=True)
    assert session.tip() == last.sha
    log = session.origin.git("rev-list", f"{session.base}..{REF}").split()
    assert log == [last.sha], "exactly one commit on the base"
    assert session.origin.git("show", f"{REF}:new.py") == "3"
    session.origin.git("fsck", "--strict", last.sha)
    stores = session.volumes.pusher.rglob("incoming-*.pack")
    assert len(list(stores)) == 1, "older packs are gone"


def test_nothing_changed_puts_the_ref_at_the_base(session: Session) -> None:
    session.start()
    session.record({}, final=True)
    assert session.result().sha == session.base
    assert session.tip() == session.base


def test_only_the_newest_of_waiting_records_is_pushed(session: Session) -> None:
    for i in range(5):
        last = session.record({"new.py": f"{i}\n"}, final=i == 4)
    before = len(session.origin.server.requests)
    session.start()
    assert session.result().sha == last.sha
    pushes = [
        r for r in session.origin.server.requests[before:] if r.path.endswith("git-receive-pack")
    ]
    assert len([r for r in pushes if r.method == "POST"]) == 1


def test_a_base_that_is_no_tip_any_more_is_fine(session: Session) -> None:
    session.origin.commit({"a.py": "further\n"}, session.base, ref="refs/heads/main")
    session.start()
    last = session.record({"new.py": "1\n"}, final=True)
    assert session.result().sha == last.sha
    assert session.origin.git("rev-parse", f"{REF}~2") == session.origin.git(
        "rev-parse", f"{session.base}~1"
    )


def test_a_same_record_again_is_no_second_push(session: Session) -> None:
    session.start()
    commit = session.record({"new.py": "1\n"})
    wait_for(lambda: session.tip() == commit.sha)
    before = len(session.origin.server.requests)
    session.record({}, final=True)
    assert session.result().final
    assert len(session.origin.server.requests) == before


# --- ends ---------------------------------------------------------------------------------------


def test_the_end_waits_for_the_final_record(session: Session) -> None:
    session.start()
    session.ended.set()
    time.sleep(0.3)
    last = session.record({"new.py": "1\n"}, final=True)
    assert session.result().sha == last.sha


def test_without_a_final_record_the_checkpoint_is_the_result(session: Session) -> None:
    session.start(final_wait=0.5)
    session.ended.set()
    last = session.record({"new.py": "1\n"})
    result = session.result()
    assert (result.sha, result.final) == (last.sha, False)
    assert session.tip() == last.sha


def test_without_any_record_nothing_is_pushed(session: Session) -> None:
    session.start(final_wait=0.1)
    session.ended.set()
    assert session.result() == PusherResult(
        session.base, session.base, session.taker.objects.base.tree, final=False
    )
    assert session.tip() is None


def test_an_aborted_recorder_is_not_waited_for(session: Session) -> None:
    session.start()
    last = session.record({"new.py": "1\n"})
    found = packs.latest(session.volumes.packs)
    assert found is not None
    again = dataclasses.replace(found[1], aborted=True)
    packs.publish(session.volumes.packs, 2, again, None)
    result = session.result()
    assert (result.sha, result.final) == (last.sha, False)


# --- crashes ------------------------------------------------------------------------------------


def test_a_push_that_got_through_though_the_connection_was_lost(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    really_push = git.Git.push

    def lose_the_answer(self: git.Git, ref: str, sha: str, expect: str | None) -> None:
        really_push(self, ref, sha, expect)
        raise git.GitError("RepositoryUnreachable", "the connection was lost")

    monkeypatch.setattr(git.Git, "push", lose_the_answer)
    session.start(final_push=0.0)
    last = session.record({"new.py": "1\n"}, final=True)
    assert session.result().sha == last.sha


@pytest.mark.parametrize("moment", ["before the push", "after the push"])
def test_a_container_killed_around_a_push_goes_on(
    session: Session, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    first = session.record({"new.py": "1\n"})
    ref = move_in_a_new_container(session)
    take(session)
    ref.move(first.sha)
    second = session.record({"new.py": "2\n"})
    take(session)
    really_push = git.Git.push

    def die(self: git.Git, ref: str, sha: str, expect: str | None) -> None:
        if moment == "after the push":
            really_push(self, ref, sha, expect)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(git.Git, "push", die)
        with pytest.raises(KeyboardInterrupt):
            ref.move(second.sha)
    assert session.tip() == (second.sha if moment == "after the push" else first.sha)
    third = session.record({"new.py": "3\n"}, final=True)
    session.start()
    assert session.result().sha == third.sha
    assert session.tip() == third.sha


def move_in_a_new_container(session: Session) -> pusher.SessionRef:
    git.init_bare(Path(session.config.git_dir), [session.volumes.base_git_dir])
    return pusher.SessionRef(session.config)


def take(session: Session) -> None:
    found = packs.latest(session.volumes.packs)
    assert found is not None
    pusher.Intake(session.config).take(*found)


def test_a_ref_that_somebody_else_made_is_not_touched(session: Session) -> None:
    session.origin.git("update-ref", REF, session.base)
    session.start()
    session.record({"new.py": "1\n"}, final=True)
    assert session.failure().reason == "RefMoved"
    assert session.tip() == session.base


@pytest.mark.parametrize("restarted", [False, True])
def test_a_ref_that_somebody_else_moved_is_not_touched(session: Session, restarted: bool) -> None:
    ref = move_in_a_new_container(session)
    first = session.record({"new.py": "1\n"})
    take(session)
    ref.move(first.sha)
    other = session.origin.commit({"x": "x"}, session.base, ref=REF)
    second = session.record({"new.py": "2\n"})
    take(session)
    if restarted:
        ref = pusher.SessionRef(session.config)
    with pytest.raises(git.GitError) as raised:
        ref.move(second.sha)
    assert raised.value.reason == "RefMoved"
    assert session.tip() == other


def test_a_repository_that_is_away_for_a_while(session: Session) -> None:
    hidden = session.origin.path.with_suffix(".away")
    session.origin.path.rename(hidden)
    session.start()
    last = session.record({"new.py": "1\n"}, final=True)
    wait_for(lambda: any(r.user == "work" for r in session.origin.server.requests[-2:]))
    hidden.rename(session.origin.path)
    assert session.result().sha == last.sha


def test_a_repository_that_stays_away_is_the_reason(session: Session) -> None:
    session.origin.path.rename(session.origin.path.with_suffix(".away"))
    session.start(final_push=0.5)
    session.record({"new.py": "1\n"}, final=True)
    assert session.failure().reason == "RepositoryUnreachable"


@pytest.mark.parametrize(
    ("user", "ref", "reason"),
    [("read", REF, "CredentialRefused"), ("work", "refs/heads/x", "BranchProtected")],
)
def test_refusals_have_their_reason(session: Session, user: str, ref: str, reason: str) -> None:
    session.start(remote=session.origin.remote(user), ref=ref)
    session.record({"new.py": "1\n"}, final=True)
    assert session.failure().reason == reason


# --- what it does not take ----------------------------------------------------------------------


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
    name = session.taker.objects.repository.run(
        "pack-objects", "--quiet", "--revs", str(folder / "p"), input=stdin
    )
    return folder / f"p-{name.decode().strip()}.pack"


def commit_on(session: Session, *parents: str) -> Commit:
    """A commit beside the recorder's own, with a new tree on these parents."""
    write(session.volumes.worktree, {"new.py": f"{parents}\n"})
    made = session.taker.take()
    person = {f"GIT_{w}_{n}": "x" for w in ("AUTHOR", "COMMITTER") for n in ("NAME", "EMAIL")}
    flags = [word for parent in parents for word in ("-p", parent)]
    sha = session.taker.objects.repository.run(
        "commit-tree", made.tree, "-m", "m", *flags, env=person
    )
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
    name = session.taker.objects.repository.run(
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
        record = packs.Record(session.base, commit.sha, commit.tree, True, name)
        with pytest.raises(PodError, match="names no pack"):
            pusher.Intake(session.config).take(1, record)
    (session.volumes.packs / "1.pack").symlink_to(pack)
    record = packs.Record(session.base, commit.sha, commit.tree, True, "1.pack")
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


# --- memory -------------------------------------------------------------------------------------


def limit_memory_of_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on no git here may have more than 20 MiB of its own."""
    write(folder, {"git": f'#!/bin/sh\nulimit -d {20 << 10}\nexec {shutil.which("git")} "$@"\n'})
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_many_large_files_take_little_memory(
    origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in the recorder's hands nor in the pusher's."""
    large = {f"f{i}": os.urandom(3_000_000) for i in range(6)}
    origin.commit({**large}, ref="refs/heads/main")
    session = Session(tmp_path / "pod", origin, checked_out(origin, tmp_path / "checkout"))
    limit_memory_of_git(tmp_path / "bin", monkeypatch)
    session.start()
    last = session.record({name: data + b"!" for name, data in large.items()}, final=True)
    assert session.result().sha == last.sha
