"""`bernstein approve`, `reject` and `pending` before they ask a cluster, and what is pending."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from bernstein.api.approvals.approval import Approval
from bernstein.api.states import TaskState
from bernstein.cli.commands.pending import is_rejected, touches_none
from bernstein.cli.main import app
from bernstein.resources import APPROVALS, PROJECTS, TASKS
from tests.unit.cli import calls
from tests.unit.cli.conftest import Bernstein
from tests.unit.core import objects
from tests.unit.core.approvals.asked import DIGEST
from tests.unit.core.objects import NOW, at
from tests.unit.kube.apiserver import ApiServer

BOTH = pytest.mark.parametrize("command", ["approve", "reject"])


@BOTH
@pytest.mark.parametrize("reason", ["x" * 1025, "one\ntwo", "a\x1b[2Jb", "a\u202eb"])
def test_a_reason_that_is_no_line_or_too_long_ends_with_2(
    runner: CliRunner, command: str, reason: str
) -> None:
    calls.ends_with_2(runner, command, "x", "--reason", reason)


@pytest.mark.parametrize("reason", [(), ("--reason", " ")], ids=["without", "empty"])
def test_who_sends_work_back_says_why(
    runner: CliRunner, reason: tuple[str, ...], tmp_path: Path
) -> None:
    given = ["--kubeconfig", calls.unreachable(tmp_path), "--json"]

    found = runner.invoke(app, ["reject", "x", "--retry", *reason, *given])

    assert found.exit_code == 2
    error = json.loads(found.stdout)["error"]
    assert error["reason"] == "ReasonMissing"
    assert "--reason" in error["remedy"]


@BOTH
@pytest.mark.parametrize("name", ["", "task/", "plan/", "task/..", "task/mine/status"])
def test_what_can_be_no_name_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, command: str, name: str, tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, command, name)


@pytest.mark.parametrize("timeout", ["soon", "-1", "5d", "1.5"])
def test_a_timeout_that_is_none_ends_with_2(runner: CliRunner, timeout: str) -> None:
    calls.ends_with_2(runner, "pending", f"--timeout={timeout}")


@pytest.mark.parametrize("call", [("approve", "x"), ("reject", "x"), ("pending",)])
def test_without_a_kubeconfig_it_says_so(
    runner: CliRunner, tmp_path: Path, call: tuple[str, ...]
) -> None:
    calls.needs_a_kubeconfig(runner, tmp_path, *call)


def no_of_a_person(ago: float | None = 5, decision: str = "Reject") -> Approval:
    """About the first attempt of the Task `work`; `ago`: seconds since it was acted upon."""
    ended = {} if ago is None else {"state": "Rejected", "endedAt": at(-ago)}
    return Approval.model_validate(
        {
            "metadata": objects.metadata("work-approval-1", "uid-approval"),
            "spec": {
                "subject": {"kind": "Task", "name": "work", "uid": "uid-work"},
                "asks": {"attempt": 1, "digest": DIGEST},
                "decision": decision,
                "decidedBy": "ben",
            },
            "status": {"state": "Pending"} | ended,
        }
    )


NEW: dict[str, set[str]] = {"uid-work": set()}
OVER = {"uid-work": {"work-approval-1"}}
"""It was over when the wait for the Task began."""


@pytest.mark.parametrize(
    ("ago", "awaited", "told"),
    [
        (5, {}, True),
        (120, {}, False),
        (120, NEW, True),
        (None, {}, True),
        (120, OVER, False),
        (5, OVER, False),
    ],
    ids=[
        *("a moment ago", "long ago", "while it was waited for", "not acted upon yet"),
        *("long before the wait", "a moment before the wait"),
    ],
)
def test_what_was_rejected_is_told_to_who_may_not_know(
    ago: float | None, awaited: dict[str, set[str]], told: bool
) -> None:
    assert is_rejected(no_of_a_person(ago), awaited, {"uid-work": 1}, NOW) is told


@pytest.mark.parametrize("awaited", [{}, NEW], ids=["not waited for", "waited for"])
def test_what_was_sent_back_is_told_no_more_of_the_attempt_that_followed(
    awaited: dict[str, set[str]],
) -> None:
    sent_back = no_of_a_person(5, "Retry")

    assert is_rejected(sent_back, awaited, {"uid-work": 1}, NOW)
    assert not is_rejected(sent_back, awaited, {"uid-work": 2}, NOW)


async def test_what_was_sent_back_before_its_work_came_to_be_waited_for_is_not_told(
    api: ApiServer, bernstein: Bernstein
) -> None:
    """Such as work that somebody had verified once more: it is the same attempt's."""
    project = objects.project(approval={"result": "Always"}).dump()
    api.put(PROJECTS, "default", "team", spec=project["spec"])
    asked_about(api, "team", "one")
    spec = api.get(APPROVALS, "one-approval-1", "team")["spec"]
    decided = spec | {"decision": "Retry", "decidedBy": "ben"}
    ended = {"state": "Rejected", "endedAt": datetime.now(UTC).isoformat()}
    api.put(APPROVALS, "one-approval-1", "team", spec=decided, status=ended)
    judged = objects.task(status=objects.status(TaskState.DONE, attempt=1)).dump()
    meta = {"uid": "uid-one"}
    api.put(TASKS, "one", "team", metadata=meta, spec=judged["spec"], status=judged["status"])

    found = await bernstein("pending", "--timeout", "1s")

    assert found.out == "Nothing waits for a decision in namespace 'team'.\n"


def asked_about(api: ApiServer, namespace: str, name: str, kind: str = "Task") -> None:
    about = {"kind": kind, "name": name, "uid": f"uid-{name}"}
    asks = {"attempt": 1, "sha": "a" * 40, "digest": DIGEST} if kind == "Task" else {}
    spec = {"subject": about, "asks": {"digest": DIGEST} | asks}
    api.put(APPROVALS, f"{name}-approval-1", namespace, spec=spec, status={"state": "Pending"})


async def test_what_waits_in_all_namespaces_is_listed_with_theirs(
    api: ApiServer, bernstein: Bernstein
) -> None:
    asked_about(api, "shop", "one")
    asked_about(api, "web", "two")

    here = await bernstein("pending", "--no-wait")
    shown = await bernstein("pending", "-A")
    records = (await bernstein("pending", "--all-namespaces", "--json")).json

    assert "Nothing waits for a decision in namespace 'team'." in here.out
    rows = [row.split() for row in shown.out.splitlines()]
    assert rows[0][:3] == ["NAMESPACE", "KIND", "NAME"]
    assert [row[:3] for row in rows[2:4]] == [["shop", "task", "one"], ["web", "task", "two"]]
    assert "`bernstein approve NAME --namespace NAMESPACE --kubeconfig " in shown.out
    only = "add --sha COMMIT or --approval: one-approval-1, two-approval-1\n"
    assert shown.out.endswith(only)
    assert [(each["namespace"], each["task_id"]) for each in records] == [
        ("shop", "one"),
        ("web", "two"),
    ]


async def test_below_what_waits_stands_what_the_verdicts_say_of_it(
    api: ApiServer, bernstein: Bernstein
) -> None:
    for name in ("one", "two"):
        asked_about(api, "team", name)
    shown: objects.Object = {
        "title": "x",
        "excerpt": "signal llm_judge: Skipped (Unsure):\nis it \x1b[2Jcalled?",
    }
    shown["checks"] = [{"name": "lint", "verdict": "Failed", "reason": "X", "required": False}]
    api.put(APPROVALS, "one-approval-1", "team", status={"state": "Pending", "shown": shown})

    told = (await bernstein("pending", "--no-wait")).out.splitlines()
    (record, _) = (await bernstein("pending", "--no-wait", "--json")).json

    at_ = told.index("  of task one:")
    assert told[at_ + 1 : at_ + 3] == [
        "      signal llm_judge: Skipped (Unsure):",
        "      is it called?",
    ]
    assert "  of task two:" not in told
    assert record["excerpt"] == "signal llm_judge: Skipped (Unsure):\nis it called?"
    (check,) = record["checks"]
    assert (check["required"], check["reason"]) == (False, "X")


@pytest.mark.parametrize(
    ("kinds", "looks", "sha"),
    [
        (("Task",), ["diff "], True),
        (("Plan",), ["plan show plan/"], False),
        (("Plan", "Task"), ["diff ", "plan show plan/"], True),
    ],
)
async def test_only_what_works_for_what_waits_is_suggested(
    api: ApiServer, bernstein: Bernstein, kinds: tuple[str, ...], looks: list[str], sha: bool
) -> None:
    for kind in kinds:
        asked_about(api, "team", kind.lower(), kind)

    shown = (await bernstein("pending", "--no-wait")).out

    suggested = [word for word in ("diff ", "plan show plan/") if f"`bernstein {word}NAME" in shown]
    assert suggested == looks
    assert ("--sha COMMIT" in shown) is sha
    assert "`bernstein approve NAME" in shown


@pytest.mark.parametrize(("decision", "what"), [("Reject", "rejected"), ("Retry", "sent back")])
async def test_what_was_sent_back_a_moment_ago_is_told_as_such(
    api: ApiServer, bernstein: Bernstein, decision: str, what: str
) -> None:
    asked_about(api, "team", "one")
    spec = api.get(APPROVALS, "one-approval-1", "team")["spec"]
    decided = spec | {"decision": decision, "decidedBy": "ben"}
    api.put(APPROVALS, "one-approval-1", "team", spec=decided, status={"state": "Rejected"})

    found = await bernstein("pending", "--no-wait")

    assert f"Task 'one' was {what} just now\n" in found.out


@pytest.mark.parametrize(
    ("work", "waited_for"),
    [({}, False), ({"protected": "AGENTS.md"}, True), ({"protected_by": None}, True)],
    ids=["harmless", "protected path", "not known"],
)
def test_without_a_policy_verdicts_on_what_may_change_a_protected_path_are_waited_for(
    work: dict[str, object], waited_for: bool
) -> None:
    status = objects.done(verification=objects.verification(**work))

    assert touches_none(objects.task(status=status), {objects.COMPARED}) is not waited_for


async def test_nobody_waits_for_the_verdicts_of_all_namespaces(
    api: ApiServer, bernstein: Bernstein
) -> None:
    project = objects.project(approval={"result": "Always"}).dump()
    api.put(PROJECTS, "default", "team", spec=project["spec"])
    api.put(TASKS, "work", "team", **objects.task(status=objects.done()).dump())

    found = await bernstein("pending", "-A", "--timeout", "1h")

    assert (found.code, found.out) == (0, "Nothing waits for a decision in any namespace.\n")


@BOTH
@pytest.mark.parametrize("sha", ["", "abcdef", "g" * 12, "a" * 65, "HEAD"])
def test_what_can_be_no_commit_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, command: str, sha: str, tmp_path: Path
) -> None:
    given = [command, "x", f"--sha={sha}", "--kubeconfig", calls.unreachable(tmp_path)]

    found = runner.invoke(app, ["--json", *given])

    assert found.exit_code == 2
    assert json.loads(found.stdout)["error"]["reason"] == "InvalidSha"


@BOTH
@pytest.mark.parametrize("name", ["", "..", "a/b"])
def test_what_can_be_no_approval_is_refused_and_no_cluster_is_asked(
    runner: CliRunner, command: str, name: str, tmp_path: Path
) -> None:
    calls.is_no_name(runner, tmp_path, command, "x", "--approval", name)


async def test_how_to_let_work_go_on_without_a_gate_is_suggested_where_that_is_asked(
    api: ApiServer, bernstein: Bernstein
) -> None:
    asked_about(api, "team", "one")
    without = (await bernstein("pending", "--no-wait")).out
    spec = api.get(APPROVALS, "one-approval-1", "team")["spec"]
    spec |= {"asks": spec["asks"] | {"gate": "no_foo"}}
    api.put(APPROVALS, "one-approval-1", "team", spec=spec, status={"state": "Pending"})

    shown = (await bernstein("pending", "--no-wait")).out

    assert "--reason" not in without
    assert 'without a gate, say why: `bernstein approve NAME --reason "…"' in shown


async def test_what_is_asked_after_a_decision_is_said_to_need_its_name(
    api: ApiServer, bernstein: Bernstein
) -> None:
    asked_about(api, "team", "one")
    asked_about(api, "team", "two")
    spec = api.get(APPROVALS, "one-approval-1", "team")["spec"]
    over = spec | {"decision": "Approve", "decidedBy": "ben"}
    api.put(APPROVALS, "one-approval-0", "team", spec=over, status={"state": "Void"})

    shown = (await bernstein("pending", "--no-wait")).out

    assert (
        "asked again after a decision, so that --approval must be given: one-approval-1\n" in shown
    )
