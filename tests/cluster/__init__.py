"""Real Kubernetes clusters for tests: one interface, three providers.

`python3 -m tests.cluster --help` is the command line; `select` is the entry from Python. Only the
standard library is used, because this runs before the project's own environment exists.
"""

from tests.cluster.errors import ClusterError
from tests.cluster.interface import Cluster, ComponentStatus, Status
from tests.cluster.provider import select

__all__ = ["Cluster", "ClusterError", "ComponentStatus", "Status", "select"]
