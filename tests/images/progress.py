"""What the build says while it works, and how its commands are run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

TAIL_LINES = 40


class BuildError(RuntimeError):
    """A step failed; the message ends with the tail of its log."""


def say(text: str) -> None:
    print(f"[images] {text}", file=sys.stderr, flush=True)


@contextmanager
def step(text: str) -> Iterator[None]:
    """Says when a step starts and how long it took."""
    say(f"{text} ...")
    start = time.monotonic()
    yield
    say(f"{text}: {time.monotonic() - start:.1f} s")


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
