from collections.abc import AsyncIterator

import pytest

from bernstein.kube.client import Client
from tests.unit.kube.apiserver import ApiServer


@pytest.fixture
async def api() -> AsyncIterator[ApiServer]:
    async with ApiServer.running() as server:
        yield server


@pytest.fixture
async def client(api: ApiServer) -> AsyncIterator[Client]:
    async with api.client(timeout=5.0) as client:
        yield client
