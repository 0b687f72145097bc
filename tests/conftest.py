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


@pytest.fixture
async def background() -> AsyncIterator[Background]:
    running = Background()
    yield running
    await running.stop()
