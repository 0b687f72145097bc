"""The same file again is no change; what was never run may be corrected."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Invalid
from tests.control_plane.conftest import Tools
from tests.control_plane.objects import PLANS, valid

STAGES = [{"name": "a", "steps": [{"title": "Do it"}]}]
OTHER = [{"name": "a", "steps": [{"title": "Do it right"}]}]


@pytest.mark.parametrize("kind", ["Plan", "Project"])
def test_kubectl_says_unchanged_where_the_same_file_is_applied_again(
    tools: Tools, namespace: str, kind: str
) -> None:
    obj = valid(kind, namespace, "same")
    if kind == "Project":
        obj["spec"]["gates"] = {"pipeline": [{"name": "lint", "required": False}]}

    first = tools.kubectl("apply", "-f-", stdin=json.dumps(obj))
    again = tools.kubectl("apply", "-f-", stdin=json.dumps(obj))

    assert first.split()[-1] == "created"
    assert again.split()[-1] == "unchanged"


@pytest.mark.parametrize("budget", [0, 5, 999_999_999, "5", "$5", "$5.50", "0.000001"])
async def test_a_budget_of_5_or_of_5_dollars_in_quotes_is_taken_in_the_object(
    admin: Client, namespace: str, budget: int | str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace, budget=budget))


@pytest.mark.parametrize("budget", [-1, 5.5, 1_000_000_000, "5 EUR", "", "$", "1e3", True])
async def test_a_budget_that_is_no_money_is_refused(
    admin: Client, namespace: str, budget: Any
) -> None:
    with pytest.raises(Invalid, match=r"spec\.budget"):
        await admin.create(PLANS, valid("Plan", namespace, budget=budget))


async def test_an_invalid_plan_of_which_nothing_was_made_can_be_edited(
    admin: Client, operator: Client, namespace: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace, "wrong", stages=STAGES))
    edit = {"spec": {"stages": OTHER}}
    with pytest.raises(Invalid, match="immutable"):
        await admin.patch(PLANS, "wrong", namespace, edit)

    refused = {"status": {"phase": "Invalid", "observedGeneration": 1}}
    await operator.patch(PLANS, "wrong", namespace, refused, subresource="status")
    edited = await admin.patch(PLANS, "wrong", namespace, copy.deepcopy(edit))
    assert edited["metadata"]["generation"] == 2

    began = {"status": {"phase": "Invalid", "expanded": True}}
    await operator.patch(PLANS, "wrong", namespace, began, subresource="status")
    with pytest.raises(Invalid, match="immutable"):
        await admin.patch(PLANS, "wrong", namespace, {"spec": {"stages": STAGES}})
