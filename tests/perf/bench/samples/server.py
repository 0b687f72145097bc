"""The API server's own CPU profile, taken while it works and read with Go's `pprof`."""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

from bernstein.kube.config import ConnectionInfo
from tests.cluster.binaries.go import toolchain
from tests.perf.bench.samples.stacks import Stack, Work

SECONDS = 5
"""Of one profile: many are taken one after another, as each ends only when its time is over."""
_VALUE = 10
_GAP = 3
"""Widths before a function's name: of a value in milliseconds, and of what stands between."""
_INLINED = " (inline)"

WORKS = (
    Work("garbage collection", (r"^runtime\.(gc|bgsweep|bgscavenge|markroot|scanobject)",)),
    Work("admission policies", (r"^k8s\.io/apiserver/pkg/admission/plugin/policy/",)),
    Work("rules of our kinds, in CEL", (r"/apiserver/schema/cel|google/cel-go",)),
    Work("other admission", (r"/admission/.*\.(Admit|Validate)$|/admission/plugin/",)),
    Work("tracking of fields", (r"structured-merge-diff|managedfields",)),
    Work("validation", (r"/validation\.|/strategy\.|[sS]trategy\)\.Validate",)),
    Work(
        "telling who watches",
        (
            r"\(\*cacheWatcher\)|\.dispatchEvents?$|\(\*WatchServer\)|\(\*watchChan\)"
            r"|\(\*watchCache\)\.(Add|Update|Delete|processEvent)$|\.serveWatchHandler",
        ),
    ),
    Work("etcd's client", (r"go\.etcd\.io/etcd|google\.golang\.org/grpc",)),
    Work("encoding and decoding", (r"/runtime/serializer|encoding/json|sigs\.k8s\.io/json|cbor",)),
    Work("who may do it", (r"/authorizer|/auth/|/authentication/|authorization/",)),
    Work("the rest of requests", (r"endpoints/handlers",)),
    Work("TLS and HTTP", (r"^crypto/|net/http|golang\.org/x/net/http2|^net\.",)),
    Work("Go's scheduler", (r"^runtime\.(schedule|findRunnable|mcall|park_m|sysmon|mstart)",)),
)
"""The first that a stack belongs to counts."""


@contextmanager
def profiled(admin: ConnectionInfo) -> Iterator[list[Stack]]:
    """What the API server works at in the block; the list is filled when it ends.

    OSError when the server refuses, ClusterError when there is no Go, RuntimeError when the profile
    cannot be read.
    """
    found: list[Stack] = []
    ends = threading.Event()
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(1) as pool:
        taking = pool.submit(_take, admin, Path(place), ends)
        try:
            yield found
        finally:
            ends.set()
        found += read(_told(taking.result(), Path(place)))


def _take(admin: ConnectionInfo, folder: Path, ends: threading.Event) -> list[Path]:
    taken: list[Path] = []
    while not ends.is_set():
        request = Request(f"{admin.server}/debug/pprof/profile?seconds={SECONDS}")  # noqa: S310 - our own API server
        with urlopen(request, context=admin.ssl_context(), timeout=60 + SECONDS) as answer:  # noqa: S310
            taken.append(folder / f"{len(taken)}.pprof")
            taken[-1].write_bytes(answer.read())
    return taken


def _told(profiles: Sequence[Path], folder: Path) -> str:
    """All of them together, every stack by itself."""
    go = toolchain(folder)({"GOTOOLCHAIN": "local"})
    shown = ("-traces", "-unit=ms", "-symbolize=none")
    command = [*go, "tool", "pprof", *shown, *map(str, profiles)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"the profile cannot be read: {done.stderr[-500:]}")
    return done.stdout


def read(traces: str) -> list[Stack]:
    """Stacks of `pprof -traces -unit=ms`."""
    found: list[Stack] = []
    for block in re.split(r"^-+\+-+$", traces, flags=re.MULTILINE)[1:]:
        value, functions = 0.0, []
        for line in block.splitlines():
            before, between = line[:_VALUE].strip(), line[_VALUE : _VALUE + _GAP]
            if between.strip() or not line.strip():
                continue  # a label of the stack
            if before:
                value = float(before.removesuffix("ms"))
            functions.append(line[_VALUE + _GAP :].removesuffix(_INLINED))
        if functions:
            found.append(Stack(value, tuple(functions)))
    return found


def package(function: str) -> str:
    """The package that a function of Go is in: `net/http` of `net/http.(*Server).Serve`."""
    path, slash, name = function.partition("[")[0].rpartition("/")
    return f"{path}{slash}{name.partition('.')[0]}"
