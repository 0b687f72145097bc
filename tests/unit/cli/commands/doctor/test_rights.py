"""What `bernstein doctor` says of the operator's rights, and of the caller's."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from bernstein.cli.commands.doctor import rights
from bernstein.cli.commands.doctor.finding import Outcome
from bernstein.kube.client import Client
from tests.unit.kube.apiserver import ApiServer, Call

ROLE = Path(__file__).parents[5] / "charts" / "bernstein" / "templates" / "rbac.yaml"
OPERATOR = ("b", "bernstein-operator")


def test_the_rights_that_are_asked_about_are_those_that_the_chart_gives() -> None:
    (text,) = re.findall(
        r'define "bernstein.operatorRules" -}}\n(.*?)\{\{- end }}', ROLE.read_text(), re.DOTALL
    )
    given = {
        rights.Right(group, resource, verb)
        for rule in yaml.safe_load(text)
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }

    assert {*rights.of_operator()} == given


def allow(api: ApiServer, decides: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """The API server answers so; returns what it is asked."""
    asked: list[dict[str, Any]] = []

    def answer(call: Call) -> bytes | None:
        if not call.plural.endswith("subjectaccessreviews"):
            return None
        asked.append(call.body["spec"])
        allowed = decides(call.body["spec"]["resourceAttributes"])
        return json.dumps({"status": {"allowed": allowed}}).encode()

    api.instead = answer
    return asked


async def test_an_operator_with_all_its_rights_is_good(api: ApiServer, client: Client) -> None:
    asked = allow(api, lambda _: True)

    found = await rights.operator(client, "team", *OPERATOR)

    assert found.outcome is Outcome.GOOD
    assert {spec["user"] for spec in asked} == {"system:serviceaccount:b:bernstein-operator"}
    assert {spec["resourceAttributes"]["namespace"] for spec in asked} == {"team"}
    assert "log" in {spec["resourceAttributes"].get("subresource") for spec in asked}


async def test_a_right_that_it_lacks_is_named_with_what_helps(
    api: ApiServer, client: Client
) -> None:
    allow(api, lambda of: of["resource"] != "networkpolicies")

    found = await rights.operator(client, "team", *OPERATOR)

    assert found.outcome is Outcome.BAD
    assert "get networkpolicies" in found.message
    assert found.message.endswith("and 1 more")
    assert "chart" in found.remedy


@pytest.mark.parametrize(
    ("may", "outcome", "says"),
    [
        ({"plans", "approvals"}, Outcome.GOOD, "decide about them"),
        ({"plans"}, Outcome.GOOD, "are no approver"),
        ({"approvals"}, Outcome.WARNING, "run no Plan yourself"),
        (set(), Outcome.WARNING, "run no Plan yourself"),
    ],
)
async def test_what_the_caller_may_do_is_told(
    api: ApiServer, client: Client, may: set[str], outcome: Outcome, says: str
) -> None:
    asked = allow(api, lambda of: of["resource"] in may)

    found = await rights.caller(client, "team")

    assert (found.outcome, says in found.message) == (outcome, True)
    assert all("user" not in spec for spec in asked)


async def test_who_may_not_ask_learns_nothing_and_is_told_so(
    api: ApiServer, client: Client
) -> None:
    api.fault = lambda _: 403

    for found in (
        await rights.operator(client, "team", *OPERATOR),
        await rights.caller(client, "team"),
    ):
        assert found.outcome is Outcome.UNKNOWN
        assert found.message.startswith("you may not read")
