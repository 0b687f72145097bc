"""The operator, looked at while it works: `python -m tests.perf.bench.samples.sampler FILE ...`.

Unlike a profiler it makes no call dearer: after every few milliseconds of CPU it is noted which
functions are at work. It begins with SIGUSR1, so that what was done before does not count; with
AT_ONCE before the file, when it is loaded, and what that took is told, too.
"""

from __future__ import annotations

import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from types import CodeType, FrameType

from bernstein.controllers import __main__ as operator
from tests.perf.bench.samples.stacks import Stack, Work

BEGIN = signal.SIGUSR1
AT_ONCE = "--at-once"
LOADING = "until it is loaded"
_EVERY = 0.005
"""Seconds of CPU."""
_OURS = re.compile(r"/operator/bernstein/(.+)\.py$")
_LIBRARY = re.compile(r"/(?:site-packages|python3\.\d+)/(?!site-packages)(.+)\.py$")
_OF_A_LIBRARY = "library "

_RECONCILES = r"^kube/reconcile:"
_WATCHES = r"^kube/informer:|^kube/client:Client\.watch"
WORKS = (
    Work("reconciles: their requests", (_RECONCILES, r"^kube/client:")),
    Work("reconciles: all else", (_RECONCILES,)),
    Work("watches: reading JSON", (_WATCHES, r"\A(kube/answers/|library json)")),
    Work("watches: all else", (_WATCHES,)),
    Work("Lease, metrics and probes", (r"^kube/lease:|^observe/",)),
    Work("TLS", (r"^library (ssl|asyncio/sslproto):",)),
    Work("HTTP", (r"^library aiohttp/",)),
    Work("event loop", (r"^library (asyncio/|selectors:)",)),
)
"""The first that a stack belongs to counts."""


class Sampler:
    """Counts CPU by what the main thread was at when it had been used."""

    def __init__(self) -> None:
        self._found: defaultdict[tuple[CodeType, ...], float] = defaultdict(float)
        self._last = 0.0
        self._loading = 0.0
        """Milliseconds."""

    def begin_at_once(self) -> None:
        """From now on; what was done before counts as loading."""
        self._loading = 1000 * time.process_time()
        self.begin()

    def begin(self, *_: object) -> None:
        """From now on, until `end`."""
        self._last = time.process_time()
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, _EVERY, _EVERY)

    def end(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _look(self, _: int, frame: FrameType | None) -> None:
        """All CPU since the last look: a long call into C has one signal however long it is."""
        now = time.process_time()
        stack: list[CodeType] = []
        while frame is not None:
            stack.append(frame.f_code)
            frame = frame.f_back
        self._found[tuple(stack)] += now - self._last
        self._last = now

    def stacks(self) -> list[Stack]:
        """What was found, in milliseconds."""
        found = [
            Stack(
                1000 * seconds,
                tuple(name_of(code.co_filename, code.co_qualname) for code in codes),
            )
            for codes, seconds in self._found.items()
        ]
        return [Stack(self._loading, (LOADING,)), *found] if self._loading else found


def name_of(file: str, name: str) -> str:
    """`core/pods:has_ended` of a function of ours, `library aiohttp/client:get` of another."""
    if ours := _OURS.search(file):
        return f"{ours[1]}:{name}"
    if library := _LIBRARY.search(file):
        return f"{_OF_A_LIBRARY}{library[1]}:{name}"
    return f"{Path(file).stem}:{name}"


def package(function: str) -> str:
    """The room of ours that a function is in, or the library."""
    parts = function.partition(":")[0].split("/")
    return parts[0] if function.startswith(_OF_A_LIBRARY) else "/".join(parts[:2])


def as_text(stacks: Iterable[Stack]) -> str:
    """A line for each stack, as `read` takes it."""
    return "".join(f"{stack.ms:.3f} {';'.join(stack.functions)}\n" for stack in stacks)


def read(file: Path) -> list[Stack]:
    """What a sampler has written."""
    found = []
    for line in file.read_text().splitlines():
        ms, _, functions = line.partition(" ")
        found.append(Stack(float(ms), tuple(functions.split(";"))))
    return found


def main() -> None:
    """What follows the file is for the operator; samples are written when it ends."""
    at_once = sys.argv[1] == AT_ONCE
    file, *arguments = sys.argv[2 if at_once else 1 :]
    sys.argv = ["bernstein-operator", *arguments]
    sampler = Sampler()
    signal.signal(BEGIN, sampler.begin)
    if at_once:
        sampler.begin_at_once()
    try:
        operator.main()
    finally:
        sampler.end()
        Path(file).write_text(as_text(sampler.stacks()))


if __name__ == "__main__":
    main()
