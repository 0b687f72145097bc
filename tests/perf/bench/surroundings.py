"""The cluster of a bench: brought up with the chart in it, and an operator that is at work."""

from __future__ import annotations

import asyncio
import os
import platform
import time
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
from tests.perf.bench.processes import cpu_seconds

REST_SECONDS = 3.0
"""Between two looks at what the cluster's processes have used."""
AT_REST = 0.3
"""Of a core, all of them together, Leases and heartbeats included."""


@dataclass(frozen=True)
class Surroundings:
    """What every measurement needs."""

    cluster: Cluster
    connection: ConnectionInfo
    admin: Client
    operator: Operator

    def rest(self, seconds: float) -> None:
        """Wait until the cluster has nothing to do, whoever gave it work: its controllers read all
        that is new. Raises TimeoutError after so many seconds."""
        deadline = time.monotonic() + seconds
        pids = [part.pid for part in self.cluster.status().components]
        used = sum(map(cpu_seconds, pids))
        while time.monotonic() < deadline:
            time.sleep(REST_SECONDS)
            before, used = used, sum(map(cpu_seconds, pids))
            if used - before < REST_SECONDS * AT_REST:
                return
        raise TimeoutError(f"the cluster has not come to rest within {seconds:.0f} s")

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
        account = account_of(cluster)(RELEASE_NAMESPACE, "bernstein-operator")
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
