"""Argo CD installs the chart into an empty cluster, and finds no difference afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import yaml

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from tests.cluster import select
from tests.cluster.binaries.build import ensure_binaries
from tests.control_plane.conftest import CHART, RELEASE_NAMESPACE, Tools, own_name
from tests.platform.gitops.argocd import ArgoCD, installed
from tests.platform.gitops.repository import Repository
from tests.platform.gitops.synced import Synced
from tests.platform.gitops.test_examples import EXAMPLES
from tests.resources import NAMESPACES


@pytest.fixture
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ArgoCD]:
    """Argo CD in a cluster of its own: others install the chart with Helm into theirs."""
    cluster = select("control-plane", own_name("argocd"))
    cluster.up()
    try:
        tools = Tools(ensure_binaries().tools, cluster.kubeconfig)
        with installed(tmp_path_factory.mktemp("argocd"), tools) as argocd:
            argocd.start()
            yield argocd
    finally:
        cluster.down()


@pytest.fixture
async def owner(alone: ArgoCD) -> AsyncIterator[Client]:
    kubeconfig = str(alone.tools.kubeconfig)
    async with Client(ConnectionInfo.from_kubeconfig(kubeconfig)) as client:
        yield client


async def test_the_chart_is_synced_twice_and_the_second_time_changes_nothing(
    owner: Client, alone: ArgoCD, repository: Repository
) -> None:
    revision = repository.copy(CHART)
    spec = yaml.safe_load((EXAMPLES / "argocd" / "chart.yaml").read_text())["spec"]
    policy = {name: said for name, said in spec["syncPolicy"].items() if name != "automated"}
    app = await Synced.made(owner, alone, repository, RELEASE_NAMESPACE, **policy)
    source = (await app.get())["spec"]["source"]
    await app.change(source={**source, "helm": spec["source"]["helm"]})

    first = await app.sync(revision)
    assert first["phase"] == "Succeeded", first
    await app.in_sync()
    namespace = await owner.get(NAMESPACES, RELEASE_NAMESPACE)
    labels = policy["managedNamespaceMetadata"]["labels"]
    assert labels.items() <= namespace["metadata"]["labels"].items()

    before = await app.versions()
    assert len(before) > 30
    second = await app.sync(revision)
    assert second["phase"] == "Succeeded", second
    await app.in_sync()
    assert await app.versions() == before
