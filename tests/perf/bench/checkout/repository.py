"""A large repository for a bench, the same each time: sources, and files that do not compress."""

from __future__ import annotations

import random
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from tests.programs.pods.git_server import plain_env

SERVICES = 40
"""Folders of sources, of about the same size."""
_LINES = 350
"""Of a file of sources, of some 18 KB."""
_ASSET = 1 << 20
_WORDS, _DIFFERENT = 4000, 100_000
"""How many words there are, and how many lines."""
_CHANGED = 20
"""Commits after the first, which change one of 2,400 files each."""


@dataclass(frozen=True)
class Size:
    """How many files."""

    sources: int = 24_000
    assets: int = 300


def make(path: Path, size: Size) -> int:
    """Make it in the bare repository, with the branch `first`, and `main` some commits later; bytes
    of all files of `main`."""
    generator = random.Random(1)
    words = [_word(generator) for _ in range(_WORDS)]
    lines = [_line(generator, words) for _ in range(_DIFFERENT)]
    git = ["git", "-C", str(path), "fast-import", "--quiet"]
    with subprocess.Popen(git, stdin=subprocess.PIPE, env=plain_env()) as importing:
        assert importing.stdin is not None
        out = importing.stdin
        _commit(out, "first", "All of it", None)
        total = 0
        for number in range(size.sources):
            total += _file(out, _source(number), _text(generator, lines))
        for number in range(size.assets):
            content = generator.randbytes(_ASSET)
            total += _file(out, f"assets/{number % 10}/{number}.bin", content)
        for number in range(_CHANGED):
            _commit(out, "main", f"Change {number}", None if number else "first")
            each = max(1, size.sources // 2400)
            for changed in range(each):
                place = (number * each + changed) * 97 % size.sources
                _file(out, _source(place), _text(generator, lines))
        out.close()
    if importing.returncode:
        raise RuntimeError("git fast-import has not made the repository")
    return total


def _source(number: int) -> str:
    return f"services/{number % SERVICES:02}/{number // SERVICES % 25:02}/{number}.py"


def _word(generator: random.Random) -> str:
    return "".join(generator.choices("abcdefghijklmnopqrstuvwxyz", k=generator.randint(3, 10)))


def _line(generator: random.Random, words: list[str]) -> bytes:
    return ("    " * generator.randint(0, 3) + " ".join(generator.choices(words, k=6))).encode()


def _text(generator: random.Random, lines: list[bytes]) -> bytes:
    return b"\n".join(generator.choices(lines, k=_LINES))


def _commit(out: IO[bytes], branch: str, message: str, parent: str | None) -> None:
    """Begin a commit on the branch, or on top of this other one."""
    said = f"commit refs/heads/{branch}\ncommitter Ada <ada@example.com> 1700000000 +0000\n"
    out.write(f"{said}data {len(message)}\n{message}\n".encode())
    if parent is not None:
        out.write(f"from refs/heads/{parent}\n".encode())


def _file(out: IO[bytes], path: str, content: bytes) -> int:
    out.write(b"M 644 inline %b\ndata %d\n%b\n" % (path.encode(), len(content), content))
    return len(content)
