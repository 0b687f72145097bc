"""What it costs to start the command line, compared with starting Python for nothing.

The comparison holds on any machine; the figures are printed (``pytest -s``) for the reference.
"""

import os
import subprocess
import sys
from pathlib import Path

STARTS = 5
ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).parents[2] / "operator")}
HELP = "import sys; sys.argv[1:] = ['--help']; from bernstein.cli.main import main; main()"


def cpu_seconds(code: str) -> float:
    """User and system time of a Python that runs the code: the least of some starts."""
    return min(_once(code) for _ in range(STARTS))


def _once(code: str) -> float:
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=ENVIRONMENT)
    assert child.stdout is not None
    with child.stdout as printed:
        printed.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0
    return used.ru_utime + used.ru_stime


def test_to_show_its_help_costs_no_more_than_some_starts_of_python() -> None:
    nothing, shown = cpu_seconds("pass"), cpu_seconds(HELP)

    print(
        f"\nbernstein --help: {shown:.2f} s of CPU, as much as {shown / nothing:.0f} times Python"
    )
    assert shown < 30 * nothing
