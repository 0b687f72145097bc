"""The cluster of a bench: brought up with the chart in it, and an operator that is at work."""

from __future__ import annotations

import asyncio
import os
import platform
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from tests.cluster import Cluster, select
from tests.cluster.binaries.build import KUBERNETES_VERSION, ensure_binaries
from tests.control_plane.conftest import RELEASE_NAMESPACE, Tools, account_of, install_chart
from tests.perf.bench.moments import Watch
from tests.perf.bench.operator import Operator


@dataclass(frozen=True)
class Surroundings:
    """What every measurement needs."""

    cluster: Cluster
    connection: ConnectionInfo
    admin: Client
    operator: Operator

    def watch(self) -> Watch:
        """For as long as no process of the cluster is another one."""
        return Watch(self.cluster, self.connection, self.operator)


@asynccontextmanager
async def surroundings() -> AsyncIterator[Surroundings]:
    """A cluster of its own, taken down at the end unless it was up before.

    BERNSTEIN_TEST_CLUSTER names another one.
    """
    cluster = select("kwok", os.environ.get("BERNSTEIN_TEST_CLUSTER"))
    found = cluster.status().ready
    cluster.up()
    try:
        tools = Tools(ensure_binaries().tools, cluster.kubeconfig)
        install_chart(tools)
        connection = ConnectionInfo.from_kubeconfig(str(cluster.kubeconfig))
        account = account_of(cluster, tools)(RELEASE_NAMESPACE, "bernstein-operator")
        assert account.token is not None
        folder = Path(cluster.status().folder)
        operator = Operator(account, await account.token.token(), folder)
        async with Client(connection) as admin:
            keeping = asyncio.create_task(operator.kept())
            try:
                yield Surroundings(cluster, connection, admin, operator)
            finally:
                keeping.cancel()
                operator.stop()
    finally:
        if not found:
            cluster.down()


def machine() -> dict[str, object]:
    """What figures depend on beside the code."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": os.cpu_count() or 0,
        "memory": f"{memory / 2**30:.0f} GiB",
        "load before": f"{os.getloadavg()[0]:.1f}",
        "Python": platform.python_version(),
        "Kubernetes": KUBERNETES_VERSION,
    }
