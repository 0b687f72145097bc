"""The chart's policy on requests: everybody asks in his own name."""

from __future__ import annotations

from itertools import count

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden, Invalid
from bernstein.kube.resource import Object
from tests.control_plane.chart.test_policies_off import older
from tests.control_plane.conftest import Person, Tools, eventually
from tests.control_plane.objects import KINDS, OURS, TASKS, valid

BOTH = pytest.mark.parametrize("kind", ["Plan", "Task"])
OF_ITS_PLAN = "bernstein-requests.*are its Plan's"
IN_OWN_NAME = "bernstein-requests.*must be the name of who asks"


def request(by: str, number: int = 1) -> Object:
    return {"id": f"r-{number}", "verb": "Retry", "by": by, "reason": "once more"}


def asks(*requests: Object) -> Object:
    return {"spec": {"requests": list(requests)}}


def account(namespace: str, role: str) -> str:
    return f"system:serviceaccount:{namespace}:{role}"


@BOTH
async def test_an_editor_asks_in_his_own_name_only(
    admin: Client, person: Person, namespace: str, kind: str
) -> None:
    await admin.create(KINDS[kind], valid(kind, namespace))
    editor, name = await person("edit"), account(namespace, "edit")

    with pytest.raises(Forbidden, match=IN_OWN_NAME):
        await editor.patch(KINDS[kind], "one", namespace, asks(request("somebody-else")))
    await editor.patch(KINDS[kind], "one", namespace, asks(request(name)))
    # What stands already is no matter of who writes something else.
    await admin.patch(KINDS[kind], "one", namespace, {"metadata": {"labels": {"a": "b"}}})


@BOTH
async def test_a_request_that_an_object_is_made_with_is_in_the_makers_name(
    person: Person, namespace: str, kind: str
) -> None:
    editor, name = await person("edit"), account(namespace, "edit")

    with pytest.raises(Forbidden, match=IN_OWN_NAME):
        await editor.create(KINDS[kind], valid(kind, namespace, requests=[request("else")]))
    await editor.create(KINDS[kind], valid(kind, namespace, requests=[request(name)]))


@BOTH
async def test_one_cancels_in_ones_own_name_only(
    admin: Client, person: Person, namespace: str, kind: str
) -> None:
    await admin.create(KINDS[kind], valid(kind, namespace))
    await admin.create(KINDS[kind], valid(kind, namespace, "two"))
    editor, name = await person("edit"), account(namespace, "edit")
    by_another, own = ({"cancel": {"reason": "no", "by": by}} for by in ("ann", name))
    not_own = "must be the name of who cancels"

    with pytest.raises(Forbidden, match=not_own):
        await editor.patch(KINDS[kind], "one", namespace, {"spec": by_another})
    with pytest.raises(Forbidden, match=not_own):
        await editor.create(KINDS[kind], valid(kind, namespace, "three", **by_another))
    await editor.patch(KINDS[kind], "one", namespace, {"spec": own})
    await editor.patch(KINDS[kind], "two", namespace, {"spec": {"cancel": {"reason": "no"}}})
    with pytest.raises(Invalid, match="cannot be changed or taken back"):
        await editor.patch(KINDS[kind], "two", namespace, {"spec": own})


async def test_the_operator_hands_on_whose_decision_a_cancel_is(
    operator: Client, person: Person, namespace: str
) -> None:
    of_plan = valid("Task", namespace, "two")
    of_plan["metadata"]["labels"] = OURS
    await operator.create(TASKS, of_plan)
    editor, signed = await person("edit"), {"spec": {"cancel": {"reason": "no", "by": "ann"}}}

    await operator.patch(TASKS, "two", namespace, signed)
    # What stands already is no matter of who writes something else.
    await editor.patch(TASKS, "two", namespace, {"metadata": {"labels": {"a": "b"}}})


@BOTH
async def test_an_answered_request_is_taken_out_by_whoever_may_write_the_object(
    admin: Client, operator: Client, person: Person, namespace: str, user: str, kind: str
) -> None:
    """Twenty old requests of somebody who has left would keep everybody from asking."""
    editor, name = await person("edit"), account(namespace, "edit")
    full = [request(user, number) for number in range(20)]
    await admin.create(KINDS[kind], valid(kind, namespace, requests=full))
    answer = {"verb": "Retry", "by": user, "asked": "x", "answer": "Refused"}
    answer |= {"id": "r-7", "reason": "NothingToRetry", "time": "2030-01-01T00:00:00Z"}
    status = {"status": {"requests": [answer]}}
    await operator.patch(KINDS[kind], "one", namespace, status, subresource="status")
    mine = request(name, 100)

    with pytest.raises(Invalid, match="stays until it is answered"):
        await editor.patch(KINDS[kind], "one", namespace, asks(*full[1:], mine))
    room = [each for each in full if each["id"] != "r-7"]
    found = await editor.patch(KINDS[kind], "one", namespace, asks(*room, mine))

    assert found["spec"]["requests"] == [*room, mine]


def only_by_their_authors(spec: Object) -> None:
    """Adds the rule that an older chart had."""
    kept = "variables.before.all(b, variables.after.exists(a, a.id == b.id) || "
    taken_out = "a request is taken out by its author only"
    own = kept + "b.by == request.userInfo.username)"
    spec["validations"].append({"expression": own, "message": taken_out, "reason": "Forbidden"})


async def test_twenty_requests_of_one_person_lock_all_out_where_their_author_alone_takes_them_out(
    admin: Client, operator: Client, person: Person, namespace: str, user: str, tools: Tools
) -> None:
    editor, mine = await person("edit"), request(account(namespace, "edit"), 100)
    full = [request(user, number) for number in range(20)]
    answer = {"verb": "Retry", "by": user, "asked": "x", "answer": "Refused"}
    answer |= {"reason": "NothingToRetry", "time": "2030-01-01T00:00:00Z"}
    answers = [answer | {"id": each["id"]} for each in full]
    names = (f"try-{number}" for number in count())

    async def asked() -> Object:
        """The editor asks for something of a Task on which all of them are answered."""
        name = next(names)
        await admin.create(TASKS, valid("Task", namespace, name, requests=full))
        status = {"status": {"requests": answers}}
        await operator.patch(TASKS, name, namespace, status, subresource="status")
        with pytest.raises(Invalid, match="at most 20 items"):
            await editor.patch(TASKS, name, namespace, asks(*full, mine))
        return await editor.patch(TASKS, name, namespace, asks(*full[1:], mine))

    async def is_locked() -> bool:
        try:
            await asked()
        except Forbidden as refusal:
            return "by its author only" in str(refusal)
        return False

    with older(tools, "requests", only_by_their_authors):
        await eventually(is_locked)

    await eventually(asked)


async def test_the_operator_hands_a_request_on_in_the_name_of_who_asked(
    operator: Client, namespace: str
) -> None:
    task = valid("Task", namespace)
    task["metadata"]["labels"] = OURS
    await operator.create(TASKS, task)

    await operator.patch(TASKS, "one", namespace, asks(request("ann")))


async def test_nobody_answers_in_the_name_of_a_plan(
    admin: Client, operator: Client, person: Person, namespace: str
) -> None:
    """The Plan takes the answer to such a request for that to what it was asked itself."""
    editor, name = await person("edit"), account(namespace, "edit")
    forged = request(name) | {"id": "plan-r-1"}

    with pytest.raises(Forbidden, match=OF_ITS_PLAN):
        await editor.create(TASKS, valid("Task", namespace, requests=[forged]))
    task = valid("Task", namespace)
    task["metadata"]["labels"] = OURS
    await operator.create(TASKS, task)
    with pytest.raises(Forbidden, match=OF_ITS_PLAN):
        await editor.patch(TASKS, "one", namespace, asks(forged))
    await operator.patch(TASKS, "one", namespace, asks(forged))
    # What the operator has handed on stands in the way of nobody.
    await admin.patch(TASKS, "one", namespace, {"metadata": {"labels": {"a": "b"}}})
    await editor.patch(TASKS, "one", namespace, asks(forged, request(name)))
    plan = valid("Plan", namespace, requests=[forged])
    await editor.create(KINDS["Plan"], plan)
