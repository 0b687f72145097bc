"""Command line: `python -m release [FOLDER]`."""

from __future__ import annotations

import argparse
import subprocess
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
        _make(Release(order, Sources(ROOT), _say), options.image)
    except (BuildError, ClusterError, OSError, ReleaseError, ValueError) as error:
        _say(f"error: {error}")
        return 1
    except subprocess.CalledProcessError as error:
        _say(f"error: {error}\n{error.stderr or ''}".rstrip())
        return 1
    print(order.to)
    return 0


def _make(release: Release, only: list[str]) -> None:
    """`only`: names of images; none: all of them."""
    release.begin()
    release.wheels()
    release.chart(helm(ensure_binaries().tools / "helm"))
    saved = [(image.name, Path(image.tar)) for image in build.build(only)]
    kept = cache_root() / "release"
    release.images(saved, kept)
    if only:
        _say("not all images: the folder has no SHA256SUMS, because it is no whole release")
        return
    release.end()
    release.forget(kept)


def _say(line: str) -> None:
    print(line, file=sys.stderr)


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
        "--image",
        action="append",
        default=[],
        metavar="NAME",
        help="only these, without sums, which say that a release is whole; default: all",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
