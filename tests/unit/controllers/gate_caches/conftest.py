from __future__ import annotations

import pytest

from bernstein.kube.client import Client
from tests.unit.controllers.gate_caches.leading import Process


@pytest.fixture
def process(client: Client) -> Process:
    return Process(client)
