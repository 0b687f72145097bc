"""Command line: progress on standard error, the tables on standard output."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from bernstein.kube.errors import KubeError
from tests.cluster.errors import ClusterError
from tests.cluster.progress import step
from tests.perf.bench import checkout, closed, overhead, throughput, waiting
from tests.perf.bench.checkout.repository import Size
from tests.perf.bench.goals import of_row, told, untold, verdicts
from tests.perf.bench.load import WentWrongError
from tests.perf.bench.overhead import NoTrailError
from tests.perf.bench.profile import profile
from tests.perf.bench.samples.piece import samples
from tests.perf.bench.samples.restart import restart
from tests.perf.bench.surroundings import Surroundings, machine, surroundings
from tests.perf.bench.table import Table, as_data, as_markdown, as_text

Piece = Callable[[Surroundings], Awaitable[list[Table]]]
PIECES = (
    *("throughput", "waiting", "closed"),
    *("samples", "restart", "profile", "overhead", "checkout"),
)
_GOES_WRONG = (
    ClusterError,
    KubeError,
    NoTrailError,
    OSError,
    RuntimeError,
    TimeoutError,
    WentWrongError,
)


def main(arguments: list[str] | None = None) -> int:
    """Run the pieces that are asked for; 1 where one goes wrong, after what was found by then, and
    where a goal is missed or cannot be seen."""
    options = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _interrupt)
    before = machine()
    tables: list[Table] = []
    try:
        if options.piece == "overhead":
            size = overhead.Size(options.tasks, options.runs, options.gates)
            tables += overhead.overhead(size, os.environ.get("BERNSTEIN_E2E_CLUSTER"))
        elif options.piece == "checkout":
            large = Size(options.sources, options.assets)
            tables += checkout.checkouts(large, options.runs, options.folder)
        else:
            asyncio.run(_run(options, tables, before))
        code = 0
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        code = 130
    except _GOES_WRONG as error:
        print(f"error: {error}", file=sys.stderr)
        code = 1
    missed = _show(options, tables, before)
    return code or missed


def _show(options: argparse.Namespace, tables: list[Table], facts: dict[str, object]) -> int:
    """What was found; 1 where it misses a goal, or tells nothing of one."""
    found, silent = verdicts(tables), untold(tables)
    lines = [*told(found), *silent]
    if tables and options.markdown:
        print(as_markdown(tables, facts, of_row), end="")
    elif tables:
        print(as_text(tables, facts), end="")
    if lines:
        print("", *lines, sep="\n")
    if options.json is not None:
        data = as_data(tables, facts) | {"goals": lines}
        options.json.write_text(json.dumps(data, indent=1) + "\n")
    missed = sum(not verdict.holds for verdict in found) + len(silent)
    if missed:
        print(f"{missed} of {len(found) + len(silent)} goals are missed", file=sys.stderr)
    return 1 if missed else 0


def _interrupt(*_: object) -> None:
    """As on ctrl-c: the operator is stopped, and the cluster taken down."""
    raise KeyboardInterrupt


async def _run(options: argparse.Namespace, tables: list[Table], facts: dict[str, object]) -> None:
    async with surroundings() as here:
        for name, piece in pieces(options).items():
            with step(f"measuring: {name}"):
                tables += await piece(here)
            here.operator.stop()
            facts["Leases lost"] = here.operator.lost


def pieces(options: argparse.Namespace) -> dict[str, Piece]:
    """What is measured, in this order; memory beside much else would be another figure, so that
    what leaves most behind comes last."""
    work = throughput.Size(options.tasks, options.projects, options.runs, options.seconds)
    beside = waiting.Size(options.waiting, options.passing, options.runs, options.seconds)
    ended = closed.Size(
        options.closed,
        options.projects,
        options.runs,
        options.rest,
        options.resync,
        options.seconds,
    )
    known: dict[str, Piece] = {
        "closed": lambda here: closed.closed(here, ended),
        "throughput": lambda here: throughput.throughput(here, work),
        "waiting": lambda here: waiting.waiting(here, beside),
        "samples": lambda here: samples(here, work),
        "restart": lambda here: restart(here, ended),
        "profile": lambda here: profile(here, work, options.profile_file),
    }
    wanted = ("closed", "throughput", "waiting") if options.piece == "all" else (options.piece,)
    return {name: known[name] for name in wanted}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.perf.bench",
        description=__doc__,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("piece", choices=("all", *PIECES))
    add("--runs", type=int, default=2, help="of every figure")
    add("--seconds", type=float, default=900, help="that one run of one kind may take")
    add("--tasks", type=int, default=100, help="Tasks of a run, but for `waiting` and `closed`")
    add("--projects", type=int, default=25, help="that Tasks are spread over, but for `waiting`")
    add("--waiting", type=_numbers, default=(100, 2000), help="waiting: Tasks, such as 100,2000")
    add("--passing", type=int, default=10, help="waiting: Tasks of a run that are new and pass")
    add("--closed", type=int, default=10_000, help="closed: Tasks")
    add("--rest", type=float, default=30, help="closed: seconds without a change")
    add("--resync", type=float, default=60, help="closed: seconds between looks at everything")
    add("--gates", type=_names, default=(), help="overhead: the whole pipeline, such as lint,tests")
    add("--sources", type=int, default=24_000, help="checkout: files of 18 KB that compress")
    add("--assets", type=int, default=300, help="checkout: files of 1 MB that do not")
    add("--folder", type=Path, help="checkout: where all of it lies; else the system's for such")
    add("--profile-file", type=Path, default=Path("operator.profile"), help="profile: for pstats")
    add("--markdown", action="store_true", help="tables as the page of the reference has them")
    add("--json", type=Path, help="file for the tables, with every run")
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _numbers(text: str) -> tuple[int, ...]:
    numbers = tuple(int(part) for part in text.split(","))
    if list(numbers) != sorted(set(numbers)):
        raise argparse.ArgumentTypeError("the numbers must grow")
    return numbers


if __name__ == "__main__":
    sys.exit(main())
