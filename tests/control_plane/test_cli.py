"""The command line against a real API server; the test plays the operator."""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bernstein.cli import pod_log
from bernstein.kube.client import Client
from bernstein.kube.errors import NotFound
from bernstein.kube.resource import Object, Resource
from tests.cluster import Cluster
from tests.control_plane.conftest import Tools, eventually
from tests.control_plane.objects import AGENT_SESSIONS, PLANS, PROJECTS, TASKS, valid

PACKAGE = Path(__file__).parents[2] / "operator"
PLAN = """\
name: Small plan
budget: "$5"
stages:
  - name: build
    steps:
      - title: Write the limiter
        role: backend
      - title: Document it
        role: docs
"""
SHA = "a1b2c3d4" * 5
PODS = Resource("", "v1", "pods", "Pod")
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Start = Callable[..., Awaitable[asyncio.subprocess.Process]]
Bernstein = Callable[..., Awaitable[Answer]]


@pytest.fixture
def start(cluster: Cluster, namespace: str) -> Start:
    """Starts the command line in the test's namespace, with the administrator's kubeconfig."""

    async def started(*arguments: str, **environment: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-W", "error"),
            # An interrupt may fall into a handshake; its socket is closed with the process.
            *("-W", "ignore:unclosed:ResourceWarning", "-c"),
            "from bernstein.cli.main import main; main()",
            *("--kubeconfig", str(cluster.kubeconfig), "--namespace", namespace),
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(PACKAGE), "COLUMNS": "120"} | environment,
        )

    return started


@pytest.fixture
def bernstein(start: Start) -> Bernstein:
    async def run(*arguments: str, **environment: str) -> Answer:
        return await ended(await start(*arguments, **environment))

    return run


async def ended(process: asyncio.subprocess.Process) -> Answer:
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Answer(process.returncode, out.decode(), err.decode())


@pytest.fixture
def plan_file(tmp_path: Path) -> str:
    path = str(tmp_path / "plan.yaml")
    write(path, PLAN)
    return path


def write(path: str, text: str) -> None:
    Path(path).write_text(text)


@pytest.fixture
async def project(admin: Client, namespace: str) -> Object:
    return await admin.create(PROJECTS, valid("Project", namespace, "default"))


def condition(kind: str, status: str, reason: str, message: str = "") -> Object:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": now(),
    }


def now() -> str:
    return datetime.now(UTC).isoformat()


async def plan_exists(admin: Client, namespace: str, name: str = "small-plan") -> Object:
    async def found() -> bool:
        try:
            return bool(await admin.get(PLANS, name, namespace))
        except NotFound:
            return False

    await eventually(found)
    return await admin.get(PLANS, name, namespace)


async def set_status(operator: Client, obj: Object, **status: Any) -> Object:
    resource = {r.kind: r for r in (PLANS, TASKS, AGENT_SESSIONS)}[obj["kind"]]
    metadata = obj["metadata"]
    body = {"status": {"observedGeneration": metadata["generation"]} | status}
    return await operator.patch(
        resource, metadata["name"], metadata["namespace"], body, subresource="status"
    )


async def make_task(admin: Client, plan: Object, name: str, title: str, **spec: Any) -> Object:
    namespace = plan["metadata"]["namespace"]
    obj = valid("Task", namespace, name, title=title, stage="build", **spec)
    obj["metadata"] |= {
        "labels": {"bernstein.dev/plan": plan["metadata"]["name"]},
        "ownerReferences": [
            {
                "apiVersion": "bernstein.dev/v1alpha1",
                "kind": "Plan",
                "name": plan["metadata"]["name"],
                "uid": plan["metadata"]["uid"],
                "controller": True,
            }
        ],
    }
    return await admin.create(TASKS, obj)


def moves(*pairs: tuple[str, str]) -> list[Object]:
    return [
        {"toState": state, "reason": reason, "attempt": 1, "time": now()} for state, reason in pairs
    ]


async def close(operator: Client, task: Object) -> None:
    for state in ("Open", "Claimed", "InProgress", "Done", "Closed"):
        task = await set_status(
            operator,
            task,
            state=state,
            history=moves((state, "Test")),
            spendUsd="0.25",
            attempt=1,
            delivery={"state": "Merged", "sha": SHA, "onto": "refs/heads/main"},
        )


async def test_run_follows_a_plan_to_its_success_and_once_more_changes_nothing(
    start: Start,
    bernstein: Bernstein,
    admin: Client,
    operator: Client,
    namespace: str,
    project: Object,
    plan_file: str,
) -> None:
    running = await start("run", plan_file)
    plan = await plan_exists(admin, namespace)
    plan = await set_status(operator, plan, phase="Running", counts={"total": 2, "running": 1})
    for name, title in (
        ("small-plan-build-write-the-limiter", "Write the limiter"),
        ("small-plan-build-document-it", "Document it"),
    ):
        await close(operator, await make_task(admin, plan, name, title))
    await set_status(
        operator,
        plan,
        phase="Succeeded",
        spendUsd="0.5",
        counts={"total": 2, "closed": 2},
        conditions=[condition("Succeeded", "True", "Delivered", "verified and merged")],
        delivery={"state": "Merged", "sha": SHA, "onto": "refs/heads/main"},
    )
    answer = await ended(running)
    again = await bernstein("run", plan_file, "--json")

    assert answer.code == 0, answer.err
    assert answer.err == ""
    assert "1 stage, 2 steps, about 30 min, about $" in answer.out
    assert f"Plan 'small-plan' created in namespace '{namespace}'" in answer.out
    assert "small-plan-build-document-it  merged a1b2c3d4" in answer.out
    assert "✓ Succeeded: verified and merged\n  a1b2c3d4a1b2 on refs/heads/main" in answer.out
    assert plan["spec"]["budget"] == "5"
    assert again.code == 0, again.err
    assert "Plan 'small-plan' with this content exists and has ended: nothing changed" in again.err
    assert (again.json["status"], again.json["delivery"]["sha"]) == ("succeeded", SHA)
    assert [task["status"] for task in again.json["tasks"]] == ["closed", "closed"]


async def test_run_ends_with_1_when_the_plan_needs_a_person(
    start: Start,
    admin: Client,
    operator: Client,
    namespace: str,
    project: Object,
    plan_file: str,
) -> None:
    running = await start("run", plan_file, "--json", "--name", "other")
    plan = await plan_exists(admin, namespace, "other")
    task = await make_task(admin, plan, "other-build-x", "Write the limiter")
    await set_status(
        operator,
        plan,
        phase="Failed",
        conditions=[condition("Stalled", "True", "TaskFailed", "1 failed. Remedy: Look at it.")],
    )
    answer = await ended(running)

    assert answer.code == 1
    assert answer.json["status"] == "failed"
    assert answer.json["reason"] == "TaskFailed"
    assert [t["id"] for t in answer.json["tasks"]] == [task["metadata"]["name"]]
    assert "✗ Failed: TaskFailed: 1 failed.\n  Look at it." in answer.err


async def test_the_same_file_again_changes_nothing_and_other_content_is_refused(
    bernstein: Bernstein,
    admin: Client,
    namespace: str,
    project: Object,
    plan_file: str,
) -> None:
    first = await bernstein("run", plan_file, "--no-wait")
    before = await admin.get(PLANS, "small-plan", namespace)
    again = await bernstein("run", "--from-plan", plan_file, "--no-wait", "--json")
    write(plan_file, PLAN.replace("$5", "$6"))
    other = await bernstein("run", plan_file, "--no-wait")

    assert (first.code, again.code) == (0, 0)
    assert again.json["id"] == "small-plan"
    assert "nothing changed" in again.err
    assert await admin.get(PLANS, "small-plan", namespace) == before
    assert other.code == 1
    assert other.err == (
        "Error: there is a Plan 'small-plan' with other content (budget)\n"
        "  run this one under another name, such as: --name small-plan-2\n"
    )


async def test_a_plan_applied_with_kubectl_is_followed_when_it_says_the_same(
    bernstein: Bernstein, admin: Client, namespace: str, project: Object, plan_file: str
) -> None:
    steps = [
        {"title": "Write the limiter"},
        {"title": "Document it", "role": "docs", "priority": 2},
    ]
    await admin.create(
        PLANS,
        valid(
            "Plan",
            namespace,
            "small-plan",
            name="Small plan",
            budget="5",
            stages=[{"name": "build", "steps": steps}],
        ),
    )

    answer = await bernstein("run", plan_file, "--no-wait")

    assert answer.code == 0, answer.err
    assert "exists and is running: nothing changed" in answer.out


async def test_what_the_project_does_not_offer_is_refused_before_a_plan_is_made(
    bernstein: Bernstein, admin: Client, namespace: str, project: Object, plan_file: str
) -> None:
    write(plan_file, PLAN.replace("role: docs", "role: docs\n        cli: claude"))

    answer = await bernstein("run", plan_file, "--max-agents", "7")
    scripted = await bernstein("run", plan_file, "--max-agents", "7", "--json")

    assert (answer.code, scripted.code) == (2, 2)
    assert scripted.json["valid"] is False
    assert [e["path"] for e in scripted.json["errors"]] == [
        "max_agents",
        "stages[0].steps[1].cli",
    ]
    assert answer.err.splitlines() == [
        "✗ max_agents: must be <= 6, the limit of the Project, got 7",
        "✗ stages[0].steps[1].cli: invalid value 'claude', must be one of ['auto', 'demo']",
        f"{plan_file}: 2 problems",
    ]
    assert (await admin.list(PLANS, namespace)).items == []


async def test_without_a_project_nothing_is_made(
    bernstein: Bernstein, admin: Client, namespace: str, plan_file: str
) -> None:
    answer = await bernstein("run", plan_file)

    assert answer.code == 1
    assert f"Error: there is no Project in namespace '{namespace}'" in answer.err
    assert (await admin.list(PLANS, namespace)).items == []


async def test_ctrl_c_leaves_the_plan_running_and_says_so(
    start: Start, admin: Client, namespace: str, project: Object, plan_file: str
) -> None:
    running = await start("run", plan_file)
    await plan_exists(admin, namespace)
    assert running.stdout is not None
    seen = b""
    while b"Pending" not in seen:
        seen += await asyncio.wait_for(running.stdout.readline(), 30)
    running.send_signal(signal.SIGINT)
    answer = await ended(running)

    assert answer.code == 130
    assert answer.err.splitlines() == [
        "Interrupted: Plan 'small-plan' goes on in the cluster.",
        "  see it:     bernstein status small-plan",
        "  cancel it:  bernstein cancel small-plan",
    ]
    assert "cancel" not in (await admin.get(PLANS, "small-plan", namespace))["spec"]


async def test_a_timeout_ends_the_watching_only(
    bernstein: Bernstein, namespace: str, project: Object, plan_file: str
) -> None:
    answer = await bernstein("run", plan_file, "--timeout", "1s")

    assert answer.code == 1
    assert "Error: Plan 'small-plan' has not ended after 1s" in answer.err


async def test_status_shows_all_plans_or_one(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    empty = await bernstein("status")
    plan = await admin.create(PLANS, valid("Plan", namespace))
    await make_task(admin, plan, "one-build-write-the-limiter", "Write the limiter")
    await set_status(
        operator,
        plan,
        phase="Pending",
        conditions=[condition("Stalled", "True", "ProjectNotFound", "there is no Project")],
    )
    everything, one = await bernstein("status"), await bernstein("status", "one")
    record = (await bernstein("--json", "status", "one")).json
    missing = await bernstein("status", "onne")
    scripted = await bernstein("status", "onne", "--json")

    assert empty.out == f"No Plans in namespace '{namespace}'.\n"
    assert everything.out.splitlines()[-1].split()[:2] == ["one", "Pending"]
    assert "○ Write the limiter" in one.out
    assert "Create the Project in this namespace, or name it in projectRef." in one.out
    assert record["reason"] == "ProjectNotFound"
    assert [task["id"] for task in record["tasks"]] == ["one-build-write-the-limiter"]
    assert missing.code == 1
    assert missing.err == (
        f"Error: there is no Plan 'onne' in namespace '{namespace}'\n  did you mean one?\n"
    )
    assert (scripted.code, scripted.err) == (1, missing.err)
    assert scripted.json["error"]["reason"] == "NotFound"


async def test_list_tasks_filters_and_gives_scripts_the_documented_names(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(TASKS, valid("Task", namespace, "first", role="qa"))
    second = await admin.create(TASKS, valid("Task", namespace, "second"))
    await close(operator, second)

    async def ids(*arguments: str) -> list[str]:
        answer = await bernstein("--json", "list-tasks", *arguments)
        assert answer.code == 0, answer.err
        return [task["id"] for task in answer.json]

    table = await bernstein("list-tasks", COLUMNS="80")
    assert await ids() == ["first", "second"]
    assert await ids("--role", "qa") == ["first"]
    assert await ids("--status-filter", "closed") == ["second"]
    assert [row.split()[:3] for row in table.out.splitlines()[2:]] == [
        ["first", "open", "qa"],
        ["second", "closed", "backend"],
    ]


async def test_cancel_asks_once_and_then_tells_the_state(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "mine"))
    closed = await admin.create(TASKS, valid("Task", namespace, "closed"))
    await close(operator, closed)

    first = await bernstein("cancel", "mine", "-r", "Not needed")
    again = await bernstein("--json", "cancel", "mine", "-r", "Other reason")
    over = await bernstein("cancel", "closed")

    assert (first.code, again.code, over.code) == (0, 0, 0)
    assert first.out.startswith("Task 'mine' is being cancelled: ")
    assert again.json["id"] == "mine"
    assert over.out == "Task 'closed' has ended already (closed): nothing changed\n"
    live = await admin.get(TASKS, task["metadata"]["name"], namespace)
    assert live["spec"]["cancel"] == {"reason": "Not needed"}
    assert "cancel" not in (await admin.get(TASKS, "closed", namespace))["spec"]


async def test_cancel_takes_a_plan_too_and_asks_which_when_both_have_the_name(
    bernstein: Bernstein, admin: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace, "same"))
    await admin.create(TASKS, valid("Task", namespace, "same"))

    both = await bernstein("cancel", "same")
    plan = await bernstein("cancel", "plan/same")
    nothing = await bernstein("cancel", "sam")

    assert both.code == 2
    assert "write plan/same or task/same" in both.err
    assert plan.code == 0, plan.err
    live = await admin.get(PLANS, "same", namespace)
    assert live["spec"]["cancel"] == {"reason": "Cancelled by user"}
    assert "cancel" not in (await admin.get(TASKS, "same", namespace))["spec"]
    assert nothing.code == 1
    assert "there is no Task or Plan 'sam'" in nothing.err


async def make_session(
    operator: Client, task: Object, name: str, pod: str | None, number: int = 1
) -> Object:
    """A session of this Task, at work in this pod; without one it is about to start."""
    session = valid("AgentSession", task["metadata"]["namespace"], name, number=number)
    session["spec"]["taskRef"] = {key: task["metadata"][key] for key in ("name", "uid")}
    session["metadata"]["labels"] = {"bernstein.dev/task": task["metadata"]["name"]}
    session = await operator.create(AGENT_SESSIONS, session)
    session = await set_status(operator, session, state="Starting")
    if pod is None:
        return session
    return await set_status(operator, session, state="Working", pod={"name": pod, "uid": "u"})


async def test_logs_show_how_sessions_ended_and_what_refused_the_work(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "mine"))
    silent = await bernstein("logs", "mine")
    session = await make_session(operator, task, "mine-s1", "gone")
    outcome = {"reason": "AgentFailed", "message": "it gave up", "exitCode": 3}
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
    await make_pod(admin, namespace, "lost", "no-such-node")
    await make_pod(admin, namespace, "unreachable", silent_node)
    for number, pod in enumerate((None, "waiting", "lost", "unreachable"), start=1):
        await make_session(operator, task, f"mine-s{number}", pod, number)

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


@pytest.fixture
def stranger(cluster: Cluster, tools: Tools, namespace: str, tmp_path: Path) -> str:
    """Kubeconfig of an account without any rights."""
    tools.kubectl("create", "serviceaccount", "stranger", "-n", namespace)
    token = tools.kubectl("create", "token", "stranger", "-n", namespace).strip()
    config = json.loads(tools.kubectl("config", "view", "--raw", "--flatten", "-o", "json"))
    config["users"] = [{"name": user["name"], "user": {"token": token}} for user in config["users"]]
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))
    return str(path)


async def test_who_may_not_is_told_the_verb_and_the_resource(
    bernstein: Bernstein, stranger: str, namespace: str
) -> None:
    answer = await bernstein("status", "--kubeconfig", stranger)

    assert answer.code == 1
    assert answer.err == (
        f'Error: you may not list plans in the namespace "{namespace}"\n'
        "  ask for a Role that allows 'list' on 'plans'\n"
    )


async def test_a_namespace_that_is_not_there_is_named(
    bernstein: Bernstein, plan_file: str, project: Object
) -> None:
    answer = await bernstein("run", plan_file, "--namespace", "nowhere-at-all")

    assert answer.code == 1
    assert "there is no Project in namespace 'nowhere-at-all'" in answer.err
