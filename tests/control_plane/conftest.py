"""A real control plane with the chart installed, and everyone who calls it.

The cluster is brought up once per process that tests, and stays if it was up before.
BERNSTEIN_TEST_CLUSTER names another one, for runs side by side.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import json
import os
import subprocess
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo, StaticToken
from bernstein.kube.errors import ApiError, NotFound
from bernstein.kube.resource import CONFIG_MAPS, PODS, SELF_SUBJECT_REVIEWS, Object, Resource
from tests.cluster import Cluster, select
from tests.cluster.binaries.build import ensure_binaries
from tests.control_plane.objects import KINDS, OURS, job, valid
from tests.resources import NAMESPACES, RBAC, ROLE_BINDINGS, SERVICE_ACCOUNTS

CHART = Path(__file__).parents[2] / "charts" / "bernstein"
RELEASE_NAMESPACE = "bernstein-system"
REVIEWS = Resource(
    "authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", False
)


@dataclass(frozen=True)
class Tools:
    """kubectl and helm, as the administrator of one cluster."""

    folder: Path
    kubeconfig: Path

    def run(
        self, program: str, *arguments: str, stdin: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Whatever its exit code is."""
        return subprocess.run(
            [str(self.folder / program), *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            env={**os.environ, "KUBECONFIG": str(self.kubeconfig)},
        )

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        return self._must("kubectl", *arguments, stdin=stdin)

    @contextlib.contextmanager
    def with_kinds(self, folder: Path) -> Iterator[None]:
        """Others' CRDs, until nobody needs them any more."""
        self.kubectl("apply", "--server-side", "-f", str(folder))
        self.kubectl("wait", "--for=condition=Established", "--timeout=60s", "-f", str(folder))
        yield
        self.kubectl("delete", "-f", str(folder))

    def helm(self, *arguments: str) -> str:
        return self._must("helm", *arguments)

    def template(self, *arguments: str) -> str:
        """What Helm renders of the chart; with the same arguments it is asked once."""
        return _template(self, arguments)

    def _must(self, program: str, *arguments: str, stdin: str | None = None) -> str:
        done = self.run(program, *arguments, stdin=stdin)
        assert done.returncode == 0, f"{program} {' '.join(arguments)}:\n{done.stderr}"
        return done.stdout


@functools.cache
def _template(tools: Tools, arguments: tuple[str, ...]) -> str:
    return tools.helm("template", "bernstein", str(CHART), *arguments)


def own_name(purpose: str = "") -> str:
    """Of a cluster that this process alone tests on."""
    chosen = os.environ.get("BERNSTEIN_TEST_CLUSTER", "" if purpose else "control-plane")
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    return "-".join(filter(None, (purpose, chosen, worker)))


@pytest.fixture(scope="session")
def stays() -> bool:
    """Whether the cluster was up before the tests, and is so after them."""
    return bool(select("control-plane", own_name()).status().ready)


@pytest.fixture(scope="session")
def cluster(stays: bool) -> Iterator[Cluster]:
    cluster = select("control-plane", own_name())
    cluster.up()
    yield cluster
    if not stays:
        cluster.down()


@pytest.fixture(scope="session")
def tools(cluster: Cluster) -> Tools:
    return Tools(ensure_binaries().tools, cluster.kubeconfig)


@pytest.fixture(scope="session")
def chart(tools: Tools) -> None:
    """The chart is installed: CRDs, accounts, roles and admission policies are there.

    Its pods find no node; what they would do is done by tests with the accounts' tokens.
    """
    install_chart(tools)


def install_chart(tools: Tools, chart: Path = CHART) -> None:
    """Install it, and wait until all that it brings has its effect."""
    tools.helm(
        *("upgrade", "--install", "bernstein", str(chart)),
        *("--namespace", RELEASE_NAMESPACE, "--create-namespace"),
    )
    tools.kubectl(
        *("wait", "--for=condition=Established", "--timeout=60s", "crd"),
        *("projects.bernstein.dev", "plans.bernstein.dev"),
        *("tasks.bernstein.dev", "agentsessions.bernstein.dev", "approvals.bernstein.dev"),
    )
    await_kinds_as_owners(tools, f"system:serviceaccount:{RELEASE_NAMESPACE}:bernstein-operator")
    _await_policies(tools)


def await_kinds_as_owners(tools: Tools, operator: str, namespace: str = "default") -> None:
    """Admission looks up twice a minute which kinds there are, and refuses owners of others.
    `operator`: whose account may write in the namespace."""
    owners = [
        {
            "apiVersion": KINDS[kind].api_version,
            "kind": kind,
            "name": "one",
            "uid": str(uuid.uuid4()),
            "blockOwnerDeletion": True,
        }
        for kind in ("Plan", "Task", "AgentSession")
    ]
    owned = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "owned",
            "namespace": namespace,
            "labels": OURS,
            "ownerReferences": owners,
        },
    }
    administrator = ConnectionInfo.from_kubeconfig(str(tools.kubeconfig))
    place = f"{administrator.server}{CONFIG_MAPS.path(namespace)}?dryRun=All"
    deadline = time.monotonic() + 90
    # It is asked dozens of times, which a kubectl each would take seconds of processor time for.
    with httpx.Client(
        verify=administrator.ssl_context(), trust_env=False, headers={"Impersonate-User": operator}
    ) as client:
        while (tried := client.post(place, json=owned)).status_code != 201:
            assert "cannot find RESTMapping" in tried.text, tried.text
            assert time.monotonic() < deadline, tried.text
            time.sleep(0.2)


def _await_policies(tools: Tools) -> None:
    """Policies take effect some time after they are there: wait until each one denies."""
    labelled = job("default")
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": labelled["metadata"],
        "spec": labelled["spec"]["template"]["spec"],
    }
    owned = valid("Task", "default")
    owned["metadata"]["labels"] = OURS
    left_behind = valid("Plan", "default")
    left_behind["metadata"]["finalizers"] = ["orphan"]
    for policy, probe in (
        ("objects", labelled),
        ("pods", pod),
        ("sessions", valid("AgentSession", "default")),
        ("tasks", owned),
        ("orphans", left_behind),
    ):
        _await_denial(tools, policy, "create", "-f-", stdin=json.dumps(probe))
    bare = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "bare", "namespace": "default"},
    }
    operator = f"--as=system:serviceaccount:{RELEASE_NAMESPACE}:bernstein-operator"
    _await_denial(tools, "operator", "create", "-f-", operator, stdin=json.dumps(bare))
    tools.kubectl("apply", "-f-", stdin=json.dumps(valid("Task", "default", "probe")))
    change = json.dumps({"status": {"state": "Open"}})
    patch = ("patch", "task", "probe", "-n", "default", "--subresource=status", "--type=merge")
    _await_denial(tools, "status", *patch, f"--patch={change}")
    tools.kubectl("delete", "task", "probe", "-n", "default")


def _await_denial(tools: Tools, policy: str, *command: str, stdin: str | None = None) -> None:
    for _ in range(100):
        tried = tools.run("kubectl", *command, "--dry-run=server", stdin=stdin)
        if f"bernstein-{policy}" in tried.stderr:
            return
        time.sleep(0.05)
    pytest.fail(f"the policy {policy} does not deny: {tried.stderr}{tried.stdout}")


@pytest.fixture
async def admin(cluster: Cluster, chart: None) -> AsyncIterator[Client]:
    async with Client(ConnectionInfo.from_kubeconfig(str(cluster.kubeconfig))) as client:
        yield client


@pytest.fixture
async def user(admin: Client) -> str:
    """The administrator's name, as the API server knows it."""
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = await admin.create(SELF_SUBJECT_REVIEWS, review)
    return str(answer["status"]["userInfo"]["username"])


@pytest.fixture
async def namespace(admin: Client, stays: bool) -> AsyncIterator[str]:
    """A namespace of its own for every test, with its default service account.

    It goes with its cluster, where that goes: its own deletion takes more than most tests do.
    """
    name = f"test-{uuid.uuid4().hex[:12]}"
    await admin.create(NAMESPACES, {"metadata": {"name": name}})
    yield name
    if stays:
        await admin.delete(NAMESPACES, name, propagation="Background")
    else:
        # Who was cancelled while it connected has its socket closed a moment later, and the loop
        # ends with the test.
        await asyncio.sleep(0.05)


Account = Callable[[str, str], ConnectionInfo]


@pytest.fixture(scope="session")
def account(cluster: Cluster) -> Account:
    """(namespace, service account) -> connection with a fresh token of that account."""
    return account_of(cluster)


def account_of(cluster: Cluster) -> Account:
    """(namespace, service account) -> connection with a fresh token of that account."""
    administrator = ConnectionInfo.from_kubeconfig(str(cluster.kubeconfig))
    trusted = administrator.ssl_context()

    def connect(namespace: str, name: str) -> ConnectionInfo:
        # As `kubectl create token` asks for it, whose start takes far longer than the answer.
        place = f"{administrator.server}/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
        spec = {"expirationSeconds": 2 * 3600}
        with httpx.Client(verify=trusted, trust_env=False) as client:
            answer = client.post(place, json={**asked, "spec": spec})
        assert answer.status_code == 201, answer.text
        token = answer.json()["status"]["token"]
        return ConnectionInfo(
            administrator.server,
            namespace=namespace,
            ca_file=administrator.ca_file,
            token=StaticToken(token),
        )

    return connect


@pytest.fixture(scope="session")
def operator_connection(chart: None, account: Account) -> ConnectionInfo:
    """The operator's own account, with the rights that the chart gives it and no others."""
    return account(RELEASE_NAMESPACE, "bernstein-operator")


@pytest.fixture(scope="session")
def server_connection(chart: None, account: Account) -> ConnectionInfo:
    return account(RELEASE_NAMESPACE, "bernstein-server")


@pytest.fixture
async def operator(operator_connection: ConnectionInfo) -> AsyncIterator[Client]:
    async with Client(operator_connection) as client:
        yield client


@pytest.fixture
async def server(server_connection: ConnectionInfo) -> AsyncIterator[Client]:
    async with Client(server_connection) as client:
        yield client


Person = Callable[[str], Awaitable[Client]]


@pytest.fixture
async def person(admin: Client, account: Account, namespace: str) -> AsyncIterator[Person]:
    """Cluster role (view, edit, admin) -> Client of somebody with that role in the namespace."""
    async with contextlib.AsyncExitStack() as clients:

        async def with_role(role: str) -> Client:
            metadata = {"name": role, "namespace": namespace}
            await admin.create(SERVICE_ACCOUNTS, {"metadata": metadata})
            binding = {
                "metadata": metadata,
                "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
                "subjects": [{"kind": "ServiceAccount", **metadata}],
            }
            await admin.create(ROLE_BINDINGS, binding)
            client = await clients.enter_async_context(Client(account(namespace, role)))
            await eventually(lambda: _has_role(client, role, namespace))
            return client

        yield with_role


CHART_ADDS = {
    "view": ("list", "plans.bernstein.dev"),
    "edit": ("create", "plans.bernstein.dev"),
    "admin": ("create", "projects.bernstein.dev"),
}
"""Something that only the chart adds to each of the cluster's roles; the later ones have the
earlier ones' rights, too, once the control plane has handed them on."""


async def _has_role(client: Client, role: str, namespace: str) -> bool:
    roles = list(CHART_ADDS)
    needed = [CHART_ADDS[name] for name in roles[: roles.index(role) + 1]]
    return all([await may(client, verb, what, namespace) for verb, what in needed])


async def may(client: Client, verb: str, what: str, namespace: str = "default") -> bool:
    """`what` is `resource[.group][/subresource]`."""
    resource, _, subresource = what.partition("/")
    plural, _, group = resource.partition(".")
    attributes = {
        "verb": verb,
        "resource": plural,
        "group": group,
        "subresource": subresource,
        "namespace": namespace,
    }
    review = {"spec": {"resourceAttributes": attributes}}
    return bool((await client.create(REVIEWS, review))["status"]["allowed"])


async def eventually(attempt: Callable[[], Awaitable[object]], seconds: float = 60) -> None:
    """Until what `attempt` gives is true; an ApiError counts as not yet."""
    deadline = asyncio.get_running_loop().time() + seconds
    while True:
        try:
            if await attempt():
                return
            problem: object = "it stayed false"
        except ApiError as error:
            problem = error
        if asyncio.get_running_loop().time() > deadline:
            pytest.fail(f"not within {seconds} s: {problem}")
        await asyncio.sleep(0.05)


async def gone(client: Client, resource: Resource, namespace: str, name: str = "one") -> None:
    """Until there is no such object any more."""

    async def missing() -> bool:
        try:
            await client.get(resource, name, namespace)
        except NotFound:
            return True
        return False

    await eventually(missing)


async def first_pod(client: Client, namespace: str, owner: str) -> Object:
    """The pod that the Job controller made."""
    selector = f"batch.kubernetes.io/job-name={owner}"

    async def there() -> bool:
        return bool((await client.list(PODS, namespace, label_selector=selector)).items)

    await eventually(there)
    return (await client.list(PODS, namespace, label_selector=selector)).items[0]
