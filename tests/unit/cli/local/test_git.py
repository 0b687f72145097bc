"""git as the command line calls it: nobody is asked, unless somebody is there to answer."""

from __future__ import annotations

import os
import pty
from pathlib import Path

import pytest

from bernstein.cli.local import git


async def test_ssh_asks_nobody_although_there_is_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An ssh of the test's own tells what it was given."""
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\necho "fatal: $SSH_ASKPASS $SSH_ASKPASS_REQUIRE" >&2\nexit 1\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("GIT_SSH", str(ssh))
    ours, theirs = pty.openpty()
    with os.fdopen(ours), os.fdopen(theirs) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        for asks, told in ((False, "false force"), (True, "")):
            with pytest.raises(git.GitFailed) as failed:
                await git.run("ls-remote", "ssh://git@git.example/app.git", asks=asks)
            assert str(failed.value).startswith(told or " ")
