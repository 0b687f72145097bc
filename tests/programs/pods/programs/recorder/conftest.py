"""A recorder that looks often, and a server for it to tell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bernstein.api.pod import Callback
from bernstein.pods.programs import recorder
from tests.programs.pods.callback_server import CallbackServer
from tests.programs.pods.programs.recorder.run import FAST, Run


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "_POLL_SECONDS", 0.02)
    monkeypatch.setattr(recorder, "_LAST_CALL_SECONDS", 60.0)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    run = Run(tmp_path / "pod")
    yield run
    run.stop()


@pytest.fixture
def server() -> Iterator[CallbackServer]:
    server = CallbackServer()
    yield server
    server.close()


@pytest.fixture
def callback(server: CallbackServer, tmp_path: Path) -> Callback:
    (tmp_path / "token").write_text("the-token\n")
    return Callback(server.url + "/prefix/", str(tmp_path / "token"), heartbeat_seconds=FAST)
