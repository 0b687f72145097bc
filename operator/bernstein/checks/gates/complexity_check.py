"""Gate `complexity_check`: no function becomes a good deal more complex than it was."""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate

GATE = Gate(
    name="complexity_check",
    condition="python_changed",
    default_on=False,
    # Where radon is missing, `find` would end with 1. It looks for its configuration where it runs:
    # so not in the repository. Names with a dot it passes over, unless they are said.
    runs=Command(
        "if ! command -v radon > /dev/null; then exit 127; fi; "
        'tree="$PWD"; cd / && find "$tree" -name .git -prune'
        " -o -name '*.py' ! -type d -exec radon cc --json {} +",
        output="radon",
        against_base=True,
        tolerance=20.0,
        by_file=True,
    ),
)
