"""What a decision comes to where the question is over by the time that it is written."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from bernstein.api.approvals.approval import AskedApproval
from bernstein.api.states import TaskState
from bernstein.cli import decisions
from bernstein.cli.cluster import Cluster
from bernstein.cli.decisions import Decision, decide
from bernstein.cli.errors import CliError
from bernstein.kube.client import Client
from bernstein.kube.errors import Invalid
from bernstein.resources import APPROVALS, TASKS
from tests.unit.cli.questions import asks_next, question, undecided
from tests.unit.cli.scenes import known_as
from tests.unit.core import objects
from tests.unit.core.approvals.asked import ANN, BEN
from tests.unit.kube.apiserver import ApiServer

OVER = {"causes": [{"field": "spec.decision", "reason": "FieldValueForbidden"}]}
"""Why a decision is refused where there is one, or nothing is left to decide."""


def refused(client: Client, patch: pytest.MonkeyPatch, before: Callable[[], object]) -> list[None]:
    """The first decision is refused, as `before` makes it; returns one entry for each refusal."""
    write, refusals = client.patch, list[None]()

    async def refuses(*given: Any, **more: Any) -> Any:
        if refusals:
            return await write(*given, **more)
        refusals.append(None)
        before()
        raise Invalid(422, "Invalid", "it is over", OVER)

    patch.setattr(client, "patch", refuses)
    return refusals


def waits_for(api: ApiServer, asked: AskedApproval) -> None:
    status = objects.status(TaskState.PENDING_APPROVAL, attempt=1, approval=asked)
    api.put(TASKS, "work", "team", **objects.task(status=status).dump())


@pytest.mark.parametrize("decision", ["Approve", "Retry"])
async def test_where_another_decision_stands_it_says_whose_at_once(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch, decision: Decision
) -> None:
    """The operator may be away: the question looks open until it is back."""
    known_as(api, ANN)
    waits_for(api, question(api, "first"))
    end: dict[str, Any] = {"decision": "Reject", "decidedBy": BEN}
    refused(client, monkeypatch, partial(question, api, "first", **end))

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", decision, "")

    assert (refusal.value.reason, refusal.value.code) == ("DecidedAlready", 1)
    assert f"Task 'work' was rejected by {BEN} before" in refusal.value.message


async def test_where_the_same_decision_stands_it_is_as_good_as_ones_own(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    known_as(api, ANN)
    waits_for(api, question(api, "first"))

    def ben_is_quicker() -> None:
        asked = question(api, "first", decision="Approve", decidedBy=BEN)
        waits_for(api, asked)

    refused(client, monkeypatch, ben_is_quicker)

    outcome = await decide(Cluster(client, "team"), "work", "Approve", "")

    assert decisions.told(outcome).startswith(f"Task 'work' is approved by {BEN}")


async def test_what_is_over_and_asked_all_the_same_is_decided_once_it_is_open_again(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "_TICK", 0.01)
    known_as(api, ANN)
    waits_for(api, question(api, "first"))
    refusals = refused(client, monkeypatch, partial(question, api, "first", state="Void"))
    acted = asyncio.create_task(acts(api))

    await decide(Cluster(client, "team"), "work", "Approve", "")

    await acted
    assert refusals == [None]
    spec = api.get(APPROVALS, "first", "team")["spec"]
    assert (spec["decision"], spec["decidedBy"]) == ("Approve", ANN)


async def acts(api: ApiServer) -> None:
    """The operator, once there is a decision."""
    while undecided(api, "first"):  # noqa: ASYNC110 - the server rings no bell
        await asyncio.sleep(0.01)
    waits_for(api, question(api, "first", decision="Approve", decidedBy=ANN))


async def test_where_it_stays_over_nothing_is_decided_and_that_is_no_success(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decisions, "_SECONDS", 0.0)
    known_as(api, ANN)
    waits_for(api, question(api, "first"))
    refused(client, monkeypatch, partial(question, api, "first", state="Void"))

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", "Approve", "")

    assert (refusal.value.reason, refusal.value.code) == ("NothingToDecide", 1)
    assert "Approval 'first' is Void; nothing is decided" in refusal.value.message
    assert undecided(api, "first")


async def test_where_something_else_is_asked_by_then_nothing_is_waited_for(
    api: ApiServer, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    known_as(api, ANN)
    waits_for(api, question(api, "first"))

    def has_changed() -> None:
        question(api, "first", state="Void")
        asks_next(api)

    refused(client, monkeypatch, has_changed)

    with pytest.raises(CliError) as refusal:
        await decide(Cluster(client, "team"), "work", "Approve", "")

    assert refusal.value.reason == "NothingToDecide"
    assert "has changed since, and asks anew" in refusal.value.message
    assert undecided(api, "second")
