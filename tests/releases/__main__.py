"""`python -m tests.releases`: keep what is checked out as the last release, in place of another."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

from tests.releases import FOLDER, Release, last

ROOT = Path(__file__).resolve().parents[2]
_CHART = ROOT / "charts" / "bernstein"


def keep() -> Release:
    """Packs the chart and the wheel. Raises CalledProcessError where the wheel cannot be made."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    shutil.rmtree(last().folder)
    release = Release(FOLDER / version)
    release.folder.mkdir()
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"),
            *("--no-build-isolation", "--wheel-dir", str(release.folder), str(ROOT)),
        ],
        check=True,
    )
    with tarfile.open(release.chart, "w:gz") as archive:
        archive.add(_CHART, "bernstein")
    return release


if __name__ == "__main__":
    kept = keep()
    sys.stdout.write(f"{kept.folder.relative_to(ROOT)}\n")
