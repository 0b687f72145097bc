"""What a person's decision comes to before it is written."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.plan import Plan
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli import decisions
from bernstein.cli.cluster import Cluster
from bernstein.cli.decisions import Decision, Seen, decide
from bernstein.cli.errors import CliError
from bernstein.kube.client import Client
from bernstein.resources import APPROVALS, PLANS, TASKS
from tests.unit.cli.questions import asks_next, question, sent_back, undecided
from tests.unit.cli.scenes import known_as, unknown
from tests.unit.core import objects
from tests.unit.core.approvals import bypasses
from tests.unit.core.approvals.asked import ANN, BEN, DIGEST
from tests.unit.core.objects import NOW, at
from tests.unit.kube.apiserver import ApiServer

CANCEL = {"reason": "not needed"}
ASKED = AskedApproval.model_validate(
    {"name": "work-approval-1", "asks": {"digest": DIGEST, "attempt": 0}, "since": NOW}
)


def task(state: TaskState = TaskState.PENDING_APPROVAL, **spec: Any) -> Task:
    return objects.task(status=objects.status(state, approval=ASKED), **spec)


def plan(ended: bool = False, **spec: Any) -> Plan:
    found = objects.plan(begun=False, **spec)
    update = {"approval": ASKED, "ended_at": NOW if ended else None}
    return found.model_copy(update={"status": found.status.model_copy(update=update)})


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(task(cancel=CANCEL), id="a Task that is being cancelled"),
        pytest.param(task(TaskState.CANCELLED), id="a Task that was"),
        pytest.param(task(TaskState.CLOSED), id="a Closed Task"),
        pytest.param(plan(cancel=CANCEL), id="a Plan that is being cancelled"),
        pytest.param(plan(ended=True), id="a Plan that has ended"),
    ],
)
async def test_nobody_decides_about_what_is_over(
    api: ApiServer, client: Client, subject: Plan | Task
) -> None:
    kind = PLANS if isinstance(subject, Plan) else TASKS
    name = subject.metadata.name
    api.put(kind, name, "team", **subject.dump())
    made: dict[str, Any] = {"subject": {"kind": kind.kind, "name": name, "uid": "uid"}}
    made |= {"asks": ASKED.asks.dump()}
    api.put(APPROVALS, ASKED.name, "team", spec=made)

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), name, "Approve", "")

    assert refusal.value.reason == "NothingToDecide"
    assert "waits for nobody's decision" in refusal.value.message
    assert refusal.value.remedy == (
        "it may still be verified: `bernstein pending` waits for that"
        if isinstance(subject, Task) and subject.status.state is TaskState.DONE
        else "`bernstein pending` lists what waits for a decision"
    )


async def test_who_lets_work_go_on_without_a_gate_says_why_and_is_told_what_it_says(
    api: ApiServer, client: Client
) -> None:
    status = bypasses.asks()
    api.put(TASKS, "work", "team", **objects.task(status=status).dump())
    assert status.approval is not None
    api.put(APPROVALS, status.approval.name, "team", spec=_asked_of(status.approval))

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", "Approve", "")

    assert refusal.value.reason == "ReasonMissing"
    assert "without gate 'gate_a'" in refusal.value.message
    assert "F401 in web.py" in refusal.value.message
    spec = api.get(APPROVALS, status.approval.name, "team")["spec"]
    assert "decision" not in spec


def _asked_of(asked: AskedApproval) -> dict[str, Any]:
    return {"subject": {"kind": "Task", "name": "work", "uid": "uid"}, "asks": asked.asks.dump()}


async def test_a_bypass_is_told_although_something_else_is_asked_by_then(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = bypasses.allowing(result="Always")
    before = bypasses.asks(of=strict)
    after = bypasses.look(bypasses.bypassed(of=strict), of=strict).status
    assert before.approval is not None
    assert after.approval is not None
    assert after.approval.name != before.approval.name
    seen = [objects.task(status=status) for status in (before, after)]

    async def found(*_: object) -> Task:
        return seen.pop(0)

    async def written(*_: object) -> None:
        return None

    monkeypatch.setattr(decisions, "find", found)
    monkeypatch.setattr(decisions, "again", found)
    monkeypatch.setattr(decisions, "_write", written)

    outcome = await decide(Cluster(client, "team"), "work", "Approve", "wrong here")

    told = decisions.told(outcome)
    assert told.startswith(f"Task 'work': gate 'gate_a' is bypassed by {ANN}")
    assert "where other work has landed since, you are asked again" in told


@pytest.mark.parametrize(
    ("decision", "state", "told"),
    [
        ("Approve", TaskState.DONE, f"was approved by {ANN} already: nothing changed (done)"),
        ("Approve", TaskState.CLOSED, f"was approved by {ANN} already: nothing changed (closed)"),
        ("Reject", TaskState.CANCELLED, f"was rejected by {ANN} already: nothing changed"),
        ("Retry", TaskState.FAILED, f"was sent back by {ANN} already: nothing changed"),
    ],
)
async def test_the_same_decision_again_says_so_and_writes_nothing(
    api: ApiServer, client: Client, decision: Decision, state: TaskState, told: str
) -> None:
    decided = ASKED.model_copy(update={"decision": decision, "by": ANN})
    again = objects.task(status=objects.status(state, approval=decided))
    api.put(TASKS, "work", "team", **again.dump())

    outcome = await decide(Cluster(client, "team"), "work", decision, "another reason")

    assert told in decisions.told(outcome)
    assert {call.verb for call in api.calls} == {"GET"}


async def test_whoever_repeats_it_before_the_operator_has_acted_writes_no_second_decision(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "_SECONDS", 0.0)
    known_as(api, ANN)
    api.put(TASKS, "work", "team", **task().dump())
    made = {"subject": {"kind": "Task", "name": "work", "uid": "uid"}, "asks": ASKED.asks.dump()}
    api.put(APPROVALS, ASKED.name, "team", spec=made)

    for _ in range(2):
        outcome = await decide(Cluster(client, "team"), "work", "Approve", "")

        assert "it is decided; the operator has not acted on it yet" in decisions.told(outcome)
    assert api.names(APPROVALS) == [ASKED.name]
    spec = api.get(APPROVALS, ASKED.name, "team")["spec"]
    assert (spec["decision"], spec["decidedBy"]) == ("Approve", ANN)


def at_work(api: ApiServer, asked: AskedApproval | None) -> None:
    status = objects.status(TaskState.IN_PROGRESS, attempt=2, approval=asked)
    api.put(TASKS, "work", "team", **objects.task(status=status).dump())


@pytest.mark.parametrize("seen", [Seen("first"), Seen(sha="aaaaaaa"), Seen("first", "a" * 40)])
async def test_a_decision_about_what_was_seen_is_not_written_onto_the_next_question(
    api: ApiServer, client: Client, seen: Seen
) -> None:
    sent_back(api)
    asks_next(api)

    outcome = await decide(Cluster(client, "team"), "work", "Retry", "", seen)

    assert f"Task 'work' was sent back by {ANN} already: nothing changed" in told_of(outcome)
    assert undecided(api, "second")
    assert {call.verb for call in api.calls} == {"GET"}


def told_of(outcome: decisions.Outcome) -> str:
    return decisions.told(outcome)


@pytest.mark.parametrize("decision", ["Approve", "Reject"])
async def test_another_decision_about_what_was_seen_is_refused_and_told_what_was_decided(
    api: ApiServer, client: Client, decision: Decision
) -> None:
    sent_back(api)
    asks_next(api)

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", decision, "", Seen("first"))

    assert refusal.value.reason == "DecidedAlready"
    assert f"was sent back by {ANN} before" in refusal.value.message
    assert undecided(api, "second")


@pytest.mark.parametrize(
    "end",
    [
        pytest.param({"state": "Void"}, id="undecided"),
        pytest.param({"state": "Void", "decision": "Approve", "decidedBy": ANN}, id="decided"),
        pytest.param({"state": "Pending"}, id="not seen by the operator yet"),
        pytest.param({"state": "Approved", "decision": "Approve", "decidedBy": ANN}, id="of then"),
    ],
)
@pytest.mark.parametrize("seen", [Seen("first"), Seen(sha="aaaaaaa")])
async def test_what_has_changed_since_it_was_seen_is_not_decided(
    api: ApiServer, client: Client, end: dict[str, Any], seen: Seen
) -> None:
    question(api, "first", **end)
    asks_next(api)

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", "Approve", "", seen)

    assert (refusal.value.reason, refusal.value.code) == ("WorkChanged", 1)
    assert "nothing is decided" in refusal.value.message
    assert "`bernstein pending`" in refusal.value.remedy
    assert "`bernstein diff work`" in refusal.value.remedy
    assert {call.verb for call in api.calls} == {"GET"}


@pytest.mark.parametrize("seen", [Seen("second"), Seen(sha="b" * 7), Seen("second", "b" * 40)])
async def test_what_is_asked_as_it_was_seen_is_decided(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch, seen: Seen
) -> None:
    monkeypatch.setattr(decisions, "_SECONDS", 0.0)
    known_as(api, ANN)
    sent_back(api)
    asks_next(api)

    await decide(Cluster(client, "team"), "work", "Approve", "", seen)

    assert api.get(APPROVALS, "second", "team")["spec"]["decision"] == "Approve"


@pytest.mark.parametrize("seen", [Seen("second", "a" * 40), Seen(sha="ccccccc"), Seen("other")])
async def test_what_is_not_asked_is_not_decided(api: ApiServer, client: Client, seen: Seen) -> None:
    asks_next(api)
    other = {"kind": "Task", "name": "other", "uid": "uid-other"}
    api.put(APPROVALS, "other", "team", spec={"subject": other, "asks": {"digest": DIGEST}})

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", "Approve", "", seen)

    assert refusal.value.reason == "WorkChanged"
    assert undecided(api, "second")
    assert undecided(api, "other")


async def test_an_approval_that_never_was_is_not_found(api: ApiServer, client: Client) -> None:
    asks_next(api)

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", "Approve", "", Seen("secon"))

    assert refusal.value.reason == "NotFound"
    assert refusal.value.remedy == "did you mean second?"


async def test_a_commit_alone_decides_nothing_where_it_was_decided_about_before(
    api: ApiServer, client: Client
) -> None:
    """Such as a gate to go on without, and then another: this may be the same call once more."""
    end = {"state": "Approved", "decision": "Approve", "decidedBy": ANN}
    question(api, "first", attempt=2, sha="b" * 40, **end)
    asks_next(api)

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", "Approve", "why", Seen(sha="bbbbbbb"))

    assert refusal.value.reason == "WorkChanged"
    assert "--approval second" in refusal.value.remedy
    assert undecided(api, "second")


async def test_a_plan_is_decided_about_by_no_commit(api: ApiServer, client: Client) -> None:
    waiting = plan()
    api.put(PLANS, waiting.metadata.name, "team", **waiting.dump())

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "web", "Approve", "", Seen(sha="aaaaaaa"))

    assert (refusal.value.reason, refusal.value.code) == ("InvalidSha", 2)


async def test_a_decision_that_is_repeated_before_the_next_question_says_how_it_stands(
    api: ApiServer, client: Client
) -> None:
    known_as(api, ANN)
    at_work(api, sent_back(api))

    outcome = await decide(Cluster(client, "team"), "work", "Retry", "")

    assert outcome.already
    assert f"was sent back by {ANN} already: nothing changed" in told_of(outcome)


@pytest.mark.parametrize(
    ("user", "decision", "end"),
    [
        (BEN, "Retry", {}),
        (ANN, "Approve", {}),
        (ANN, "Reject", {}),
        (ANN, "Approve", {"state": "Approved", "decision": "Approve"}),
        (ANN, "Approve", {"state": "Void", "decision": "Approve"}),
    ],
    ids=["of another person", "another one", "for good", "of an attempt before", "of what is void"],
)
async def test_what_is_no_repeat_has_nothing_to_decide_before_the_next_question(
    api: ApiServer, client: Client, user: str, decision: Decision, end: dict[str, Any]
) -> None:
    known_as(api, user)
    at_work(api, sent_back(api, **end))

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", decision, "")

    assert refusal.value.reason == "NothingToDecide"


async def test_only_the_last_decision_of_a_person_is_repeated(
    api: ApiServer, client: Client
) -> None:
    known_as(api, ANN)
    sent_back(api)
    later = {"state": "Void", "endedAt": at(-10), "decision": "Approve", "decidedBy": ANN}
    at_work(api, question(api, "later", attempt=1, sha="c" * 40, **later))

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", "Retry", "")

    assert refusal.value.reason == "NothingToDecide"


async def test_nothing_is_repeated_for_whom_nobody_knows(api: ApiServer, client: Client) -> None:
    unknown(api)
    at_work(api, sent_back(api))

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", "Retry", "")

    assert refusal.value.reason == "NothingToDecide"


@pytest.mark.parametrize(
    ("state", "reason"), [("Rejected", None), ("Void", "WorkChanged")], ids=["acted upon", "void"]
)
async def test_where_something_else_is_asked_by_then_it_says_what_came_of_the_decision(
    api: ApiServer,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    state: str,
    reason: str | None,
) -> None:
    asked = question(api, "first")
    status = objects.status(TaskState.PENDING_APPROVAL, attempt=1, approval=asked)
    api.put(TASKS, "work", "team", **objects.task(status=status).dump())

    async def written(*_: object) -> None:
        sent_back(api, state=state)
        asks_next(api)

    monkeypatch.setattr(decisions, "_write", written)

    async def decided() -> decisions.Outcome:
        return await decide(Cluster(client, "team"), "work", "Retry", "", Seen("first"))

    if reason is None:
        assert f"Task 'work' is sent back by {ANN}" in told_of(await decided())
        return
    with pytest.raises(CliError) as refusal:
        await decided()
    assert refusal.value.reason == reason


@pytest.mark.parametrize(("retries", "follows"), [(0, False), (2, True)])
def test_who_sends_the_last_attempt_back_is_told_that_none_follows(
    retries: int, follows: bool
) -> None:
    sent = ASKED.model_copy(update={"decision": "Retry", "by": ANN})
    status = objects.status(TaskState.FAILED, attempt=1, approval=sent)
    outcome = decisions.Outcome(
        objects.task(status=status, maxRetries=retries), sent, "Retry", already=False
    )

    told = decisions.told(outcome)

    assert told.startswith(f"Task 'work' is sent back by {ANN}")
    helps = "`bernstein retry task/work` gives it another round"
    assert (f"no attempt is left, so that none follows: {helps}" not in told) is follows
