"""`python -m tests.releases`: keep what is checked out as the last release, in place of another."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from release import charts, wheels
from release.charts import Helm
from release.errors import ReleaseError
from release.sources import Sources
from tests.cluster.binaries.build import ensure_binaries
from tests.cluster.errors import ClusterError
from tests.releases import FOLDER, Release, last

ROOT = Path(__file__).resolve().parents[2]
_REPOSITORY = "bernstein"
"""As the chart has it: tests name images without a registry."""


def keep(sources: Sources, run: Helm, folder: Path = FOLDER) -> Release:
    """Packs the chart and the wheel as a release does, and only then puts them in place.

    Raises ReleaseError; the last one stays then.
    """
    sources.refuse_unknown()
    version, epoch = sources.version(), sources.epoch()
    kept = Release(folder / version)
    with tempfile.TemporaryDirectory(dir=folder, prefix=".new-") as beside:
        made = Release(Path(beside, version))
        made.folder.mkdir()
        chart = sources.root / "charts/bernstein"
        charts.package(run, chart, version, _REPOSITORY, made.folder, epoch)
        files = sources.files(*wheels.SOURCES)
        for wheel in wheels.build(sources.root, files, made.folder, epoch):
            if wheel != made.wheel:
                wheel.unlink()
        last(folder).folder.rename(Path(beside, "old"))
        made.folder.rename(kept.folder)
    return kept


def main() -> int:
    try:
        run = charts.helm(ensure_binaries().tools / "helm")
        kept = keep(Sources(ROOT), run)
    except (ClusterError, ReleaseError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(kept.folder.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
