"""Running the commands of a build, their output in a log."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

TAIL_LINES = 40


class BuildError(RuntimeError):
    """A step failed; the message ends with the tail of its log."""


def run(command: Sequence[str], log: Path, *, stdin: Path | None = None) -> None:
    """Run a command with its output in `log`; raises BuildError with the log's tail."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output, (stdin or Path("/dev/null")).open("rb") as source:
        code = subprocess.run(
            command, stdin=source, stdout=output, stderr=subprocess.STDOUT, check=False
        ).returncode
    if code != 0:
        raise BuildError(f"{command[0]} ended with {code}\n{tail(log)}")


def tail(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
    return f"--- end of {log}\n" + "\n".join(lines)
