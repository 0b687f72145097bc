"""The launcher, compiled from its sources, or from sources in which a protection is taken off."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

SOURCES = Path(__file__).parents[3] / "images" / "bernstein"
FLAGS = ("-static", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def compiled(folder: Path, careless: Mapping[str, str] = {}) -> Path:
    """The program, in that folder. `careless`: what stands in the place of each protection, which
    stands once in the sources."""
    texts = {name: (SOURCES / name).read_text() for name in ("launcher.c", "answer.h")}
    for protection, instead in careless.items():
        assert sum(text.count(protection) for text in texts.values()) == 1, protection
        texts = {name: text.replace(protection, instead) for name, text in texts.items()}
    for name, text in texts.items():
        (folder / name).write_text(text)
    program = folder / "launcher"
    subprocess.run(["gcc", *FLAGS, "-o", str(program), str(folder / "launcher.c")], check=True)
    return program
