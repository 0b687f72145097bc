"""Repositories that make git run a program, in a worktree that others take snapshots of.

    python3 repositories.py SECONDS

First the careless way, so that the program is seen to run; then each arrangement stays for SECONDS
while its files change. Prints {"careless": calls, "nested": calls, ...} as JSON.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

TREE = Path("/workspace")
HOOKS = ("pre-commit", "post-index-change", "reference-transaction", "fsmonitor-watchman")


PORT = 4711
PROGRAM = f"""\
#!/bin/bash
echo ran >/dev/tcp/127.0.0.1/{PORT}
touch /control/ran
[ -t 0 ] || cat
"""


class Alarm:
    """A program at `path`, and how often it ran: it calls a port that the whole pod shares."""

    def __init__(self, path: Path) -> None:
        path.write_text(PROGRAM)
        path.chmod(0o755)
        self.path = path
        self.calls = 0
        self._server = socket.create_server(("127.0.0.1", PORT))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            connection.close()
            self.calls += 1

    def taken(self) -> int:
        """Calls since the last question."""
        calls, self.calls = self.calls, 0
        return calls


def main() -> int:
    seconds = float(sys.argv[1])
    alarm = Alarm(TREE / "program")
    os.environ |= {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@a.invalid",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@a.invalid",
    }
    _nested(alarm)
    calls = {"careless": _careless(alarm)}
    own = TREE / ".git"
    _arm(own, alarm)
    arrangements: dict[str, Callable[[], object]] = {
        "nested": lambda: None,
        "other repository": lambda: _replace(own, alarm),
        "pointer": lambda: _pointer(own),
        "link": lambda: _link(own),
    }
    for name, arrange in arrangements.items():
        arrange()
        calls[name] = _change_files(alarm, seconds)
    calls["in the recorder"] = int(Path("/control/ran").exists())
    print(json.dumps(calls))
    return 0


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def _repository(folder: Path) -> None:
    folder.mkdir()
    _git(folder, "init", "--quiet")
    (folder / "kept.txt").write_text("kept\n")
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--message", "inner")


def _nested(alarm: Alarm) -> None:
    _repository(TREE / "monitored")
    _git(TREE / "monitored", "config", "core.fsmonitor", str(alarm.path))
    _repository(TREE / "filtered")
    (TREE / "filtered" / ".gitattributes").write_text("* filter=x\n")
    _git(TREE / "filtered", "config", "filter.x.clean", str(alarm.path))
    bare = TREE / "bare"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
        (bare / name / "kept").write_text("")
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "config").write_text(f"[core]\n\tbare = true\n\tfsmonitor = {alarm.path}\n")


def _careless(alarm: Alarm) -> int:
    """Two snapshots by `git add` with hooks off and a git directory of its own."""
    folder = "/tmp/careless.git"
    where = [f"--git-dir={folder}", f"--work-tree={TREE}", "-c", "core.hooksPath=/dev/null"]
    subprocess.run(["git", "init", "--quiet", "--bare", folder], check=True)
    for number in range(2):
        _touch(number)
        subprocess.run(["git", *where, "add", "--all"], check=True, capture_output=True)
    return _settled(alarm)


def _touch(number: int) -> None:
    for name in ("monitored", "filtered"):
        (TREE / name / "kept.txt").write_text(f"edit {number:4}\n")


def _change_files(alarm: Alarm, seconds: float) -> int:
    until = time.monotonic() + seconds
    number = 0
    while time.monotonic() < until:
        number += 1
        _touch(number)
        time.sleep(0.5)
    return _settled(alarm)


def _settled(alarm: Alarm) -> int:
    time.sleep(0.5)
    return alarm.taken()


def _arm(folder: Path, alarm: Alarm) -> None:
    hooks = folder / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        shutil.copy(alarm.path, hooks / name)
    _git(folder.parent, "config", "core.fsmonitor", str(alarm.path))


def _replace(own: Path, alarm: Alarm) -> None:
    shutil.rmtree(own)
    _git(own.parent, "init", "--quiet")
    _arm(own, alarm)


def _pointer(own: Path) -> None:
    shutil.rmtree(own)
    own.write_text(f"gitdir: {TREE}/monitored/.git\n")


def _link(own: Path) -> None:
    own.unlink()
    own.symlink_to(TREE / "monitored" / ".git")


if __name__ == "__main__":
    sys.exit(main())
