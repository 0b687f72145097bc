"""The kinds of the Prometheus operator, as its own CRDs have them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control_plane.conftest import Tools

KINDS = Path(__file__).parent / "kinds"


@pytest.fixture(scope="module")
def monitoring_kinds(tools: Tools) -> Iterator[None]:
    with tools.with_kinds(KINDS):
        yield
