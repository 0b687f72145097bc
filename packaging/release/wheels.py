"""The wheels: of the program, and of the small package that gates are written with."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from release.errors import ReleaseError

SOURCES = ("LICENSE", "README.md", "operator", "pyproject.toml")
PROJECTS = (".", "operator/bernstein_gates")
"""Folders with a pyproject.toml."""


def build(root: Path, files: list[str], to: Path, epoch: int) -> list[Path]:
    """Build them from these files of the repository, by path; only these decide their bytes.

    Raises ReleaseError WheelFailed.
    """
    with tempfile.TemporaryDirectory() as folder:
        tree, made = Path(folder, "tree"), Path(folder, "made")
        for name in files:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / name, tree / name)
            (tree / name).chmod(0o755 if os.access(root / name, os.X_OK) else 0o644)
        for project in PROJECTS:
            _wheel(tree / project, made, epoch)
        found = sorted(made.iterdir())
        return [Path(shutil.copy(path, to / path.name)) for path in found]


def _wheel(project: Path, to: Path, epoch: int) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index"]
    command += ["--disable-pip-version-check", "--no-build-isolation", "--no-cache-dir"]
    done = subprocess.run(
        [*command, "--wheel-dir", str(to), str(project)],
        env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
        umask=0o022,  # modes of what the build makes itself are in the wheel
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise ReleaseError(
            "WheelFailed",
            f"pip made no wheel of {project.name}: {done.stderr.strip()[-2000:]}",
            "see what pip says",
        )
