"""Every CEL rule of the CRDs: what it lets through and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Invalid
from tests.control_plane.api.rule_examples import (
    FIXED,
    IMAGES,
    KEPT,
    PAIRS,
    RULES,
    STATIC,
    Rule,
    placed,
)
from tests.control_plane.objects import KINDS, valid


def test_every_rule_has_values_that_it_takes_and_refuses() -> None:
    assert {r.message for r in STATIC} == PAIRS.keys()
    assert STATIC
    assert FIXED
    assert KEPT


def test_a_rule_is_found_by_place_and_message() -> None:
    keys = [(r.kind, r.path, r.field, r.message) for r in RULES]

    assert len(keys) == len(set(keys))


@pytest.fixture
def writers(admin: Client, operator: Client) -> dict[str, Client]:
    made = dict.fromkeys(("Project", "Plan", "Task", "AgentRole"), admin)
    return made | dict.fromkeys(("AgentSession", "Approval"), operator)


@pytest.fixture
def changers(writers: dict[str, Client], admin: Client) -> dict[str, Client]:
    """Who may change each kind; the operator changes nothing of an Approval."""
    return writers | {"Approval": admin}


@pytest.mark.parametrize("rule", STATIC, ids=str)
async def test_rule(rule: Rule, writers: dict[str, Client], namespace: str) -> None:
    client, resource = writers[rule.kind], KINDS[rule.kind]
    pair = PAIRS[rule.message]
    await client.create(resource, placed(rule, namespace, pair.good))

    for bad in pair.bad:
        with pytest.raises(Invalid) as refusal:
            await client.create(resource, placed(rule, namespace, bad))
        _only(rule, refusal.value)


async def test_references_of_images(admin: Client, namespace: str) -> None:
    agents = [{"name": f"a{n}", "adapter": "demo", "image": i} for n, i in enumerate(IMAGES)]

    await admin.create(KINDS["Project"], valid("Project", namespace, agents=agents))


@pytest.mark.parametrize("rule", FIXED, ids=str)
async def test_fixed_field(
    rule: Rule, writers: dict[str, Client], changers: dict[str, Client], namespace: str
) -> None:
    maker, client, resource = writers[rule.kind], changers[rule.kind], KINDS[rule.kind]
    field = rule.field.removeprefix(".")
    one, other = _values(rule, field)
    beside = {"changes": "none"} if field == "produces" else {}
    first = valid(rule.kind, namespace, "first", **{**beside, field: one})
    await maker.create(resource, first)

    # The same again is no change, and other fields are not held back by this one.
    await client.patch(resource, "first", namespace, {"spec": first["spec"], **_touched()})
    changes: list[Any] = [other] if other is not None else []
    if field not in rule.schema.get("required", ()) and "default" not in _field(rule, field):
        changes.append(None)
        await client.create(resource, valid(rule.kind, namespace, "second", **beside))
        await _refused(client, rule, namespace, "second", {field: one})
    assert changes
    for change in changes:
        await _refused(client, rule, namespace, "first", {field: change})


@pytest.mark.parametrize("rule", KEPT, ids=str)
async def test_request_that_cannot_be_taken_back(
    rule: Rule, writers: dict[str, Client], namespace: str
) -> None:
    client, resource = writers[rule.kind], KINDS[rule.kind]
    field = rule.field.removeprefix(".")
    await client.create(resource, valid(rule.kind, namespace))

    await client.patch(resource, "one", namespace, {"spec": {field: {"reason": "Enough"}}})

    await _refused(client, rule, namespace, "one", {field: {"reason": "Other"}})
    await _refused(client, rule, namespace, "one", {field: None})


async def _refused(
    client: Client, rule: Rule, namespace: str, name: str, spec: dict[str, Any]
) -> None:
    with pytest.raises(Invalid) as refusal:
        await client.patch(KINDS[rule.kind], name, namespace, {"spec": spec})
    _only(rule, refusal.value)


def _only(rule: Rule, refusal: Invalid) -> None:
    """This rule refused it, and no other one: the value is wrong in one way only."""
    causes = [c for c in refusal.details["causes"] if not _is_of_both(rule, c)]
    place = f"{rule.path.replace('[]', '[0]')}{rule.field}".replace(".[", "[")
    assert [c["field"] for c in causes] == [place or "<nil>"], causes
    assert rule.message in causes[0]["message"]


def _is_of_both(rule: Rule, cause: dict[str, Any]) -> bool:
    """Whoever gives a Plan one of these fields, or takes it away, has both of them or neither."""
    either = rule.field in (".stages", ".workflow") and rule.message.startswith(
        "the field is immut"
    )
    return either and "give either" in cause["message"]


def _touched() -> dict[str, Any]:
    return {"metadata": {"annotations": {"example.com/touched": "yes"}}}


def _field(rule: Rule, field: str) -> dict[str, Any]:
    schema: dict[str, Any] = rule.schema["properties"][field]
    return schema


def _values(rule: Rule, field: str) -> tuple[Any, Any]:
    """Two values of a field; the second is None when there is only one."""
    special = {
        "completionSignals": (
            [{"type": "path_exists", "path": "a"}],
            [{"type": "path_exists", "path": "b"}],
        ),
        "produces": ({"plan": {}}, {"plan": {"name": "b"}}),
        "resumeSha": ("a" * 40, "b" * 40),
        "rejected": ({"ref": "r", "sha": "a" * 40}, {"ref": "r", "sha": "b" * 40}),
        "price": (
            {"model": "a", "input": "1", "output": "2"},
            {"model": "a", "input": "1", "output": "3"},
        ),
        "stages": (
            [{"name": "a", "steps": [{"title": "t"}]}],
            [{"name": "a", "steps": [{"title": "u"}]}],
        ),
    }
    if field in special:
        return special[field]
    return _sample(_field(rule, field), 0), _sample(_field(rule, field), 1)


def _sample(schema: dict[str, Any], index: int) -> Any:
    if "enum" in schema:
        return schema["enum"][index] if index < len(schema["enum"]) else None
    match schema["type"]:
        case "string":
            return ("one", "two")[index]
        case "integer":
            return schema.get("minimum", 0) + index
        case "boolean":
            return index == 1
        case "array":
            return [_sample(schema["items"], index)]
        case "object":
            needed = schema["required"]
            return {name: _sample(schema["properties"][name], index) for name in needed}
    raise AssertionError(f"no sample of {schema}")
