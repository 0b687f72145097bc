"""A real Redis for the tests, on a Unix socket of its own."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

START_SECONDS = 10.0


@pytest.fixture(scope="session")
def redis_server() -> Iterator[str]:
    """Address of a Redis server that lives as long as the test run."""
    with tempfile.TemporaryDirectory() as folder:
        socket = Path(folder) / "redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", str(socket)]
        command += ["--save", "", "--appendonly", "no", "--dir", folder]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:  # noqa: S603
            try:
                url = f"unix://{socket}"
                _await(url, process)
                yield url
            finally:
                process.terminate()


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """Address of an empty Redis."""
    with redis.Redis.from_url(redis_server, socket_timeout=5.0) as client:
        client.flushall()
    return redis_server


def _await(url: str, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + START_SECONDS
    with redis.Redis.from_url(url, socket_timeout=1.0) as client:
        while True:
            try:
                client.ping()
            except redis.ConnectionError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
            else:
                return
