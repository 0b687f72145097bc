"""Decisions, and the policies that ask for them: what the CRDs let through and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Invalid
from tests.control_plane.objects import APPROVALS, PLANS, valid

YES = {"decision": "Approve"}


async def made(operator: Client, namespace: str, **spec: Any) -> None:
    await operator.create(APPROVALS, valid("Approval", namespace, **spec))


async def decide(client: Client, namespace: str, user: str, **spec: Any) -> None:
    body = {"spec": {"decision": "Approve", "decidedBy": user} | spec}
    await client.patch(APPROVALS, "one", namespace, body)


async def test_the_first_decision_is_final(
    admin: Client, operator: Client, namespace: str, user: str
) -> None:
    await made(operator, namespace)
    await decide(admin, namespace, user, reason="looks good")

    for change in ({"decision": "Reject"}, {"reason": "another"}, {"reason": None}):
        with pytest.raises(Invalid, match="the first decision is final"):
            await decide(admin, namespace, user, **change)
    # The same once more is no change.
    await decide(admin, namespace, user)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"decision": "Approve"}, "written together"),
        ({"decidedBy": "ann"}, "written together"),
        ({"reason": "why not"}, "a reason is written together"),
    ],
)
async def test_a_decision_is_written_at_once(
    admin: Client, operator: Client, namespace: str, spec: dict[str, Any], message: str
) -> None:
    await made(operator, namespace)

    with pytest.raises(Invalid, match=message):
        await admin.patch(APPROVALS, "one", namespace, {"spec": spec})


async def test_the_author_may_not_decide(
    admin: Client, operator: Client, namespace: str, user: str
) -> None:
    asks = valid("Approval", namespace)["spec"]["asks"] | {"notBy": user}
    await made(operator, namespace, asks=asks)

    with pytest.raises(Invalid, match="the author may not decide"):
        await decide(admin, namespace, user)


async def test_whoever_lets_work_go_on_without_a_gate_says_why(
    admin: Client, operator: Client, namespace: str, user: str
) -> None:
    asks = valid("Approval", namespace)["spec"]["asks"] | {"gate": "lint"}
    await made(operator, namespace, asks=asks)

    with pytest.raises(Invalid, match="says why"):
        await decide(admin, namespace, user)
    other = {"asks": asks | {"gate": "tests"}}
    with pytest.raises(Invalid, match="asked by the operator"):
        await decide(admin, namespace, user, reason="wrong here", **other)
    await decide(admin, namespace, user, reason="wrong here")


async def test_to_reject_what_a_gate_has_rejected_takes_no_reason(
    admin: Client, operator: Client, namespace: str, user: str
) -> None:
    asks = valid("Approval", namespace)["spec"]["asks"] | {"gate": "lint"}
    await made(operator, namespace, asks=asks)

    await decide(admin, namespace, user, decision="Reject")


async def test_a_plan_is_not_sent_back(
    admin: Client, operator: Client, namespace: str, user: str
) -> None:
    about = {"kind": "Plan", "name": "web", "uid": "0"}
    await made(operator, namespace, subject=about, asks={"digest": "d" * 64})

    with pytest.raises(Invalid, match="only the work of a Task can be sent back"):
        await decide(admin, namespace, user, decision="Retry")
    await decide(admin, namespace, user, decision="Reject")


@pytest.mark.parametrize("state", ["Void", "Expired"])
async def test_what_is_over_is_not_decided(
    admin: Client, operator: Client, namespace: str, user: str, state: str
) -> None:
    await made(operator, namespace)
    await operator.patch(
        APPROVALS, "one", namespace, {"status": {"state": state}}, subresource="status"
    )

    with pytest.raises(Invalid, match="nothing is left to decide"):
        await decide(admin, namespace, user)


POLICY = {
    "plan": "AboveCost",
    "aboveUsd": 5,
    "result": "HighRisk",
    "expiresAfterSeconds": 600,
    "movedBase": "Ask",
    "approverIsNotAuthor": False,
}


@pytest.mark.parametrize(
    "change",
    [
        {"plan": "Always", "aboveUsd": None},
        {"aboveUsd": 4},
        {"aboveUsd": "4.999999"},
        {"aboveUsd": "$4.5"},
        {"aboveUsd": "$5.00"},
        {"aboveUsd": 0},
        {"result": "Always"},
        {"expiresAfterSeconds": 60},
        {"approverIsNotAuthor": True},
    ],
    ids=str,
)
async def test_the_policy_of_a_plan_becomes_stricter(
    admin: Client, namespace: str, change: dict[str, Any]
) -> None:
    await admin.create(PLANS, valid("Plan", namespace, approval=POLICY))

    await admin.patch(PLANS, "one", namespace, {"spec": {"approval": change}})


async def started(operator: Client, namespace: str) -> None:
    """Its agents are at work."""
    status = {"status": {"phase": "Running"}}
    await operator.patch(PLANS, "one", namespace, status, subresource="status")


@pytest.mark.parametrize("is_started", [False, True], ids=["new", "started"])
@pytest.mark.parametrize(
    "change",
    [
        None,
        {"plan": "Never", "aboveUsd": None},
        {"aboveUsd": 6},
        {"aboveUsd": "5.000001"},
        {"aboveUsd": "$10"},
        {"result": "Never"},
        {"expiresAfterSeconds": 601},
        {"expiresAfterSeconds": None},
        {"movedBase": "Keep"},
        {"movedBase": None},
    ],
    ids=str,
)
async def test_the_policy_of_a_plan_is_not_loosened(
    admin: Client,
    operator: Client,
    namespace: str,
    change: dict[str, Any] | None,
    is_started: bool,
) -> None:
    await admin.create(PLANS, valid("Plan", namespace, approval=POLICY))
    if is_started:
        await started(operator, namespace)

    with pytest.raises(Invalid, match="may only become stricter"):
        await admin.patch(PLANS, "one", namespace, {"spec": {"approval": change}})


@pytest.mark.parametrize(("was", "now", "ok"), [("9.5", 10, False), (10, "9.5", True)], ids=str)
async def test_sums_are_compared_as_numbers_however_they_are_written(
    admin: Client, namespace: str, was: Any, now: Any, ok: bool
) -> None:
    await admin.create(PLANS, valid("Plan", namespace, approval=POLICY | {"aboveUsd": was}))

    change = admin.patch(PLANS, "one", namespace, {"spec": {"approval": {"aboveUsd": now}}})
    if ok:
        await change
        return
    with pytest.raises(Invalid, match="may only become stricter"):
        await change


@pytest.mark.parametrize("is_started", [False, True], ids=["new", "started"])
async def test_that_the_author_may_not_decide_is_not_taken_back(
    admin: Client, operator: Client, namespace: str, is_started: bool
) -> None:
    policy = POLICY | {"approverIsNotAuthor": True}
    await admin.create(PLANS, valid("Plan", namespace, approval=policy))
    if is_started:
        await started(operator, namespace)

    loosened = {"spec": {"approval": {"approverIsNotAuthor": False}}}
    with pytest.raises(Invalid, match="may only become stricter"):
        await admin.patch(PLANS, "one", namespace, loosened)


async def test_a_plan_gets_a_policy_later(admin: Client, namespace: str) -> None:
    await admin.create(PLANS, valid("Plan", namespace))

    await admin.patch(PLANS, "one", namespace, {"spec": {"approval": POLICY}})
