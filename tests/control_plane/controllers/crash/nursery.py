"""Starts operators fast: what takes long, the imports, is done once, and each operator is a fork.

Reads one line of JSON for every operator, and answers with the number of its process, which is no
other's as long as the nursery lives. When its input ends, it ends, and all operators with it.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import signal
import sys
from pathlib import Path

from bernstein.controllers import __main__ as operator

PR_SET_PDEATHSIG = 1


def main() -> None:
    gc.freeze()
    for line in sys.stdin:
        wanted = json.loads(line)
        if child := os.fork():
            print(child, flush=True)
        else:
            become(wanted["arguments"], Path(wanted["folder"]))


def become(arguments: list[str], folder: Path) -> None:
    """This process is an operator from here on, at work in this folder."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.chdir(folder)
    with Path("log").open("ab") as out, Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    sys.argv = ["bernstein-operator", *arguments]
    operator.main()


if __name__ == "__main__":
    main()
