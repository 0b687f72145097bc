"""What the status of an Approval says."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.approval import (
    MOST_SHOWN,
    Approval,
    ApprovalState,
    ApprovalStatus,
    AskedApproval,
    Shown,
)
from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.api.verification import ChangedFile
from bernstein.core.approvals.decide import ApprovalSnapshot, status_of
from tests.unit.core import objects
from tests.unit.core.approvals import bypasses
from tests.unit.core.approvals.asked import ANN, DIGEST, decided, made
from tests.unit.core.delivery.tasks import verified
from tests.unit.core.objects import HEAD, NOW, Object, at, told

NAME = "work-approval-1"
ASKS = {"attempt": 1, "sha": HEAD, "digest": DIGEST}


def approval(**status: Any) -> Approval:
    return Approval.model_validate(
        {
            "metadata": objects.metadata(NAME, "uid-approval"),
            "spec": {
                "subject": {"kind": "Task", "name": "work", "uid": "uid-work"},
                "asks": ASKS,
            },
            "status": ApprovalStatus(**status).model_dump(),
        }
    )


def asks(name: str = NAME, **more: Any) -> AskedApproval:
    fields = {"name": name, "asks": ASKS, "because": ("its role is security",), "since": NOW}
    return AskedApproval.model_validate(fields | more)


def task(asked: AskedApproval | None, **more: Any) -> Task:
    status = verified(**more).model_copy(update={"approval": asked, "spend_usd": "0.42"})
    return objects.task(status=status)


def look(
    subject: Task | Plan | None, before: Approval | None = None, plan: Plan | None = None
) -> ApprovalStatus:
    return status_of(ApprovalSnapshot(before or approval(), subject, plan), NOW)


def test_one_that_nobody_has_decided_is_pending_and_at_work() -> None:
    found = look(task(asks(until=at(600))))

    assert (found.state, found.expires_at) == (ApprovalState.PENDING, at(600))
    assert told(found.conditions) == {"Reconciling": ("True", "AwaitingApproval")}


@pytest.mark.parametrize(
    ("decision", "state", "succeeded", "reason"),
    [
        ("Approve", ApprovalState.APPROVED, "True", "Approved"),
        ("Reject", ApprovalState.REJECTED, "False", "Rejected"),
        ("Retry", ApprovalState.REJECTED, "False", "SentBack"),
        ("Expired", ApprovalState.EXPIRED, "False", "Expired"),
    ],
)
def test_what_was_acted_upon_is_told(
    decision: str, state: ApprovalState, succeeded: str, reason: str
) -> None:
    found = look(task(asks(decision=decision, by=ANN, time=NOW)))

    assert found.state is state
    assert told(found.conditions) == {"Succeeded": (succeeded, reason)}
    assert found.ended_at == NOW


@pytest.mark.parametrize(
    ("decision", "gate", "says"),
    [
        ("Reject", None, f"rejected by {ANN}: the Task is Cancelled"),
        ("Retry", None, f"sent back by {ANN}: the next attempt is told why"),
        ("Retry", "lint", f"sent back by {ANN}: the Task is Failed"),
        ("Expired", None, "nobody has decided in time: the Task is Cancelled"),
        ("Expired", "lint", "nobody has decided in time: the Task is Failed by its gate"),
    ],
)
def test_a_no_says_what_becomes_of_the_work(decision: str, gate: str | None, says: str) -> None:
    about = approval()
    spec = about.spec.model_copy(update={"asks": about.spec.asks.model_copy(update={"gate": gate})})
    by = None if decision == "Expired" else ANN

    found = look(
        task(asks(decision=decision, by=by, reason="too large", time=NOW)),
        about.model_copy(update={"spec": spec}),
    )

    (condition,) = found.conditions
    assert condition.message.startswith(says)


@pytest.mark.parametrize(
    ("gate", "says"),
    [(None, "the next attempt is not told why"), ("lint", "is Failed, and nobody has said why")],
)
def test_who_sends_work_back_without_a_word_is_told_that_nobody_learns_why(
    gate: str | None, says: str
) -> None:
    about = approval()
    spec = about.spec.model_copy(update={"asks": about.spec.asks.model_copy(update={"gate": gate})})
    silent = asks(decision="Retry", by=ANN, time=NOW)

    (condition,) = look(task(silent), about.model_copy(update={"spec": spec})).conditions

    assert says in condition.message


def test_what_the_approval_alone_still_tells_was_said() -> None:
    sent = decided(approval(state="Rejected", ended_at=at(-60)), "Retry", reason="too large")

    (condition,) = look(task(asks("work-approval-2")), sent).conditions

    assert "the next attempt is told why" in condition.message


def test_what_was_sent_back_stays_so_once_its_task_asks_anew() -> None:
    sent = decided(approval(state="Rejected", ended_at=at(-60)), "Retry")

    found = look(task(asks("work-approval-2")), sent)

    assert told(found.conditions) == {"Succeeded": ("False", "SentBack")}


def test_a_decision_that_nobody_has_acted_upon_yet_leaves_it_pending() -> None:
    found = look(task(asks()), decided(approval(), "Approve"))

    assert found.state is ApprovalState.PENDING


@pytest.mark.parametrize("before", [None, "Pending", "Approved"])
@pytest.mark.parametrize("now", [asks("work-approval-2"), None], ids=["else", "nothing"])
def test_it_is_void_once_the_task_asks_something_else_or_nothing(
    before: str | None, now: AskedApproval | None
) -> None:
    found = look(task(now), approval(state=before))

    assert found.state is ApprovalState.VOID
    assert told(found.conditions) == {"Succeeded": ("False", "Void")}


@pytest.mark.parametrize("before", ["Rejected", "Expired", "Void"])
def test_how_it_ended_stays(before: str) -> None:
    ended = approval(state=before, ended_at=at(-60))

    found = look(task(asks("work-approval-2")), ended)

    assert (found.state, found.ended_at) == (ApprovalState(before), at(-60))


def test_one_that_was_taken_for_void_can_be_decided_while_it_is_asked() -> None:
    """Whoever took it for void has seen its Task as it was before."""
    found = look(task(asks()), approval(state="Void", ended_at=at(-60)))

    assert (found.state, found.ended_at) == (ApprovalState.PENDING, None)
    assert told(found.conditions) == {"Reconciling": ("True", "AwaitingApproval")}


def test_an_approval_that_holds_stays_approved_whatever_its_task_does_next() -> None:
    yes = asks(decision="Approve", by=ANN, time=NOW)

    found = look(task(yes), approval(state="Approved"))

    assert found.state is ApprovalState.APPROVED


def test_whoever_decides_sees_the_verdicts_the_cost_and_why_he_is_asked() -> None:
    files = [{"path": "src/api.py", "added": 40, "deleted": 2}, {"path": "logo.png"}]
    judged = {"most_changed": files}
    found = look(task(asks(), verification=judged), plan=objects.plan(author=ANN)).shown

    assert found is not None
    assert found.because == ("its role is security",)
    assert (found.title, found.author, found.cost_usd) == ("Do work", ANN, "0.42")
    assert [(check.name, check.verdict) for check in found.checks] == [("lint", "Passed")]
    assert found.files_changed == 1
    assert found.diff == "bernstein diff work --namespace team"
    assert found.decide == f"bernstein approve task/work --approval {NAME} --namespace team"
    assert found.most_changed == (
        ChangedFile(path="src/api.py", added=40, deleted=2),
        ChangedFile(path="logo.png"),
    )


@pytest.mark.parametrize("source", ["Unreported", "Unpriced"])
def test_a_cost_that_nobody_knows_is_not_shown_as_none(source: str) -> None:
    def shown(spent: str) -> str | None:
        subject = task(asks(), spend_source=source)
        status = subject.status.model_copy(update={"spend_usd": spent})
        found = look(subject.model_copy(update={"status": status})).shown
        assert found is not None
        return found.cost_usd

    assert (shown("0"), shown("0.42")) == (None, "0.42")


def test_of_a_plans_task_the_author_is_the_plans_whatever_it_says_itself() -> None:
    subject = task(asks())
    spec = subject.spec.model_copy(update={"author": ANN})

    found = look(subject.model_copy(update={"spec": spec}), plan=objects.plan()).shown

    assert found is not None
    assert found.author is None


def test_what_did_not_pass_is_shown_first_however_many_checks_there_are() -> None:
    many = [objects.gate("lint") | {"name": f"gate_{i}"} for i in range(100)]
    many.append(objects.gate("lint", "Failed") | {"name": "gate_x", "required": False})

    found = look(task(asks(), verification={"checks": many})).shown

    assert found is not None
    assert (len(found.checks), found.checks[0].name) == (MOST_SHOWN, "gate_x")


def gate(name: str, verdict: str = "Passed", **more: Any) -> Object:
    return {"name": name, "kind": "gate", "verdict": verdict} | more


def test_a_verdict_is_shown_with_why_and_whether_it_keeps_work_back() -> None:
    beside = objects.gate("lint", "Failed") | {"reason": "NewFindings", "required": False}

    shown = look(task(asks(), verification={"checks": [beside, gate("tests")]})).shown

    assert shown is not None
    assert [(c.verdict, c.reason, c.required) for c in shown.checks] == [
        ("Failed", "NewFindings", False),
        ("Passed", "", True),
    ]


def test_who_decides_in_a_models_place_sees_what_that_has_said() -> None:
    said = "the model accepts it, but is only 0.50 sure\nis it called?"
    unsure = {"kind": "signal", "reason": "Unsure", "byModel": True, "excerpt": said}
    title = {"title": "llm_judge: the step is done"}
    checks = [
        gate("intent", reason="PartlyMet", excerpt="Y is missing"),
        gate("lint", excerpt="1 finding was there before"),
        gate("signal-0", "Skipped") | unsure | title,
    ]

    shown = look(task(asks(), verification={"checks": checks})).shown

    assert shown is not None
    assert shown.excerpt == (
        f"signal llm_judge: the step is done: Skipped (Unsure):\n{said}\n"
        "gate intent: Passed (PartlyMet):\nY is missing"
    )


def test_what_is_shown_of_verdicts_has_a_limit_however_much_they_say() -> None:
    long = {"title": "t" * 300, "excerpt": "\u20ac" * 2048, "required": False}
    many = [gate(f"gate_{i}", "Failed", **long) for i in range(60)]

    shown = look(task(asks(), verification={"checks": many})).shown

    assert shown is not None
    assert shown.excerpt is not None
    assert len(shown.excerpt) <= 2048
    assert shown.excerpt.count("(not required)") == 4


def test_where_all_has_passed_nothing_is_quoted() -> None:
    shown = look(task(asks())).shown

    assert shown is not None
    assert shown.excerpt is None


def test_what_was_shown_stays_when_it_is_void() -> None:
    shown = Shown(title="Do work")

    found = look(task(asks("other")), approval(state="Pending", shown=shown))

    assert found.shown == shown


def test_of_a_plan_its_size_and_its_estimate_are_shown() -> None:
    plan = objects.plan(author=ANN)
    plan = plan.model_copy(update={"status": plan.status.model_copy(update={"approval": asks()})})

    found = look(plan).shown

    assert found is not None
    assert (found.title, found.author, found.tasks) == ("Better web", ANN, 1)
    assert found.subtasks is None


def test_subtasks_of_a_plan_are_told_beside_the_tasks_of_its_steps() -> None:
    split = {"title": "big", "subtasks": [{"title": "one"}, {"title": "two"}]}
    plan = objects.plan(stages=[{"name": "a", "steps": [split, {"title": "small"}]}])
    plan = plan.model_copy(update={"status": plan.status.model_copy(update={"approval": asks()})})

    found = look(plan).shown

    assert found is not None
    assert (found.tasks, found.subtasks) == (2, 2)


def test_one_by_which_a_gate_is_bypassed_is_in_force_while_something_else_is_asked() -> None:
    goes_on = bypasses.bypassed()
    assert goes_on.approval is not None
    name = goes_on.approval.name
    asked = goes_on.model_copy(update={"approval": asks("work-approval-2")})
    named = approval(state="Approved")
    named = named.model_copy(update={"metadata": named.metadata.model_copy(update={"name": name})})

    in_force = look(objects.task(status=asked), named)
    dropped = look(objects.task(status=bypasses.begun(passed=None)), named)

    assert in_force.state is ApprovalState.APPROVED
    assert dropped.state is ApprovalState.VOID


def test_who_may_let_it_go_on_without_a_gate_sees_what_that_says() -> None:
    status = bypasses.asks()
    about = made(bypasses.look(status))

    shown = look(objects.task(status=status), about).shown

    assert shown is not None
    assert shown.excerpt == "exit code 1\nF401 in web.py"
    assert shown.checks[0].verdict == "Failed"
    assert "'gate_a' has said no" in shown.because[0]


def test_the_command_for_work_without_a_gate_has_room_for_why() -> None:
    about = approval()
    gate = about.spec.asks.model_copy(update={"gate": "lint"})
    about = about.model_copy(update={"spec": about.spec.model_copy(update={"asks": gate})})

    found = look(task(asks(asks=gate)), about).shown

    assert found is not None

    assert found.decide == (
        f'bernstein approve task/work --approval {NAME} --namespace team --reason "…"'
    )
