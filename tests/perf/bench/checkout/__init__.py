"""Checkouts of a large repository with a cache and without, by the program as pods run it.

git's own HTTP server has the repository, on this machine: what a network would add comes on top
without a cache. The program has one core, as in a pod, and the server the others.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bernstein.api.encoding import dump
from bernstein.api.pod import CheckoutConfig
from bernstein.api.programs.cache import CacheConfig
from bernstein.api.programs.cached import CacheSource
from bernstein.pods.programs import cache
from tests.cluster.progress import step
from tests.perf.bench.checkout.repository import Size, make
from tests.perf.bench.goals import (
    ALL,
    ALL_FILES,
    BESIDE_ALL_FILES,
    CPU,
    FASTER,
    OBJECTS,
    OF_IT,
    ONE_FOLDER,
    WITH,
    WITHOUT,
)
from tests.perf.bench.table import Table, ratio
from tests.programs.pods.git_server import GitServer

FETCHED, COPIED, WRITTEN = "git fetches", "the cache is copied", "git writes the files"
KINDS: Mapping[str, Mapping[str, object]] = {
    ALL_FILES: {"worktree": "files", "worktree_git": True},
    ONE_FOLDER: {
        "worktree": "files",
        "worktree_git": True,
        "folders": ("services/07",),
    },
    OBJECTS: {},
}
"""What the configuration of each says; without a leading / paths are of the pod."""
_FOLDER = "bench"
_CHILD = """
import json, resource, sys, time
from bernstein.api.encoding import load
from bernstein.pods.git import cached, client
from bernstein.pods.programs import checkout
spent = {}
def timed(owner, name, what):
    real = getattr(owner, name)
    def call(*args, **more):
        start = time.monotonic()
        try:
            return real(*args, **more)
        finally:
            key = what(args)
            if key:
                spent[key] = spent.get(key, 0.0) + time.monotonic() - start
    setattr(owner, name, call)
names = json.loads(sys.argv[2])
timed(client.Git, "complete", lambda args: names.get(args[1]))
timed(cached, "_copy_both", lambda args: names["copy"])
checkout.run(load(checkout.CONFIG, sys.argv[1]))
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
spent[names["cpu"]] = sum(each.ru_utime + each.ru_stime for each in used)
print(json.dumps(spent))
"""
_NAMES = {"fetch": FETCHED, "copy": COPIED, "checkout-index": WRITTEN, "cpu": CPU}


@dataclass(frozen=True)
class Pods:
    """A server with the repository, a cache of an older tip, and a place for checkouts."""

    server: GitServer
    folder: Path
    source: CacheSource
    megabytes: float
    """Of all files of the branch."""
    packed: float
    """Of its repository."""

    def run(self, kind: Mapping[str, object], source: CacheSource | None) -> dict[str, float]:
        """Seconds of one checkout, and of its parts."""
        pod = Path(tempfile.mkdtemp(dir=self.folder))
        told = dict(kind)
        if "worktree" in told:
            told["worktree"] = str(pod / str(told["worktree"]))
        base = CheckoutConfig(self.server.remote("large"), "main", str(pod / "repo.git"))
        config = dump(replace(base, cache=source, **told))  # type: ignore[arg-type]
        last = max(os.sched_getaffinity(0))
        try:
            began = time.monotonic()
            done = subprocess.run(
                [sys.executable, "-c", _CHILD, config, json.dumps(_NAMES)],
                check=True,
                capture_output=True,
                preexec_fn=lambda: os.sched_setaffinity(0, {last}),
            )
            whole = time.monotonic() - began
        finally:
            shutil.rmtree(pod)
        found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
        used = b'"cache-used"' in done.stderr
        if used is not (source is not None):
            raise RuntimeError("the checkout has not done with the cache what it was to do")
        return found | {ALL: whole}


@contextmanager
def pods(size: Size, folder: Path | None = None) -> Iterator[Pods]:
    """In a folder of its own, below this one, which goes afterwards."""
    with tempfile.TemporaryDirectory(dir=folder) as made:
        place = Path(made)
        server = GitServer(place)
        try:
            (place / "repositories").mkdir()
            path = server.create("large")
            total = make(path, size)
            root = place / "volume"
            root.mkdir()
            own = str(place / "filling.git")
            told = CacheConfig(server.remote("large"), "first", _FOLDER, None, str(root), own)
            source = CacheSource(_FOLDER, cache.run(told).content, str(root))
            shutil.rmtree(own)
            packed = sum(f.stat().st_size for f in (path / "objects").rglob("*") if f.is_file())
            yield Pods(server, place, source, total / 1e6, packed / 1e6)
        finally:
            server.close()


Runs = Mapping[str, Sequence[Mapping[str, float]]]
"""By column, what each run has told."""


def checkouts(size: Size, runs: int, folder: Path | None = None) -> list[Table]:
    """A table for each kind of checkout; with and without a cache one after the other."""
    with pods(size, folder) as here:
        found = {name: _measured(here, name, kind, runs) for name, kind in KINDS.items()}
        said = f"{here.megabytes:,.0f} MB of files, {here.packed:,.0f} MB in the repository"
    return tables(found, said)


def _measured(here: Pods, name: str, kind: Mapping[str, object], runs: int) -> Runs:
    found: dict[str, list[dict[str, float]]] = {WITHOUT: [], WITH: []}
    with step(f"measuring: {name}"):
        for _ in range(runs):
            found[WITHOUT].append(here.run(kind, None))
            found[WITH].append(here.run(kind, here.source))
    return found


def tables(found: Mapping[str, Runs], repository: str) -> list[Table]:
    """What was measured of all kinds, in a `repository` of this size."""
    made = {name: _table(f"{name}: {repository}", runs) for name, runs in found.items()}
    (whole,) = (row for row in made[ALL_FILES].rows if row.what == CPU)
    (few,) = (row for row in made[ONE_FOLDER].rows if row.what == CPU)
    both = ratio(whole.cells[WITHOUT], few.cells[WITH])
    made[ONE_FOLDER].add(BESIDE_ALL_FILES, "", {FASTER: both})
    return [*made.values()]


def _table(title: str, found: Runs) -> Table:
    table = Table(title, (WITHOUT, WITH, FASTER))
    for what in (ALL, CPU, FETCHED, COPIED, WRITTEN):
        values = {
            column: tuple(run[what] for run in of if what in run) for column, of in found.items()
        }
        cells = {column: each for column, each in values.items() if each}
        if what in (ALL, CPU):
            cells[FASTER] = ratio(values[WITHOUT], values[WITH])
        if cells:
            table.add(what if what in (ALL, CPU) else f"{OF_IT}{what}", "s", cells)
    return table
