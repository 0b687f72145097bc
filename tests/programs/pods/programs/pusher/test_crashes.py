"""Lost connections, killed containers, and refs that somebody else moved."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bernstein.api import encoding
from bernstein.api.pod import Remote
from bernstein.core.sanitise import without_quotes
from bernstein.pods import termination
from bernstein.pods.git import client as git
from bernstein.pods.programs import pusher
from bernstein.pods.worktree import packs
from tests.background import wait_for
from tests.programs.pods.programs.pusher.session import REF, Session


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
    before = len(session.origin.server.requests)
    session.start()
    last = session.record({"new.py": "1\n"}, final=True)
    wait_for(lambda: any(r.user == "work" for r in session.origin.server.requests[before:]))
    hidden.rename(session.origin.path)
    assert session.result().sha == last.sha


def test_a_repository_that_stays_away_is_the_reason(session: Session) -> None:
    session.origin.path.rename(session.origin.path.with_suffix(".away"))
    session.start(final_push=0.5)
    session.record({"new.py": "1\n"}, final=True)
    assert session.failure().reason == "RepositoryAuthFailed"


@pytest.mark.parametrize(
    ("user", "ref", "reason"),
    [("read", REF, "CredentialRefused"), ("work", "refs/heads/x", "BranchProtected")],
)
def test_refusals_have_their_reason(session: Session, user: str, ref: str, reason: str) -> None:
    session.start(remote=session.origin.remote(user), ref=ref)
    session.record({"new.py": "1\n"}, final=True)
    assert session.failure().reason == reason


HURRIED = """
import sys
import time
from bernstein.pods import __main__
from bernstein.pods.programs import pusher

pusher._ALL_SECONDS = 0.5
if sys.argv[2:]:
    pusher.Intake.take = lambda *_: open(sys.argv[2], "w").close() or time.sleep(60)
sys.exit(__main__.main(["pusher", sys.argv[1]]))
"""


def test_whose_server_is_so_slow_that_its_time_is_over_tells_so_before_it_is_killed(
    session: Session, tmp_path: Path
) -> None:
    session.record({"new.py": "1\n"}, final=True)
    message = tmp_path / "message"
    environment = {**os.environ, termination.PATH_VARIABLE: str(message)}
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://localhost:{silent.getsockname()[1]}/app.git"
        remote = Remote(url, session.config.remote.credential_dir)
        told = encoding.dump(replace(session.config, remote=remote))
        with subprocess.Popen([sys.executable, "-c", HURRIED, told], env=environment) as process:
            silent.settimeout(60)
            asking, _ = silent.accept()
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 1
        asking.close()
    failure = json.loads(message.read_text())
    assert failure["reason"] == "RepositoryUnreachable"
    assert "it has not answered in time" in without_quotes(failure["message"])


def test_whose_own_work_takes_too_long_is_not_told_as_the_git_servers_fault(
    session: Session, tmp_path: Path
) -> None:
    session.record({"new.py": "1\n"}, final=True)
    message, begun = tmp_path / "message", tmp_path / "begun"
    environment = {**os.environ, termination.PATH_VARIABLE: str(message)}
    hurried = [sys.executable, "-c", HURRIED, encoding.dump(session.config), str(begun)]
    with subprocess.Popen(hurried, env=environment) as process:
        wait_for(begun.exists)
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 1
    assert json.loads(message.read_text())["reason"] == "InternalError"
