"""The programs as the kubelet starts them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bernstein.api import encoding, pod
from bernstein.api.programs.forge_jobs import FORGE_JOBS
from bernstein.pods.__main__ import PROGRAMS
from tests.background import wait_for
from tests.programs.pods.conftest import Origin
from tests.programs.pods.git_server import USERS

HEAVY = {"aiohttp", "asyncio", "detect_secrets", "fastapi", "httpx", "kopf", "kubernetes"}
HEAVY |= {"pydantic", "requests", "structlog", "wcmatch", "yaml", "ssl"}
HEAVY |= {"cryptography", "securesystemslib"}
HEAVY |= {"click", "markdown_it", "pygments", "rich"}  # httpx has a command line, and so have we
CONNECTED = {"recorder", "probe"}
"""Talk to a server over TLS themselves."""
ASKS = {"judge", "listen", "mint", "propose", "watch"}
"""Ask models, several questions at a time, or a forge: that takes a client."""
OF_FEW = {
    "bernstein.api.programs.comparing": {pod.COMPARE},
    "bernstein.api.programs.forge": {*FORGE_JOBS},
    "bernstein.api.programs.probe": {pod.PROBE, pod.PROBE_KEY},
    "bernstein.checks.gate": {pod.COMPARE, pod.INSPECT, pod.JUDGE},
}
"""Modules with many dataclasses, of which each takes Python half a millisecond, and the programs
that use them."""


def start(program: str, config: object | str, log: Path) -> subprocess.Popen[str]:
    text = config if isinstance(config, str) else encoding.dump(config)
    return subprocess.Popen(
        [sys.executable, "-m", "bernstein.pods", program, text],
        env=os.environ | {"BERNSTEIN_TERMINATION_LOG": str(log)},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_result_and_exit_code_0(origin: Origin, tmp_path: Path) -> None:
    sha = origin.commit({"a": "1"}, ref="refs/heads/main")
    config = pod.CheckoutConfig(origin.remote(), "main", str(tmp_path / "base" / "repo.git"))
    process = start("checkout", config, tmp_path / "log")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (0, "")
    assert encoding.load(pod.CheckoutResult, (tmp_path / "log").read_bytes()).sha == sha
    assert [json.loads(line)["event"] for line in err.splitlines()] == ["checked-out", "finished"]


def test_a_failure_has_a_reason_and_exit_code_1(origin: Origin, tmp_path: Path) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    config = pod.CheckoutConfig(origin.remote(None), "main", str(tmp_path / "repo.git"))
    process = start("checkout", config, tmp_path / "log")
    _, err = process.communicate(timeout=60)
    failure = encoding.load(pod.Failure, (tmp_path / "log").read_bytes())
    assert (process.returncode, failure.reason) == (1, "RepositoryAuthFailed")
    assert "could not read Username" in failure.message
    assert not [secret for secret in USERS.values() if secret in err + failure.message]


@pytest.mark.parametrize(
    ("program", "config"),
    [
        ("checkout", "{}"),
        ("checkout", "nonsense"),
        ("land", '{"remote":1}'),
        ("mine-bitcoin", "{}"),
    ],
)
def test_a_wrong_configuration_says_so(program: str, config: str, tmp_path: Path) -> None:
    process = start(program, config, tmp_path / "log")
    process.communicate(timeout=60)
    failure = encoding.load(pod.Failure, (tmp_path / "log").read_bytes())
    assert (process.returncode, failure.reason) == (1, "InvalidConfig")


def test_a_stopped_pod_says_so(origin: Origin, tmp_path: Path) -> None:
    origin.commit({"a": "1"}, ref="refs/heads/main")
    origin.server.hold.clear()
    try:
        config = pod.CheckoutConfig(origin.remote(), "main", str(tmp_path / "repo.git"))
        before = len(origin.server.requests)
        process = start("checkout", config, tmp_path / "log")
        wait_for(lambda: len(origin.server.requests) > before)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    finally:
        origin.server.hold.set()
    failure = encoding.load(pod.Failure, (tmp_path / "log").read_bytes())
    assert (process.returncode, failure.reason) == (1, "Terminated")


def test_an_end_that_comes_while_a_program_starts_is_heard_by_it() -> None:
    code = (
        "import os, signal; from bernstein.pods import sigterm; sigterm.block();"
        "os.kill(os.getpid(), signal.SIGTERM); print(sigterm.awaited().wait(60))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "True\n"


def test_an_end_that_comes_while_its_event_is_locked_is_heard() -> None:
    """As it is for a moment of every wait, and the signal is handled in the thread that waits."""
    code = (
        "import os, signal; from bernstein.pods import sigterm; ended = sigterm.awaited();"
        "ended._cond.acquire(); os.kill(os.getpid(), signal.SIGTERM); ended._cond.release();"
        "print(ended.wait(60))"
    )
    told = subprocess.check_output([sys.executable, "-c", code], text=True, timeout=120)
    assert told == "True\n"


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_imports_only_what_it_needs(program: str) -> None:
    code = (
        "import importlib, sys; import bernstein.pods.__main__;"
        f"importlib.import_module('bernstein.pods.programs.{program}');"
        "print(*(name for name, module in sys.modules.items() if module))"
    )
    listed = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    top = {name.split(".")[0] for name in listed}
    allowed = {"ssl", "asyncio"} if program in CONNECTED | ASKS else set()
    assert top & HEAVY <= allowed | ({"httpx"} if program in ASKS else set())
    assert len(listed) < (420 if program in ASKS else 250)
    of_others = {module for module, users in OF_FEW.items() if program not in users}
    assert of_others.isdisjoint(listed)
