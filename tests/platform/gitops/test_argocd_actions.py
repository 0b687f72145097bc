"""What people may do from Argo CD: each action writes what a user may write, and nothing else."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from bernstein.api import plan, task
from bernstein.api.approvals import approval
from bernstein.kube.resource import Object
from tests.platform.gitops import statuses
from tests.platform.gitops.judges import Shown, acted, shown

ACCOUNT = "system:serviceaccount:argocd:argocd-server"
PARSE: dict[str, Any] = {"Plan": plan.parse, "Task": task.parse, "Approval": approval.parse}
CHANGES = {
    ("Plan", "suspend"): {"suspend"},
    ("Plan", "resume"): {"suspend"},
    ("Plan", "cancel"): {"cancel"},
    ("Plan", "retry"): {"requests"},
    ("Task", "cancel"): {"cancel"},
    ("Task", "retry"): {"requests"},
    ("Task", "unblock"): {"requests"},
    ("Approval", "approve"): {"decision", "decidedBy", "reason"},
    ("Approval", "reject"): {"decision", "decidedBy", "reason"},
    ("Approval", "send-back"): {"decision", "decidedBy", "reason"},
}
"""Fields of the spec that each action writes."""
ENDED = {"Succeeded", "DeliveredPartially", "Cancelled", "Closed", "Approved", "Rejected", "Void"}


@pytest.fixture(scope="module")
def told() -> list[tuple[Object, Shown]]:
    return list(zip(statuses.objects(), shown(statuses.objects()), strict=True))


def where(told: list[tuple[Object, Shown]], kind: str, action: str) -> Object:
    """One on which the action can be chosen."""
    return next(obj for obj, says in told if obj["kind"] == kind and action in says.actions)


def asked_about(told: list[tuple[Object, Shown]], **asks: str) -> Object:
    """The work of a Task, undecided."""
    found = copy.deepcopy(where(told, "Approval", "send-back"))
    found["spec"]["asks"] |= asks
    return found


def test_each_kind_has_its_actions(told: list[tuple[Object, Shown]]) -> None:
    seen = {(obj["kind"], action) for obj, says in told for action in says.actions}
    assert seen == CHANGES.keys()


def test_what_has_ended_has_none(told: list[tuple[Object, Shown]]) -> None:
    over = [says for obj, says in told if statuses.phase_of(obj) in ENDED]
    assert over
    assert not [says for says in over if says.actions]


@pytest.mark.parametrize(("kind", "action"), CHANGES)
def test_an_action_writes_only_its_own_fields(
    told: list[tuple[Object, Shown]], kind: str, action: str
) -> None:
    before = where(told, kind, action)
    after = acted(before, action)
    assert {k: v for k, v in after.items() if k != "spec"} == {
        k: v for k, v in before.items() if k != "spec"
    }
    names = before["spec"].keys() | after["spec"].keys()
    changed = {n for n in names if before["spec"].get(n) != after["spec"].get(n)}
    assert changed == CHANGES[kind, action]
    PARSE[kind](after)


def test_a_request_is_signed_by_the_account_of_argo_cd(told: list[tuple[Object, Shown]]) -> None:
    (request,) = acted(where(told, "Plan", "retry"), "retry")["spec"]["requests"]
    assert (request["verb"], request["by"]) == ("Retry", ACCOUNT)
    named = acted(where(told, "Task", "unblock"), "unblock", reason="the key is there", by="ann")
    assert [r["by"] for r in named["spec"]["requests"]][-1] == "ann"
    assert [r["reason"] for r in named["spec"]["requests"]][-1] == "the key is there"


def test_requests_without_an_answer_stay_and_others_make_room(
    told: list[tuple[Object, Shown]],
) -> None:
    stalled = copy.deepcopy(where(told, "Plan", "retry"))
    common = {"verb": "Retry", "by": "ann", "reason": "again"}
    stalled["spec"]["requests"] = [{"id": "one", **common}, {"id": "two", **common}]
    answer = {"asked": "again", "answer": "Refused", "reason": "StillMoves", "id": "one"}
    stalled["status"]["requests"] = [{**common, **answer, "time": "2030-01-01T00:00:00Z"}]

    kept, added = acted(stalled, "retry")["spec"]["requests"]

    assert kept["id"] == "two"
    assert added["id"].startswith("argocd-")


def test_a_decision_is_made_in_the_name_of_the_account(told: list[tuple[Object, Shown]]) -> None:
    spec = acted(asked_about(told), "approve")["spec"]
    assert (spec["decision"], spec["decidedBy"]) == ("Approve", ACCOUNT)
    spec = acted(asked_about(told), "send-back", reason="keep the old endpoint")["spec"]
    assert (spec["decision"], spec["reason"]) == ("Retry", "keep the old endpoint")


def test_work_goes_on_without_a_gate_only_with_a_reason(told: list[tuple[Object, Shown]]) -> None:
    bypass = asked_about(told, gate="pii_scan")
    with pytest.raises(ValueError, match="says why"):
        acted(bypass, "approve")
    spec = acted(bypass, "approve", reason="the number is a test's")["spec"]
    assert spec["reason"] == "the number is a test's"


def test_where_the_author_may_not_decide_nobody_does_from_argo_cd(
    told: list[tuple[Object, Shown]],
) -> None:
    (says,) = shown([asked_about(told, notBy="ann")])
    assert (says.actions, says.disabled) == ((), ("approve", "reject", "send-back"))


@pytest.mark.parametrize("action", ["approve", "reject", "send-back"])
def test_there_an_action_that_is_not_offered_is_refused(
    told: list[tuple[Object, Shown]], action: str
) -> None:
    """Argo CD runs the script of an action whether it is disabled or not."""
    asked = asked_about(told, notBy="ann")
    with pytest.raises(ValueError, match="kubectl or bernstein"):
        acted(asked, action, reason="it is mine", by="bob")
