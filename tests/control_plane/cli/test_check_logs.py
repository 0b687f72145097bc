"""`bernstein logs` on what failed checks printed: kept, or in the log of a pod that is left."""

from __future__ import annotations

import base64
import functools
import gzip
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bernstein.controllers.logs import checks as check_logs
from bernstein.core import labels
from bernstein.core.jobs import JobView
from bernstein.core.logs.packed import LOG_BYTES, PackedLog, pack
from bernstein.core.owners import owner_reference
from bernstein.kube.client import Client
from bernstein.kube.resource import CONFIG_MAPS, JOBS, Key, Object, uid_of
from tests.control_plane.cli.conftest import Bernstein
from tests.control_plane.cli.scenes import (
    PODS,
    SHA,
    condition,
    make_session,
    now,
    set_status,
)
from tests.control_plane.conftest import Tools, eventually
from tests.control_plane.node_logs import NodeLogs
from tests.control_plane.objects import OURS, PLANS, TASKS, job, valid
from tests.resources import BINDINGS, NODES

PYTEST = "\x1b[31mdef test_a():\x1b[0m\n    assert 1 == 2\nE   assert @me\n"
SHOWN = ["  def test_a():", "      assert 1 == 2", "  E   assert \uff20me"]


async def keep(
    operator: Client, owner: Object, name: str, check: str, report: PackedLog, **replaced: Any
) -> None:
    """As the operator keeps it; `replaced` are fields of the ConfigMap."""
    meta = owner["metadata"]
    view = JobView(name, "uid", datetime.now(UTC), labels={labels.CHECK: check})
    key = Key(meta["namespace"], meta["name"])
    whose = owner_reference(owner["kind"], meta["name"], meta["uid"])
    made = check_logs.config_map(view, report, key, whose)
    # The API server learns of new kinds some time after it serves them.
    await eventually(functools.partial(operator.create, CONFIG_MAPS, made | replaced), 60)


async def a_task(admin: Client, operator: Client, namespace: str) -> Object:
    """Its session's work was refused by the gate `tests`."""
    task = await admin.create(TASKS, valid("Task", namespace, "mine"))
    session = await make_session(operator, task, "mine-s1", None)
    await set_status(
        operator, session, state="Dead", outcome={"reason": "Succeeded", "message": ""}
    )
    verdict = {"name": "tests", "kind": "gate", "title": "tests", "verdict": "Failed"}
    judged = {"base": SHA, "sha": SHA, "tree": SHA, "ref": "refs/x", "passed": False}
    verification = judged | {"checks": [verdict | {"excerpt": "1 failed", "seconds": 3}]}
    return await set_status(operator, task, state="Open", attempt=1, verification=verification)


async def test_what_was_kept_is_shown_after_the_session_that_it_is_about(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    task = await a_task(admin, operator, namespace)
    again = await make_session(operator, task, "mine-s2", None, 2)
    await set_status(operator, again, state="Dead", outcome={"reason": "Succeeded"})
    await keep(operator, task, "mine-s2-tests-0", "tests", pack(b"second\n"))
    await keep(operator, task, "mine-s1-tests-0", "tests", pack(PYTEST.encode()))

    both, first = await bernstein("logs", "mine"), await bernstein("logs", "mine-s1")
    record = (await bernstein("logs", "mine", "--json")).json

    assert both.out.splitlines() == [
        "── mine-s1 · attempt 1 · demo, sonnet ──",
        "It had no pod.",
        "── mine-s1 ended: it reports success ──",
        "── mine-s1-tests-0 · check tests ──",
        *SHOWN,
        "── mine-s2 · attempt 1 · demo, sonnet ──",
        "It had no pod.",
        "── mine-s2 ended: it reports success ──",
        "── mine-s2-tests-0 · check tests ──",
        "  second",
        "",
        "mine  open",
        "  Write the limiter",
        "  ✗ gate tests: Failed",
        "      1 failed",
    ]
    assert first.out.splitlines() == both.out.splitlines()[:7]
    printed = {log["job"]: log for log in record["checks"]}
    assert set(printed) == {"mine-s1-tests-0", "mine-s2-tests-0"}
    assert printed["mine-s1-tests-0"] == {
        "check": "tests",
        "job": "mine-s1-tests-0",
        "log": "\n".join(row[2:] for row in SHOWN),
        "note": None,
        "repository": None,
    }
    assert record["checks_missing"] is None


async def test_a_report_that_is_cut_damaged_or_too_large_does_no_harm(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    task = await a_task(admin, operator, namespace)
    bomb = gzip.compress(b"\0" * (200 * LOG_BYTES))
    await keep(operator, task, "mine-s1-cut-0", "cut", PackedLog(pack(b"its end\n").packed, True))
    await keep(operator, task, "mine-s1-torn-0", "torn", PackedLog(b"no gzip", False))
    await keep(operator, task, "mine-s1-bomb-0", "bomb", PackedLog(bomb, False))
    await keep(operator, task, "mine-s1-void-0", "void", pack(b"x"), binaryData={"report.gz": ""})

    answer = await bernstein("logs", "mine-s1")
    found = {c["job"]: c for c in (await bernstein("logs", "mine-s1", "--json")).json["checks"]}

    assert answer.code == 0, answer.err
    rows = answer.out.splitlines()
    assert rows[rows.index("── mine-s1-cut-0 · check cut ──") + 1 :][:2] == [
        "Only the end of it was kept.",
        "  its end",
    ]
    torn = found["mine-s1-torn-0"]
    assert torn["log"] == ""
    assert torn["note"].startswith("What was kept of it cannot be read: the log is damaged: ")
    assert len(found["mine-s1-bomb-0"]["log"]) <= LOG_BYTES
    assert found["mine-s1-void-0"]["log"] == ""


async def test_what_does_not_belong_to_the_task_is_not_shown(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    """It is of another Task that had the name before, or of somebody who wrote it by hand."""
    task = await a_task(admin, operator, namespace)
    other = await admin.create(TASKS, valid("Task", namespace, "other"))
    whose = owner_reference("Task", "other", other["metadata"]["uid"])
    packed = base64.b64encode(pack(b"forged\n").packed).decode()
    for name, owners in (("theirs", [whose]), ("nobodys", [])):
        named = OURS | {labels.CHECK_LOG: f"mine-s1-{name}-0", labels.TASK: "mine"}
        metadata = {"name": name, "namespace": namespace, "labels": named}
        made = {"metadata": metadata | {"ownerReferences": owners}}
        await operator.create(CONFIG_MAPS, made | {"binaryData": {"report.gz": packed}})
    await keep(operator, task, "mine-s1-tests-0", "tests", pack(b"its own\n"))

    answer = await bernstein("logs", "mine")

    assert "  its own" in answer.out.splitlines()
    assert "forged" not in answer.out


@pytest.fixture
async def answering_node(
    admin: Client, namespace: str, tmp_path: Path
) -> AsyncIterator[tuple[str, NodeLogs]]:
    name, logs = f"answers-{namespace}", NodeLogs()
    await admin.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    async with logs.at(name, admin, tmp_path):
        yield name, logs
    await admin.delete(NODES, name)


async def check_pod(
    admin: Client, operator: Client, task: Object, name: str, node: str, **state: Any
) -> None:
    """A Job of a check, whose pod is on this node and in this state."""
    meta = task["metadata"]
    made = job(meta["namespace"], name)
    named = {
        labels.MANAGED_BY: labels.MANAGER,
        labels.OWNER_UID: meta["uid"],
        labels.JOB: "check",
        labels.CHECK: "tests",
        labels.TASK: meta["name"],
    }
    made["metadata"]["labels"] = named
    made["spec"]["template"]["metadata"] = {"labels": named}
    await operator.create(JOBS, made)
    selector = f"batch.kubernetes.io/job-name={name}"

    async def there() -> bool:
        found = await admin.list(PODS, meta["namespace"], label_selector=selector)
        return bool(found.items)

    await eventually(there)
    (pod,) = (await admin.list(PODS, meta["namespace"], label_selector=selector)).items
    target = {"apiVersion": "v1", "kind": "Node", "name": node}
    bound = {"metadata": {"name": pod["metadata"]["name"], "uid": uid_of(pod)}, "target": target}
    await admin.create(BINDINGS, bound, namespace=meta["namespace"])
    said = {"name": "check", "image": "i", "imageID": "", "ready": False, "restartCount": 0}
    phase = "Running" if "running" in state else "Failed"
    status = {"phase": phase, "containerStatuses": [said | {"state": state}]}
    patch = functools.partial(admin.patch, PODS, pod["metadata"]["name"], meta["namespace"])
    await patch({"status": status}, subresource="status")


async def test_where_nothing_was_kept_the_log_of_the_pod_that_is_left_is_shown(
    bernstein: Bernstein,
    admin: Client,
    operator: Client,
    namespace: str,
    answering_node: tuple[str, NodeLogs],
) -> None:
    node, logs = answering_node
    logs.printed = b"from the pod\n"
    task = await a_task(admin, operator, namespace)
    over = {"exitCode": 1, "reason": "Error", "startedAt": now(), "finishedAt": now()}
    await check_pod(admin, operator, task, "mine-s1-tests-0", node, terminated=over)
    await check_pod(admin, operator, task, "mine-s1-lint-0", node, terminated=over)
    await check_pod(admin, operator, task, "mine-s1-slow-0", node, running={"startedAt": now()})
    await keep(operator, task, "mine-s1-lint-0", "lint", pack(b"kept\n"))

    rows = (await bernstein("logs", "mine")).out.splitlines()

    def after(title: str, count: int) -> list[str]:
        return rows[rows.index(title) + 1 :][:count]

    assert after("── mine-s1-tests-0 · check tests ──", 1) == ["  from the pod"]
    assert after("── mine-s1-lint-0 · check lint ──", 1) == ["  kept"]
    running = after("── mine-s1-slow-0 · check tests ──", 2)
    assert running == ["It still runs.", "  from the pod"]


async def test_of_a_plan_the_checks_of_what_it_delivers_are_shown(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    plan = await admin.create(PLANS, valid("Plan", namespace, "web"))
    before = await bernstein("logs", "web")
    verdict = {"name": "tests", "kind": "gate", "title": "tests", "verdict": "Failed"}
    judged = {"base": SHA, "sha": SHA, "tree": SHA, "ref": "refs/x", "passed": False}
    plan = await set_status(
        operator,
        plan,
        phase="Stalled",
        verification=judged | {"checks": [verdict | {"excerpt": "1 failed", "seconds": 3}]},
        conditions=[condition("Stalled", "True", "GateFailed", "it does not pass")],
    )
    await keep(operator, plan, "web-tests-0", "tests", pack(PYTEST.encode()))

    answer, explicit = await bernstein("logs", "web"), await bernstein("logs", "plan/web")
    status = await bernstein("status", "web")
    record = (await bernstein("logs", "web", "--json")).json
    missing = await bernstein("logs", "plan/wb")

    assert "No check of what it delivers as a whole is recorded." in before.out
    assert answer.out.splitlines()[:5] == [
        "── web-tests-0 · check tests ──",
        *SHOWN,
        "web  Stalled",
    ]
    assert answer.out.splitlines()[-2:] == ["  ✗ gate tests: Failed", "      1 failed"]
    assert explicit.out == answer.out
    more = f"  All that its checks printed: bernstein logs web -n {namespace} "
    assert status.out.splitlines()[-1].startswith(more)
    assert (record["task"], record["plan"]["id"]) == (None, "web")
    assert record["plan"]["verification"]["checks"][0]["verdict"] == "failed"
    assert [c["job"] for c in record["checks"]] == ["web-tests-0"]
    assert missing.code == 1
    assert "there is no Plan 'wb'" in missing.err


@pytest.fixture
def reader(tools: Tools, stranger: str, namespace: str) -> str:
    """Kubeconfig of an account that may read Tasks and sessions, and nothing else."""
    tools.kubectl(
        *("create", "role", "reader", "-n", namespace, "--verb=get,list"),
        *("--resource=tasks.bernstein.dev", "--resource=agentsessions.bernstein.dev"),
    )
    account = f"--serviceaccount={namespace}:stranger"
    tools.kubectl("create", "rolebinding", "reader", "-n", namespace, "--role=reader", account)
    return stranger


async def test_who_may_not_read_them_is_told_so_and_gets_the_rest(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str, reader: str
) -> None:
    task = await a_task(admin, operator, namespace)
    await keep(operator, task, "mine-s1-tests-0", "tests", pack(b"kept\n"))

    async def answered() -> bool:
        return (await bernstein("logs", "mine", "--kubeconfig", reader)).code == 0

    await eventually(answered)
    answer = await bernstein("logs", "mine", "--kubeconfig", reader)

    told = f'you may not list configmaps in the namespace "{namespace}"'
    assert f"Not all that checks printed can be read: {told}" in answer.out.splitlines()
    assert "  ✗ gate tests: Failed" in answer.out
    assert "kept" not in answer.out
