"""Command line: `python3 -m tests.images {build [NAME...] | clean}`."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from tests.cluster.errors import ClusterError
from tests.images import build
from tests.images.command import BuildError


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tests.images", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    builder = commands.add_parser("build", help="build what changed; prints the images as JSON")
    builder.add_argument("names", nargs="*", metavar="NAME")
    commands.add_parser("clean", help="remove all that builds keep")
    arguments = parser.parse_args()
    if arguments.command == "clean":
        build.clean()
        return 0
    try:
        built = build.build(arguments.names)
    except (BuildError, ClusterError, ValueError, FileNotFoundError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(json.dumps([asdict(image) for image in built], indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
