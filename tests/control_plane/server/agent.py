"""A session with its pod, whose recorder calls the server."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bernstein.api import pod
from bernstein.api.approvals.policy import PROTECTED_PATHS
from bernstein.api.pod import AUDIENCE
from bernstein.checks.changes import digest_of
from bernstein.kube.client import Client
from bernstein.kube.resource import PODS, Object, key_of, uid_of
from bernstein.pods.session import callback
from tests.control_plane.conftest import Tools, eventually
from tests.control_plane.objects import AGENT_SESSIONS
from tests.control_plane.server.process import Running

AS_A_KUBELET = ("--as=kubelet", "--as-group=system:masters", "--as-group=system:nodes")
"""Nobody else gets a token for the server: the group is what the policy `tokens` looks at."""
BASE, TIP, TREE = "a" * 40, "b" * 40, "c" * 40


@dataclass
class Agent:
    """A session with its pod, and the recorder in it."""

    tools: Tools
    running: Running
    operator: Client
    session: Object
    pod: Object
    folder: Path

    @property
    def namespace(self) -> str:
        return key_of(self.session).namespace

    def token(self, *, audience: str = AUDIENCE, pod: Object | None = None) -> str:
        """A fresh token bound to this pod, or to another."""
        bound = pod or self.pod
        return self.tools.kubectl(
            *("create", "token", "default", "-n", self.namespace, f"--audience={audience}"),
            *("--bound-object-kind=Pod", f"--bound-object-name={key_of(bound).name}"),
            f"--bound-object-uid={uid_of(bound)}",
            *AS_A_KUBELET,
        ).strip()

    def recorder(self, token: str | None = None) -> callback.CallbackClient:
        """The recorder's own client, with the token in a file as the kubelet has it."""
        file = self.folder / "token"
        file.write_text(token or self.token())
        settings = pod.Callback(self.running.url, str(file), str(self.running.ca_file))
        return callback.CallbackClient(settings, self.namespace, key_of(self.session).name)

    async def heartbeat(self, token: str | None = None, **body: Any) -> httpx.Response:
        """A heartbeat that somebody makes by hand."""
        async with self.running.http() as http:
            return await http.post(
                f"{self.path}/heartbeat",
                json={"lastActivity": 0, **body},
                headers={"Authorization": f"Bearer {token or self.token()}"},
            )

    @property
    def path(self) -> str:
        key = key_of(self.session)
        return f"/v1/sessions/{key.namespace}/{key.name}"

    async def live(self) -> Object:
        key = key_of(self.session)
        return await self.operator.get(AGENT_SESSIONS, key.name, key.namespace)

    async def status(self, **changes: Any) -> None:
        """A write of the operator."""
        key = key_of(self.session)
        await self.operator.patch(
            AGENT_SESSIONS, key.name, key.namespace, {"status": changes}, subresource="status"
        )


async def new_pod(admin: Client, namespace: str, name: str) -> Object:
    body = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "agent", "image": "agent:dev"}]},
    }
    made: list[Object] = []

    async def attempt() -> bool:
        # The namespace's default service account is made a moment after the namespace.
        made.append(await admin.create(PODS, body))
        return True

    await eventually(attempt)
    return made[0]


def beat(**changes: Any) -> callback.Beat:
    fields: dict[str, Any] = {
        "usage": pod.Usage(10, 5, 2, 1),
        "model": "sonnet-4",
        "progress": "reads the tests",
        "last_activity": 1_750_000_000.5,
        "checkpoint": TIP,
    }
    return callback.Beat(**{**fields, **changes})


def result(**changes: Any) -> pod.RecorderResult:
    fields: dict[str, Any] = {
        "base": BASE,
        "sha": TIP,
        "tree": TREE,
        "changed": pod.Changed(files=1, python=True, protected_by=digest_of(PROTECTED_PATHS)),
        "usage": pod.Usage(100, 50),
        "final": pod.FinalRecord("Succeeded", "Done."),
    }
    return pod.RecorderResult(**{**fields, **changes})
