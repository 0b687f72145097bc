"""The server's own process, over TLS, with real tokens of real pods and the rights of the chart."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from bernstein.api import pod
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo, StaticToken
from bernstein.kube.resource import PODS, TOKEN_REVIEWS, Object, key_of, uid_of
from bernstein.pods import callback
from bernstein.server.identity import AUDIENCE
from bernstein.server.readiness import Readiness
from tests.cluster.network import free_ports
from tests.control_plane.conftest import Account, Tools, eventually
from tests.control_plane.objects import AGENT_SESSIONS, valid

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(pod.__file__).parents[2])}
BASE, TIP, TREE = "a" * 40, "b" * 40, "c" * 40


@dataclass(frozen=True)
class Running:
    """The server process and how to reach it."""

    process: subprocess.Popen[bytes]
    url: str
    ca_file: Path
    log: Path

    def http(self) -> httpx.AsyncClient:
        context = ssl.create_default_context(cafile=str(self.ca_file))
        return httpx.AsyncClient(base_url=self.url, verify=context, trust_env=False)


@pytest.fixture(scope="module")
def running(
    server_connection: ConnectionInfo, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("server")
    certificate, key = certificate_for_localhost(folder)
    port = free_ports(["server"], set())["server"]
    arguments = (
        *("--host=127.0.0.1", f"--port={port}", "--log-level=debug"),
        *(f"--tls-cert={certificate}", f"--tls-key={key}"),
        f"--kubeconfig={kubeconfig(folder, server_connection)}",
    )
    log = folder / "log"
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "bernstein.server", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
            cwd=folder,
            env=ENVIRONMENT,
        )
    try:
        yield Running(process, f"https://localhost:{port}", certificate, log)
    finally:
        process.terminate()
        process.wait(30)


def certificate_for_localhost(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "tls.crt", folder / "tls.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


def kubeconfig(folder: Path, connection: ConnectionInfo) -> Path:
    token = connection.token
    assert isinstance(token, StaticToken)
    file = folder / "kubeconfig"
    cluster = {"server": connection.server, "certificate-authority": connection.ca_file}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "server", "user": {"token": asyncio.run(token.token())}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "server"}}],
        "current-context": "test",
    }
    file.write_text(json.dumps(content))
    return file


@pytest.fixture
async def http(running: Running) -> AsyncIterator[httpx.AsyncClient]:
    async with running.http() as client:

        async def ready() -> bool:
            try:
                return (await client.get("/readyz")).status_code == 200
            except httpx.TransportError:
                return False

        await eventually(ready)
        yield client


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
        ).strip()

    def recorder(self, token: str | None = None) -> callback.Client:
        """The recorder's own client, with the token in a file as the kubelet has it."""
        file = self.folder / "token"
        file.write_text(token or self.token())
        settings = pod.Callback(self.running.url, str(file), str(self.running.ca_file))
        return callback.Client(settings, self.namespace, key_of(self.session).name)

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


@pytest.fixture
async def agent(
    admin: Client,
    operator: Client,
    tools: Tools,
    namespace: str,
    running: Running,
    http: httpx.AsyncClient,
    tmp_path: Path,
) -> Agent:
    session = await operator.create(AGENT_SESSIONS, valid("AgentSession", namespace, "task-s1"))
    made = await new_pod(admin, namespace, "task-s1-abcde")
    agent = Agent(tools, running, operator, session, made, tmp_path)
    await agent.status(state="Starting", job="task-s1")
    reference = {"name": key_of(made).name, "uid": uid_of(made)}
    await agent.status(state="Working", pod=reference)
    return agent


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
        "changed": pod.Changed(files=1, python=True),
        "usage": pod.Usage(100, 50),
        "final": pod.FinalRecord("Succeeded", "Done."),
    }
    return pod.RecorderResult(**{**fields, **changes})


async def test_the_recorder_reports_and_the_operator_sees_it(agent: Agent) -> None:
    before = (await agent.live())["status"]
    recorder = agent.recorder()
    assert await asyncio.to_thread(recorder.heartbeat, beat()) is None

    after = (await agent.live())["status"]
    report = after.pop("report")
    assert after == before
    assert report.pop("heartbeatTime").endswith("Z")
    assert report.pop("seq") > 1_750_000_000
    assert report == {
        "lastActivityTime": "2025-06-15T15:06:40Z",
        "usage": {"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 1},
        "model": "sonnet-4",
        "progress": "reads the tests",
        "checkpoint": TIP,
    }


async def test_the_server_owns_the_report_and_nothing_else(agent: Agent) -> None:
    await asyncio.to_thread(agent.recorder().heartbeat, beat())
    await asyncio.to_thread(agent.recorder().heartbeat, beat(progress="writes"))
    entries = (await agent.live())["metadata"]["managedFields"]
    (owned,) = (entry for entry in entries if entry["manager"] == "bernstein-server")
    assert (owned["operation"], owned["subresource"]) == ("Apply", "status")
    assert set(owned["fieldsV1"]) == {"f:status"}
    assert set(owned["fieldsV1"]["f:status"]) == {"f:report"}


async def test_what_the_operator_writes_in_between_stays(agent: Agent) -> None:
    recorder = agent.recorder()
    await asyncio.to_thread(recorder.heartbeat, beat())
    await agent.status(state="Idle")
    await asyncio.to_thread(recorder.heartbeat, beat(progress="writes"))
    status = (await agent.live())["status"]
    assert (status["state"], status["report"]["progress"]) == ("Idle", "writes")


async def test_a_repeated_heartbeat_does_not_touch_the_object(agent: Agent) -> None:
    assert (await agent.heartbeat(seq=5)).status_code == 200
    before = await agent.live()
    for seq in (5, 4, 6):  # the last one brings nothing but a sign of life
        assert (await agent.heartbeat(seq=seq)).status_code == 200
    assert await agent.live() == before


async def test_heartbeats_at_once_leave_the_newest_and_the_largest(agent: Agent) -> None:
    beats = [agent.heartbeat(seq=seq, usage={"input": seq}) for seq in (3, 1, 5, 2, 4)]
    assert {answer.status_code for answer in await asyncio.gather(*beats)} == {200}
    report = (await agent.live())["status"]["report"]
    assert (report["seq"], report["usage"]["input"]) == (5, 5)


async def test_a_soft_stop_reaches_the_recorder(agent: Agent) -> None:
    stop = {"spec": {"stop": {"reason": "BudgetExceeded"}}}
    key = key_of(agent.session)
    await agent.operator.patch(AGENT_SESSIONS, key.name, key.namespace, stop)
    reason = await asyncio.to_thread(agent.recorder().heartbeat, beat())
    assert reason == "BudgetExceeded"


async def test_a_result_may_be_repeated_and_ends_the_report(agent: Agent) -> None:
    recorder = agent.recorder()
    await asyncio.to_thread(recorder.heartbeat, beat(checkpoint=None))
    await asyncio.to_thread(recorder.result, result())
    finished = await agent.live()
    assert finished["status"]["report"]["finished"] is True
    assert finished["status"]["report"]["checkpoint"] == TIP
    assert finished["status"]["report"]["usage"]["input"] == 100
    await asyncio.to_thread(recorder.result, result(usage=pod.Usage(input=10**6)))
    await asyncio.to_thread(recorder.heartbeat, beat(progress="still here"))
    assert await agent.live() == finished


async def test_a_session_that_is_over_tells_its_recorder(agent: Agent) -> None:
    await agent.status(state="Dead")
    reason = await asyncio.to_thread(agent.recorder().heartbeat, beat())
    assert reason == callback.SESSION_OVER
    assert "report" not in (await agent.live())["status"]


async def refusal(agent: Agent, token: str) -> tuple[int, str]:
    """Status and reason that a heartbeat with this token gets; nothing must be written."""
    before = await agent.live()
    response = await agent.heartbeat(token, seq=1)
    assert await agent.live() == before
    return response.status_code, response.json()["reason"]


async def test_another_pod_may_not_report(agent: Agent, admin: Client) -> None:
    other = await new_pod(admin, agent.namespace, "task-s2-abcde")
    assert await refusal(agent, agent.token(pod=other)) == (403, "WrongPod")


async def test_a_token_for_the_api_server_is_none_for_us(agent: Agent) -> None:
    token = agent.token(audience="https://kubernetes.default.svc")
    assert await refusal(agent, token) == (401, "Unauthenticated")


async def test_a_token_that_is_bound_to_no_pod_is_refused(agent: Agent) -> None:
    loose = agent.tools.kubectl(
        *("create", "token", "default", "-n", agent.namespace, f"--audience={AUDIENCE}")
    ).strip()
    assert await refusal(agent, loose) == (401, "Unauthenticated")


async def test_a_forged_token_is_refused(agent: Agent) -> None:
    head, payload, _ = agent.token().split(".")
    assert await refusal(agent, f"{head}.{payload}.Zm9yZ2Vk") == (401, "Unauthenticated")


async def test_the_token_of_a_pod_that_is_gone_is_refused(agent: Agent, admin: Client) -> None:
    token = agent.token()
    name = key_of(agent.pod).name
    await admin.delete(PODS, name, agent.namespace, grace_seconds=0)
    review = {"spec": {"token": token, "audiences": [AUDIENCE]}}

    async def judged_gone() -> bool:
        return not (await admin.create(TOKEN_REVIEWS, review))["status"].get("authenticated")

    # The API server judges tokens by what it has seen of pods so far; ours remembers its word.
    await eventually(judged_gone)
    assert await refusal(agent, token) == (401, "Unauthenticated")


async def test_a_pod_of_the_same_name_is_another_pod(agent: Agent, admin: Client) -> None:
    name = key_of(agent.pod).name
    await admin.delete(PODS, name, agent.namespace, grace_seconds=0)
    again = await new_pod(admin, agent.namespace, name)
    assert await refusal(agent, agent.token(pod=again)) == (403, "WrongPod")


async def test_the_answers_name_no_software_and_carry_the_headers(http: httpx.AsyncClient) -> None:
    response = await http.get("/healthz")
    assert response.json() == {"status": "ok"}
    assert "server" not in response.headers
    assert response.headers["strict-transport-security"]
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_metrics_are_served(agent: Agent, http: httpx.AsyncClient) -> None:
    await asyncio.to_thread(agent.recorder().heartbeat, beat())
    text = (await http.get("/metrics")).text
    assert 'bernstein_callbacks_total{kind="heartbeat",result="written"}' in text
    assert 'rest_client_requests_total{code="200",method="PATCH",resource="agentsessions"}' in text
    assert "process_resident_memory_bytes" in text
    assert agent.namespace not in text


async def test_the_log_names_the_session_and_holds_no_token(agent: Agent) -> None:
    token = agent.token()
    await asyncio.to_thread(agent.recorder(token).heartbeat, beat())

    async def logged() -> bool:  # the line is written when the answer has gone out
        return agent.namespace in agent.running.log.read_text()

    await eventually(logged)
    lines = agent.running.log.read_text().splitlines()
    (line,) = (entry for entry in map(json.loads, lines) if agent.namespace in entry.values())
    assert line["route"] == "/v1/sessions/{namespace}/{name}/heartbeat"
    assert (line["name"], line["status"]) == ("task-s1", 200)
    assert token.rpartition(".")[2] not in "\n".join(lines)


async def test_an_account_without_the_chart_s_rights_is_not_ready(
    namespace: str, account: Account, agent: Agent
) -> None:
    async with Client(account(namespace, "default")) as client:
        problem = await Readiness(client).problem()
    assert problem == "The server's account may not create tokenreviews."


async def test_on_sigterm_it_answers_what_it_has_begun_and_ends(
    agent: Agent, running: Running, tmp_path: Path
) -> None:
    port = free_ports(["server"], set())["server"]
    log = tmp_path / "log"
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bernstein.server", "--host=127.0.0.1", f"--port={port}"),
            f"--kubeconfig={running.log.with_name('kubeconfig')}",
            stderr=stderr,
            env=ENVIRONMENT,
        )
    rest = asyncio.Event()

    async def slow_body() -> AsyncIterator[bytes]:
        yield b'{"seq": 1, '
        await rest.wait()
        yield b'"lastActivity": 0}'

    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as http:

        async def token_was_accepted() -> bool:
            try:
                return 'token_reviews_total{result="accepted"}' in (await http.get("/metrics")).text
            except httpx.TransportError:
                return False

        await eventually(lambda: is_up(http))
        request = http.post(
            f"{agent.path}/heartbeat",
            content=slow_body(),
            headers={"Authorization": f"Bearer {agent.token()}"},
        )
        under_way = asyncio.create_task(request)
        await eventually(token_was_accepted)
        process.send_signal(signal.SIGTERM)
        await eventually(lambda: is_closed(port))
        rest.set()
        assert (await under_way).status_code == 200
    assert await asyncio.wait_for(process.wait(), 30) == 0
    assert '"message": "stopped"' in log.read_text()


async def is_up(http: httpx.AsyncClient) -> bool:
    try:
        return (await http.get("/healthz")).status_code == 200
    except httpx.TransportError:
        return False


async def is_closed(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return True
    writer.close()
    return False
