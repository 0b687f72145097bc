"""The operator under a profiler that counts CPU: `python -m tests.perf.bench.profiled FILE ...`.

The library's own command counts time that passes, which on a busy machine is mostly others'.
"""

from __future__ import annotations

import cProfile
import sys
import time

from bernstein.controllers import __main__ as operator


def main() -> None:
    """What follows the file is for the operator; the profile is written when it ends."""
    file, *arguments = sys.argv[1:]
    sys.argv = ["bernstein-operator", *arguments]
    profiler = cProfile.Profile(time.thread_time)
    try:
        profiler.runcall(operator.main)
    finally:
        profiler.dump_stats(file)


if __name__ == "__main__":
    main()
