"""What it costs to start the command line and the operator, compared with starting Python for
nothing, and what is loaded for it, and for a program in pods.

The comparison holds on any machine; the figures are printed (``pytest -s``) for the reference.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.perf.pace import TRIES

STARTS = 5
MOST_BESIDE_LIBRARIES = 1.7
"""Times what its libraries take: the rest is for the models of our kinds, mostly."""
ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).parents[2] / "operator")}
HELP = "import sys; sys.argv[1:] = ['--help']; from bernstein.cli.main import main; main()"
OPERATOR = "import bernstein.controllers.__main__"
STATUS = "import bernstein.cli.main, bernstein.cli.commands.status"
ASKS_A_FORGE = "import bernstein.pods.__main__, bernstein.pods.programs.watch"
OF_NO_USE_FOR_HELP = {"aiohttp", "asyncio", "fastapi", "kopf", "kubernetes", "pydantic"}
OF_NO_USE_FOR_HELP |= {"requests", "ssl", "structlog", "yaml"}
OF_NO_USE_FOR_HELP |= {"cryptography", "securesystemslib"}
OF_NO_USE_FOR_STATUS = {"fastapi", "kopf", "kubernetes", "pygments", "structlog", "yaml"}
OF_NO_USE_FOR_THE_OPERATOR = {"detect_secrets", "fastapi", "kubernetes", "oauthlib", "requests"}
OF_NO_USE_FOR_THE_OPERATOR |= {"cryptography", "google", "opentelemetry", "securesystemslib"}
OF_NO_USE_FOR_THE_OPERATOR |= {"starlette", "typer", "urllib3", "uvicorn", "wcmatch", "websocket"}
OF_NO_USE_FOR_A_PROGRAM = {"aiohttp", "click", "kopf", "kubernetes", "pydantic", "pygments", "rich"}


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


def test_to_load_the_operator_costs_less_than_a_hundred_starts_of_python() -> None:
    """It was as many when each took 0.012 s and all of it 1.2 s."""
    times, seconds = multiple("pass", 100)

    print(f"\noperator: {seconds:.2f} s of CPU, as much as {times:.0f} times Python")
    assert times < 100


def test_to_load_the_operator_costs_little_more_than_its_libraries_alone() -> None:
    libraries = sorted(n for n in loaded_by(OPERATOR) if n.partition(".")[0] != "bernstein")
    without_ours = f"""
import contextlib, importlib
for name in {libraries}:
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
"""
    times, _ = multiple(without_ours, MOST_BESIDE_LIBRARIES)

    print(f"\noperator: {times:.2f} times as much CPU as its libraries alone")
    assert times < MOST_BESIDE_LIBRARIES


def multiple(code: str, enough: float) -> tuple[float, float]:
    """How many times the CPU of this code the operator takes until it is loaded, and its seconds:
    the least of some measurements, of no more than it takes to be below `enough`."""
    found: list[tuple[float, float]] = []
    for _ in range(TRIES):
        less, loaded = cpu_seconds(code), cpu_seconds(OPERATOR)
        found.append((loaded / less, loaded))
        if loaded < enough * less:
            break
    return min(found)


@pytest.mark.parametrize(
    ("code", "useless", "most"),
    [
        (HELP, OF_NO_USE_FOR_HELP, 340),
        (STATUS, OF_NO_USE_FOR_STATUS, 470),
        (OPERATOR, OF_NO_USE_FOR_THE_OPERATOR, 640),
        (ASKS_A_FORGE, OF_NO_USE_FOR_A_PROGRAM, 240),
    ],
    ids=["help", "status", "operator", "watch"],
)
def test_only_what_is_used_is_loaded(code: str, useless: set[str], most: int) -> None:
    """`most`: modules of Python and of libraries; our own get more with what the product can do."""
    modules = loaded_by(code)
    libraries = {name for name in modules if name.partition(".")[0] != "bernstein"}

    print(f"\n{len(modules)} modules, {len(libraries)} of them not ours")
    assert useless.isdisjoint(name.partition(".")[0] for name in libraries)
    assert len(libraries) < most


def loaded_by(code: str) -> set[str]:
    """Names of the modules that a Python has loaded when it has run the code, whatever that
    prints."""
    last = "import atexit, sys; atexit.register(lambda: print('\\nLOADED', *sys.modules)); "
    command = [sys.executable, "-c", last + code]
    said = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    (line,) = (line for line in said.stdout.splitlines() if line.startswith("LOADED "))
    return set(line.split()[1:])
