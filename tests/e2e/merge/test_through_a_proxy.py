"""git by a Project's proxy, in pods that reach nothing else."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Iterator

import pytest

from tests.demo.manifests import GitServer, as_list
from tests.e2e.conftest import MakeWorld, Object, does, writing
from tests.e2e.reach import probe, stranger
from tests.programs.pods import connect_proxy
from tests.stack import Stack

PORT = 8888
LISTENS = f"""
class Told(list):
    def append(self, head):
        print(repr(head), flush=True)
        super().append(head)

with socket.create_server(("", {PORT})) as listening:
    while True:
        connection, _ = listening.accept()
        threading.Thread(target=Proxy(told=Told()).serve, args=(connection,), daemon=True).start()
"""


@pytest.fixture
def proxy(stack: Stack, git: GitServer) -> Iterator[str]:
    """The address of a proxy in a pod, whose log is what it is told."""
    script = inspect.getsource(connect_proxy) + LISTENS
    labels = {"app": "proxy"}
    pod = stranger(git.namespace, shlex.join(["python3", "-c", script]), "proxy", labels)
    pod["spec"]["containers"][0]["readinessProbe"] = {"tcpSocket": {"port": PORT}}
    service: Object = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "proxy", "namespace": git.namespace},
        "spec": {"selector": labels, "ports": [{"port": PORT}]},
    }
    here = ("-n", git.namespace)
    stack.kubectl("apply", "-f", "-", stdin=as_list([pod, service]))
    stack.kubectl(*here, "wait", "--for=condition=Ready", "pod/proxy", "--timeout=120s")
    yield f"http://proxy.{git.namespace}.svc:{PORT}"
    stack.kubectl(*here, "delete", "pod/proxy", "service/proxy", "--wait=false")


def test_work_lands_through_the_proxy_of_its_project_which_sees_no_credential(
    stack: Stack, git: GitServer, world: MakeWorld, proxy: str
) -> None:
    def asks_it(spec: Object) -> None:
        spec["network"] = {"proxy": {"url": proxy}}

    here = world([does("new", writing("new.py", "X = 1\n"))], asks_it)
    sound = "--for=jsonpath={.status.conditions[?(@.type=='Ready')].reason}=Accepted"
    project = f"bproj/{here.project['metadata']['name']}"
    stack.kubectl("-n", here.namespace, "wait", sound, project, "--timeout=120s")
    server = git.url().split("/")[2]
    directly = f"{probe(server)} | grep '^not '"
    here.task("new", completionSignals=[{"type": "test_passes", "command": directly}])
    here.closed("new", 240)

    assert "new.py" in here.files()
    told = stack.kubectl("-n", git.namespace, "logs", "pod/proxy").splitlines()
    connects = [head for head in told if "CONNECT" in head]
    host = server if ":" in server else f"{server}:443"
    assert {head.split()[1] for head in connects} == {host}
    assert len(connects) >= 4, "checkout, push, check and landing"
    assert "authorization" not in "".join(told).lower()
