"""Command line: `python -m release [FOLDER]`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from release.charts import helm
from release.errors import ReleaseError
from release.make import Order, Release
from release.sources import Sources
from tests.cluster.binaries.build import ensure_binaries
from tests.cluster.errors import ClusterError
from tests.cluster.machine.paths import cache_root
from tests.images import build
from tests.images.command import BuildError

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    options = _options()
    order = Order(
        options.folder, options.registry.rstrip("/"), options.address, tuple(options.also)
    )
    try:
        release = Release(order, Sources(ROOT), lambda line: print(line, file=sys.stderr))
        release.begin()
        release.wheels()
        release.chart(helm(ensure_binaries().tools / "helm"))
        built = build.build(options.image)
        saved = [(image.name, Path(image.tar)) for image in built]
        release.images(saved, cache_root() / "release")
        release.end()
    except (BuildError, ClusterError, ReleaseError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(order.to)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("--registry", default="", help="what names of images begin with")
    parser.add_argument("--address", default="", help="where the files will be found, for krew")
    parser.add_argument(
        "--also",
        action="append",
        type=Path,
        default=[],
        metavar="FOLDER",
        help="the same release, made on a machine of another architecture",
    )
    parser.add_argument(
        "--image", action="append", default=[], metavar="NAME", help="only these; default: all"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
