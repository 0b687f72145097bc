"""Repositories that make git run a program, in a worktree that others take snapshots of.

    python3 repositories.py SECONDS

Each arrangement is first used the careless way, so that every program in it is seen to run; then it
stays for SECONDS while its files change. Every program has a mark of its own. Prints as JSON
{"careless": {arrangement: {mark: calls}}, "snapshots": {the same}, "in the recorder": [mark]}.
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
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

TREE = Path("/workspace")
SESSION = Path("/session")
HOOKS = ("pre-commit", "post-index-change", "reference-transaction")
PORT = 4711
PROGRAM = f"""\
#!/bin/bash
echo MARK >/dev/tcp/127.0.0.1/{PORT}
touch {SESSION}/ran-MARK
[ -t 0 ] || cat
"""


class Alarm:
    """Makes programs that call a port, which the whole pod shares, and counts their calls."""

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()
        self._server = socket.create_server(("127.0.0.1", PORT))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._server.accept()
            with connection, connection.makefile() as said:
                self._calls[said.readline().strip()] += 1

    def program(self, path: Path, mark: str) -> Path:
        path.write_text(PROGRAM.replace("MARK", mark))
        path.chmod(0o755)
        return path

    def taken(self) -> dict[str, int]:
        """Calls by mark since the last question."""
        time.sleep(0.5)
        calls, self._calls = self._calls, Counter()
        return dict(calls)


@dataclass(frozen=True)
class Arrangement:
    name: str
    make: Callable[[], None]
    careless: Callable[[], None]


def main() -> int:
    seconds = float(sys.argv[1])
    alarm = Alarm()
    for role in ("AUTHOR", "COMMITTER"):
        os.environ |= {f"GIT_{role}_NAME": "a", f"GIT_{role}_EMAIL": "a@a.invalid"}
    own = TREE / ".git"
    careless: dict[str, dict[str, int]] = {}
    snapshots: dict[str, dict[str, int]] = {}
    for each in (
        Arrangement("side by side", lambda: _side_by_side(own, alarm), _everything),
        Arrangement("other repository", lambda: _replace(own, alarm), _commit),
        Arrangement("pointer", lambda: _pointer(own), _add),
        Arrangement("link", lambda: _link(own), _add),
    ):
        each.make()
        each.careless()
        careless[each.name] = alarm.taken()
        _change_files(seconds)
        snapshots[each.name] = alarm.taken()
    ran = sorted(path.name.removeprefix("ran-") for path in SESSION.glob("ran-*"))
    print(json.dumps({"careless": careless, "snapshots": snapshots, "in the recorder": ran}))
    return 0


def _git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


# --- the arrangements ---------------------------------------------------------------------------


def _side_by_side(own: Path, alarm: Alarm) -> None:
    _nested(alarm)
    _bare(alarm)
    _arm(own, alarm)


def _nested(alarm: Alarm) -> None:
    """Repositories in folders of the tree: one with a monitor, one with a filter."""
    monitored, filtered = TREE / "monitored", TREE / "filtered"
    for folder in (monitored, filtered):
        folder.mkdir()
        _git(folder, "init", "--quiet")
        _touch(folder, 0)
        _git(folder, "add", "--all")
        _git(folder, "commit", "--quiet", "--message", "inner")
    program = alarm.program(TREE / "monitor", "nested-monitor")
    _git(monitored, "config", "core.fsmonitor", str(program))
    program = alarm.program(TREE / "filter", "nested-filter")
    (filtered / ".gitattributes").write_text("* filter=x\n")
    _git(filtered, "config", "filter.x.clean", str(program))


def _bare(alarm: Alarm) -> None:
    """A git directory of plain files, as it could be committed."""
    bare = TREE / "bare"
    for name in ("objects", "refs"):
        (bare / name).mkdir(parents=True)
        (bare / name / "kept").write_text("")
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    program = alarm.program(TREE / "bare-monitor", "bare-monitor")
    (bare / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"
        f"\tworktree = {bare}\n\tfsmonitor = {program}\n"
    )


def _arm(own: Path, alarm: Alarm) -> None:
    """Hooks and a monitor in the tree's own repository."""
    hooks = own / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        alarm.program(hooks / name, f"own-{name}")
    _git(TREE, "config", "core.fsmonitor", str(alarm.program(own / "monitor", "own-monitor")))


def _replace(own: Path, alarm: Alarm) -> None:
    shutil.rmtree(own)
    _git(TREE, "init", "--quiet")
    _arm(own, alarm)


def _pointer(own: Path) -> None:
    shutil.rmtree(own)
    own.write_text(f"gitdir: {TREE}/monitored/.git\n")


def _link(own: Path) -> None:
    own.unlink()
    own.symlink_to(TREE / "monitored" / ".git")


# --- the careless ways --------------------------------------------------------------------------


def _everything() -> None:
    _snapshots()
    _status_inside()
    _commit()


def _snapshots() -> None:
    """Two by `git add`, with hooks off and a git directory of its own."""
    folder = "/tmp/careless.git"
    where = [f"--git-dir={folder}", f"--work-tree={TREE}", "-c", "core.hooksPath=/dev/null"]
    subprocess.run(["git", "init", "--quiet", "--bare", folder], check=True)
    for number in (1, 2):
        _touch_all(number)
        subprocess.run(["git", *where, "add", "--all"], check=True, capture_output=True)


def _status_inside() -> None:
    """Any tool that asks git where it stands. What git says to such a repository is all one."""
    command = ["git", "-c", "safe.bareRepository=all", "status"]
    subprocess.run(command, cwd=TREE / "bare", check=False, capture_output=True)


def _add() -> None:
    _git(TREE, "add", "--all")


def _commit() -> None:
    _add()
    _git(TREE, "commit", "--quiet", "--message", "x")


# --- changes, so that there is something to record ----------------------------------------------


def _touch(folder: Path, number: int) -> None:
    """Always of the same size, or git would not have to read it, through the filter."""
    (folder / "kept.txt").write_text(f"edit {number:4}\n")


def _touch_all(number: int) -> None:
    for name in ("monitored", "filtered"):
        _touch(TREE / name, number)


def _change_files(seconds: float) -> None:
    until = time.monotonic() + seconds
    number = 0
    while time.monotonic() < until:
        number += 1
        _touch_all(number)
        time.sleep(0.5)


if __name__ == "__main__":
    sys.exit(main())
