"""`bernstein logs` against a real API server; no kubelet answers for its pods."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator

import pytest

from bernstein.api.session import AgentSession
from bernstein.cli.commands.logs import pod_log
from bernstein.controllers.logs.agents import config_map
from bernstein.core.logs.packed import PackedLog, pack
from bernstein.kube.client import Client
from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.control_plane.cli.conftest import Bernstein
from tests.control_plane.cli.scenes import (
    PODS,
    make_session,
    now,
    set_status,
)
from tests.control_plane.conftest import eventually
from tests.control_plane.objects import AGENT_SESSIONS, TASKS, valid
from tests.resources import NODES


async def test_logs_show_how_sessions_ended_and_what_refused_the_work(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "mine"))
    silent = await bernstein("logs", "mine")
    session = await make_session(operator, task, "mine-s1", "gone")
    outcome = {"reason": "AgentFailed", "message": "it gave up", "exitCode": 3, "started": True}
    await set_status(operator, session, state="Dead", outcome=outcome | {"text": "\x1b[2Jbye"})
    attempt = {"session": "mine-s1", "attempt": 1, "counted": True, "reason": "AgentFailed"}
    await set_status(operator, task, state="Open", attempt=1, attempts=[attempt])

    by_task, by_session = await bernstein("logs", "mine"), await bernstein("logs", "mine-s1")
    record = (await bernstein("logs", "mine", "--json")).json
    missing = await bernstein("logs", "mina")

    assert "It has had no session yet." in silent.out
    gone = "Its pod 'gone' is gone, and what it logged with it."
    assert by_task.out.splitlines() == [
        "── mine-s1 · attempt 1 · demo, sonnet ──",
        gone,
        "── mine-s1 ended: AgentFailed, exit code 3 ──",
        "  it gave up",
        "  bye",
        "",
        "mine  open",
        "  Write the limiter",
        "  attempt 1 (mine-s1)  AgentFailed",
    ]
    assert by_session.out.splitlines() == by_task.out.splitlines()[:5]
    assert record["sessions"][0]["outcome"]["exit_code"] == 3
    assert record["sessions"][0]["logs"] == {}
    assert record["sessions"][0]["logs_missing"] == gone
    assert missing.code == 1
    assert "did you mean mine or mine-s1?" in missing.err


async def test_what_was_kept_of_an_agents_log_is_shown_once_its_pod_is_gone(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "mine"))
    made = await make_session(operator, task, "mine-s1", "gone")
    session = AgentSession.model_validate(made)
    await set_status(
        operator, made, state="Dead", outcome={"reason": "AgentFailed", "started": True}
    )
    printed = b"2026-11-26T10:00:00Z I \x1b[2Jgive up\n"
    kept = config_map(session, PackedLog(pack(printed).packed, cut=True))
    await eventually(functools.partial(operator.create, CONFIG_MAPS, kept))

    answer = await bernstein("logs", "mine")
    (record,) = (await bernstein("logs", "mine", "--json")).json["sessions"]

    title, said, note, *_ = answer.out.splitlines()
    assert title.startswith("── mine-s1 ")
    assert said.endswith("  agent     I give up")
    assert note == "Only the end of it was kept."
    assert record["logs"] == {"agent": "I give up"}
    assert record["logs_missing"] == note


async def make_pod(admin: Client, namespace: str, name: str, node: str | None) -> None:
    spec: Object = {"containers": [{"name": c, "image": "i"} for c in pod_log.CONTAINERS]}
    if node is not None:
        spec["nodeName"] = node
    metadata = {"name": name, "namespace": namespace}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    # The namespace's service account may not be there yet.
    await eventually(functools.partial(admin.create, PODS, pod))


@pytest.fixture
async def silent_node(admin: Client, namespace: str) -> AsyncIterator[str]:
    """A node on which nobody answers."""
    name = f"silent-{namespace}"
    await admin.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 1}},
    }
    await admin.patch(NODES, name, None, {"status": status}, subresource="status")
    yield name
    await admin.delete(NODES, name)


async def test_logs_say_why_there_are_none(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str, silent_node: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "mine"))
    await make_pod(admin, namespace, "waiting", None)
    await make_pod(admin, namespace, "unreachable", silent_node)
    for number, pod in enumerate((None, "waiting", "lost", "unreachable"), start=1):
        await make_session(operator, task, f"mine-s{number}", pod, number)
    # The last: pods of nodes that do not exist are collected after a while.
    await make_pod(admin, namespace, "lost", "no-such-node")

    answer = await bernstein("logs", "mine")

    assert answer.code == 0, answer.err
    rows = answer.out.splitlines()
    assert rows[0:8:2] == [
        f"── mine-s{number} · attempt 1 · demo, sonnet ──" for number in range(1, 5)
    ]
    assert rows[1:6:2] == [
        "It has no pod yet.",
        "Its pod has logged nothing yet.",
        "The node of its pod 'lost' is gone, and what it logged with it.",
    ]
    assert rows[7].startswith("The log of its pod 'unreachable' cannot be read: ")
    assert "connection refused" in rows[7]


async def test_logs_say_what_a_running_agent_does(
    bernstein: Bernstein, admin: Client, operator: Client, server: Client, namespace: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "mine"))
    session = await make_session(operator, task, "mine-s1", "gone")
    report = {"heartbeatTime": now(), "progress": "edits the \x1b[2Jlimiter"}
    told = {key: session[key] for key in ("apiVersion", "kind")} | {
        "metadata": {"name": "mine-s1", "namespace": namespace},
        "status": {"report": report},
    }
    await server.apply(AGENT_SESSIONS, told, subresource="status", force=True)

    answer = await bernstein("logs", "mine-s1")
    (record,) = (await bernstein("logs", "mine-s1", "--json")).json["sessions"]

    assert answer.out.splitlines()[1].endswith("  agent     edits the limiter")
    assert (record["state"], record["progress"]) == ("working", "edits the limiter")
