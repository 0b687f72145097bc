"""Prometheus' own checker."""

from __future__ import annotations

import subprocess
from pathlib import Path


def promtool(*arguments: str, folder: Path) -> str:
    """What it prints, run there; it must find nothing wrong."""
    done = subprocess.run(
        ["promtool", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
