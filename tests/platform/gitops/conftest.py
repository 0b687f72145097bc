"""A real API server with the chart, the engine with a played kubelet, and Argo CD beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.control_plane.conftest import (
    Tools,
    account,
    admin,
    chart,
    cluster,
    operator_connection,
    stays,
    tools,
)
from tests.control_plane.controllers.conftest import make_world, node, world
from tests.platform.gitops.argocd import ArgoCD, installed
from tests.platform.gitops.repository import Repository

__all__ = [
    "account",
    "admin",
    "chart",
    "cluster",
    "make_world",
    "node",
    "operator_connection",
    "stays",
    "tools",
    "world",
]


@pytest.fixture(scope="module")
def accounts(
    tools: Tools, chart: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ArgoCD]:
    """Argo CD's accounts, and nobody at work."""
    with installed(tmp_path_factory.mktemp("argocd"), tools) as found:
        yield found


@pytest.fixture(scope="module")
def argocd(accounts: ArgoCD) -> ArgoCD:
    accounts.start()
    return accounts


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "platform")
