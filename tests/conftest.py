"""What holds for the tests of every tier."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator

import pytest
from hypothesis import settings

from tests.background import Background

# A shell ignores SIGINT for what it runs in the background, and the programs under test inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests of repositories that gates judge, and none of ours.
collect_ignore = ["gates"]

settings.register_profile("quick", max_examples=50, derandomize=True, deadline=None)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


class Failures:
    """Names every failure when it comes, so that a run that is cut off has told it."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal is not None:
            terminal.write_line(f"\n{report.when} of {report.nodeid} failed:")
            terminal.write_line(report.longreprtext)


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # a worker has no terminal
        config.pluginmanager.register(Failures(config), "failures-at-once")


@pytest.fixture
async def background() -> AsyncIterator[Background]:
    running = Background()
    yield running
    await running.stop()
