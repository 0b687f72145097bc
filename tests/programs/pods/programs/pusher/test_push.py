"""Checkpoints on their way to the session's ref, and how that ends."""

from __future__ import annotations

import dataclasses
import os
import shutil
import time
from pathlib import Path

import pytest

from bernstein.api.pod import PusherResult
from bernstein.pods.worktree import packs
from tests.background import wait_for
from tests.programs.pods.agent_pod import write
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.pusher.session import REF, Session, checked_out

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
    stores = session.volumes.pusher_git_dir.rglob("incoming-*.pack")
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
    last = session.record({"new.py": "1\n"})
    session.start(final_wait=0.5)
    session.ended.set()
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
