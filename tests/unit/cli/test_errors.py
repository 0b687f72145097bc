"""Errors of the cluster in one line, with what helps."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bernstein.api.plan import PlanSpec
from bernstein.cli.errors import explained
from bernstein.kube.errors import TransportError, api_error

SERVER = "https://10.0.0.1"


@pytest.mark.parametrize(
    ("status", "body", "reason", "message", "remedy"),
    [
        (
            403,
            {
                "reason": "Forbidden",
                "message": 'plans.bernstein.dev is forbidden: User "eve" cannot list resource '
                '"plans" in API group "bernstein.dev" in the namespace "team"',
            },
            "Forbidden",
            'you may not list plans in the namespace "team"',
            "ask for a Role that allows 'list' on 'plans'",
        ),
        (
            403,
            {
                "reason": "Forbidden",
                "message": 'plans.bernstein.dev is forbidden: User "eve" cannot list resource '
                '"plans" in API group "bernstein.dev" at the cluster scope',
            },
            "Forbidden",
            "you may not list plans at the cluster scope",
            "ask for a ClusterRole, bound by a ClusterRoleBinding, that allows 'list' on 'plans'",
        ),
        (
            404,
            {"message": "404 page not found"},
            "NotInstalled",
            "this cluster does not know Bernstein's kinds",
            "install the Helm chart, or choose another --context",
        ),
        (
            404,
            {
                "reason": "NotFound",
                "message": 'namespaces "nope" not found',
                "details": {"name": "nope"},
            },
            "NamespaceNotFound",
            "there is no namespace 'nope'",
            "name another one with --namespace",
        ),
        (
            401,
            {"reason": "Unauthorized", "message": "Unauthorized"},
            "Unauthorized",
            "the API server https://10.0.0.1 does not accept these credentials",
            "log in again, or choose another --context",
        ),
        (
            422,
            {"reason": "Invalid", "message": "spec.name: too long"},
            "Invalid",
            "the API server refuses it: spec.name: too long",
            "",
        ),
    ],
)
def test_an_answer_of_the_api_server(
    status: int, body: object, reason: str, message: str, remedy: str
) -> None:
    found = explained(api_error(status, body), SERVER)

    assert found is not None
    assert (found.reason, found.message, found.remedy) == (reason, message, remedy)
    assert found.code == 1


def test_who_may_not_decide_is_told_which_role_allows_it() -> None:
    text = (
        'approvals.bernstein.dev "a" is forbidden: User "eve" cannot patch resource '
        '"approvals" in API group "bernstein.dev" in the namespace "web"'
    )

    found = explained(api_error(403, {"reason": "Forbidden", "message": text}), SERVER)

    assert found is not None
    assert found.reason == "Forbidden"
    assert found.message == 'you may not decide: patch approvals in the namespace "web"'
    assert found.remedy == (
        "ask for the chart's role whose name ends with -approver, such as bernstein-approver, "
        "in the namespace; the page 'Approve what agents do' says how one gets it"
    )


def test_no_answer_names_the_server_and_the_cause() -> None:
    error = TransportError("GET /x: no answer")
    error.__cause__ = TimeoutError()

    found = explained(error, SERVER)

    assert found is not None
    assert found.message == "the API server https://10.0.0.1 cannot be reached: no answer in time"


def test_an_object_that_this_version_does_not_know_is_a_mismatch() -> None:
    with pytest.raises(ValidationError) as refused:
        PlanSpec.model_validate({})

    found = explained(refused.value, SERVER)

    assert found is not None
    assert found.reason == "VersionMismatch"


def test_a_bug_is_not_explained_away() -> None:
    assert explained(KeyError("x"), SERVER) is None
