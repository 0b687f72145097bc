"""What it costs to start the command line and the operator, compared with starting Python for
nothing, and what is loaded for it.

The comparison holds on any machine; the figures are printed (``pytest -s``) for the reference.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

STARTS = 5
ENVIRONMENT = {"PYTHONPATH": str(Path(__file__).parents[2] / "operator")}
HELP = "import sys; sys.argv[1:] = ['--help']; from bernstein.cli.main import main; main()"
OPERATOR = "import bernstein.controllers.__main__"
OF_NO_USE_FOR_HELP = {"aiohttp", "asyncio", "fastapi", "kopf", "kubernetes", "pydantic"}
OF_NO_USE_FOR_HELP |= {"requests", "ssl", "structlog", "yaml"}
OF_NO_USE_FOR_HELP |= {"cryptography", "securesystemslib"}
OF_NO_USE_FOR_THE_OPERATOR = {"detect_secrets", "fastapi", "kubernetes", "oauthlib", "requests"}
OF_NO_USE_FOR_THE_OPERATOR |= {"cryptography", "securesystemslib"}
OF_NO_USE_FOR_THE_OPERATOR |= {"starlette", "typer", "urllib3", "uvicorn", "wcmatch", "websocket"}


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


def test_to_load_the_operator_costs_no_more_than_its_libraries_and_ours() -> None:
    nothing, loaded = cpu_seconds("pass"), cpu_seconds(OPERATOR)

    print(f"\noperator: {loaded:.2f} s of CPU, as much as {loaded / nothing:.0f} times Python")
    assert loaded < 150 * nothing


@pytest.mark.parametrize(
    ("code", "useless", "most"),
    [
        (HELP, OF_NO_USE_FOR_HELP, 340),
        (OPERATOR, OF_NO_USE_FOR_THE_OPERATOR, 640),
    ],
    ids=["help", "operator"],
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
