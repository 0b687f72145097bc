"""Every plain limit of the kinds' specs (patterns, words, lengths, numbers): the API server takes
what just fits and refuses what is wrong by one, and names the field."""

from __future__ import annotations

import asyncio
import copy
import re
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from bernstein import crds
from bernstein.api.task import parse
from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden, Invalid
from bernstein.kube.resource import Object, Resource
from tests.control_plane.api.limit_examples import BESIDE, LEAST
from tests.control_plane.api.pattern_examples import EXAMPLES, Example
from tests.control_plane.api.rule_examples import on_forge
from tests.control_plane.conftest import eventually
from tests.control_plane.objects import JUDGE, KINDS, WORKFLOW, valid
from tests.patterns import in_python

Schema = dict[str, Any]
Path = tuple[str | int, ...]
"""Fields and indices below an object: `("spec", "agents", 0, "name")`."""

AT_ONCE = 8
CRDS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    namespaced=False,
)


NAMES = {
    "pipeline[].model": "spec.gates.pipeline",
    "crossModel.reviewers[]": "spec.gates.crossModel.reviewers",
    "crossModel.quorum": "spec.gates.crossModel.reviewers",
}
"""Fields that name one of another list, and where the rule stands that looks for it there."""

OF_WHO_WRITES = (("author",), ("decision",), ("decidedBy",), ("reason",), ("cancel", "by"))
"""Fields about which policies ask who writes them; the schema has taken their values by then."""


@dataclass(frozen=True)
class Limit:
    """One keyword of the schema of one field."""

    path: Path
    keyword: str
    good: Any
    bad: Any

    def __str__(self) -> str:
        return f"{shown(self.path)} {self.keyword}"


def shown(path: Path) -> str:
    """As the API server names a field: `spec.agents[0].name`."""
    return "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")


def pattern_of(path: Path) -> str:
    return re.sub(r"\[\d+\]", "[]", shown(path))


def limits(schema: Schema, path: Path) -> Iterator[Limit]:
    """Those of a field, and of everything below it."""
    for keyword, (good, bad) in _values(schema, path).items():
        yield Limit(path, keyword, good, bad)
    for name, child in schema.get("properties", {}).items():
        yield from limits(child, (*path, name))
    if "additionalProperties" in schema:
        yield from limits(schema["additionalProperties"], (*path, "one"))
    if "items" in schema:
        yield from limits(schema["items"], (*path, 0))


def _values(schema: Schema, path: Path) -> dict[str, tuple[Any, Any]]:
    """Keyword -> what just fits, and what is wrong by one."""
    found: dict[str, tuple[Any, Any]] = {}
    if "enum" in schema:
        found["enum"] = schema["enum"][0], schema["enum"][0] + "x"
    for name in ("pattern", "format"):
        if schema.get(name, "int64") != "int64":
            found[name] = EXAMPLES[schema[name]].good, EXAMPLES[schema[name]].bad
    for name, step in (("minimum", -1), ("maximum", 1)):
        if name in schema:
            found[name] = schema[name], schema[name] + step
    for kind, make in (("Length", _text), ("Items", _list), ("Properties", _map)):
        for name, step in ((f"min{kind}", -1), (f"max{kind}", 1)):
            if name in schema:
                size = schema[name]
                found[name] = make(schema, path, size), make(schema, path, size + step)
    return found


def _example(schema: Schema) -> Example:
    return EXAMPLES.get(schema.get("pattern") or schema.get("format", ""), Example("a", ""))


def _text(schema: Schema, path: Path, size: int) -> str:
    """As long as that, and otherwise right where there is such a one."""
    example = _example(schema)
    good, more = example.good, size - len(example.good)
    for text in (example.longest or "", good[:size], good + good[-1] * more, good[0] * more + good):
        if len(text) == size and re.search(in_python(schema.get("pattern", "")), text):
            return text
    return "1" * size


def _list(schema: Schema, path: Path, size: int) -> list[Any]:
    """So many items, told apart by their keys."""
    keys = schema.get("x-kubernetes-list-map-keys", ())
    items = [least(schema["items"], (*path, 0)) for _ in range(size)]
    words = schema["items"].get("enum")
    if schema.get("x-kubernetes-list-type") == "set" and words:
        return [words[number % len(words)] for number in range(size)]
    if schema.get("x-kubernetes-list-type") == "set":
        return [f"{item}{number}" for number, item in enumerate(items)]
    for number, item in enumerate(items):
        for key in keys:
            item[key] = f"n{number}"
            item.update(_ending(BESIDE, (*path, 0, key)) or {})
        if path == ("spec", "repositories"):
            item["url"] += str(number)  # no two are at one
    return items


def _map(schema: Schema, path: Path, size: int) -> dict[str, Any]:
    return {f"n{i}": least(schema["additionalProperties"], (*path, "n")) for i in range(size)}


def least(schema: Schema, path: Path) -> Any:
    """A small value that is right."""
    chosen = _ending(LEAST, path)
    if chosen is not None:
        return copy.deepcopy(chosen)
    if "enum" in schema:
        return schema["enum"][0]
    match schema["type"]:
        case "string":
            return _example(schema).good
        case "integer":
            return schema.get("minimum", 0)
        case "array":
            return _list(schema, path, schema.get("minItems", 0))
        case "object":
            needed = schema.get("required", ())
            return {n: least(schema["properties"][n], (*path, n)) for n in needed}
    raise AssertionError(f"no small value of {schema}")


def _ending(table: Mapping[str, Any], path: Path) -> Any:
    place = f".{pattern_of(path)}"
    return next((v for end, v in table.items() if place.endswith(f".{end}")), None)


def with_value(kind: str, schema: Schema, path: Path, value: Any) -> Object:
    """A valid object of the kind, but with this value there; who judges has a model to ask, and who
    opens pull requests a forge."""
    asks = not {"pipeline", "crossModel"}.isdisjoint(path)
    needed: Object = {"models": [{**JUDGE}]} if asks else {}
    needed |= {"repositories": on_forge()["repositories"]} if "pullRequest" in path else {}
    needed |= {"changes": "none"} if "produces" in path else {}
    obj = valid(kind, "", **needed)
    if path[:2] == ("spec", "workflow"):
        obj = valid(kind, "", workflow=copy.deepcopy(WORKFLOW))
    place: Any = obj
    for depth, part in enumerate(path):
        here = path[: depth + 1]
        beside = _ending(BESIDE, here)
        if beside is not None:
            place.clear()
            place.update(copy.deepcopy(beside))
        if depth == len(path) - 1:
            break
        schema = _child(schema, part)
        place = _entered(place, part, schema, here)
    if isinstance(part, int) and not place:
        place.append(value)
    else:
        place[part] = value
    return obj


def _put_in_phase(workflow: Any, *, of_phases: bool) -> None:
    """Each node is in a phase that there is; what the test is `of_phases` stays."""
    nodes, phases = workflow["nodes"], workflow["phases"]
    workflow["phases"] = phases if of_phases else [{"name": nodes[0]["phase"]}]
    for node in nodes:
        node["phase"] = workflow["phases"][0]["name"]


def _child(schema: Schema, part: str | int) -> Schema:
    if isinstance(part, int):
        return dict(schema["items"])
    return dict(schema["properties"][part])


def _entered(place: Any, part: str | int, schema: Schema, path: Path) -> Any:
    """What stands there; a smallest one is put there if nothing does."""
    if isinstance(part, int):
        if not place:
            place.append(least(schema, path))
    elif part not in place:
        place[part] = least(schema, path)
    return place[part]


@pytest.fixture(params=[kind.name for kind in crds.KINDS])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def schema(kind: str) -> Schema:
    return crds.object_schema(next(k.model for k in crds.KINDS if k.name == kind))


@pytest.fixture
def found(schema: Schema) -> list[Limit]:
    return list(limits(schema["properties"]["spec"], ("spec",)))


@pytest.fixture
def writer(kind: str, admin: Client, operator: Client) -> Client:
    return operator if kind in ("AgentSession", "Approval") else admin


def test_every_example_is_of_a_pattern_that_there_is() -> None:
    schemas = [crds.object_schema(k.model)["properties"]["spec"] for k in crds.KINDS]
    used = {found for schema in schemas for found in _patterns(schema)}

    assert used == EXAMPLES.keys()
    for pattern, example in EXAMPLES.items():
        if pattern in used - {"cidr"}:
            assert re.search(in_python(pattern), example.good)
            assert not re.search(in_python(pattern), example.bad)


def _patterns(schema: Schema) -> Iterator[str]:
    yield from (schema[k] for k in ("pattern", "format") if schema.get(k, "int64") != "int64")
    below = (*schema.get("properties", {}).values(), schema.get("items"))
    for child in (*below, schema.get("additionalProperties")):
        if child:
            yield from _patterns(child)


async def test_what_just_fits_is_taken(
    kind: str, schema: Schema, found: list[Limit], writer: Client, namespace: str, user: str
) -> None:
    async def problem(number: int, limit: Limit) -> str | None:
        obj = _fitting(with_value(kind, schema, limit.path, limit.good), user)
        if limit.path[:2] == ("spec", "workflow"):
            _put_in_phase(obj["spec"]["workflow"], of_phases="phases" in limit.path)
        obj["metadata"] |= {"name": f"n{number}", "namespace": namespace}
        try:
            await writer.create(KINDS[kind], obj)
        except Invalid as refusal:
            return f"{limit}: {refusal}"
        except Forbidden as refusal:
            return None if limit.path[1:] in OF_WHO_WRITES else f"{limit}: {refusal}"
        return None

    assert await _problems(problem, found) == []


def _fitting(obj: Object, user: str) -> Object:
    """An agent has the name of the default one, and models those of the ones that are asked; people
    ask for things in their own name; a task's prompt says the description; a private key has
    another name than its public half."""
    for request in obj["spec"].get("requests", ()):
        request["by"] = user
    if "taskPrompt" in obj["spec"]:
        told = "{{TASK_DESCRIPTION}}"
        obj["spec"]["taskPrompt"] = told + obj["spec"]["taskPrompt"][len(told) :]
    if "defaultAgent" in obj["spec"]:
        obj["spec"]["agents"][0]["name"] = obj["spec"]["defaultAgent"]
    for gate in obj["spec"].get("gates", {}).get("pipeline", ()):
        if "model" in gate:
            obj["spec"]["models"][0]["name"] = gate["model"]
    if reviewers := obj["spec"].get("gates", {}).get("crossModel", {}).get("reviewers"):
        obj["spec"]["models"] = [{**JUDGE, "name": name} for name in reviewers]
    attestation = obj["spec"].get("attestation", {})
    if "publicKey" in attestation:
        attestation["key"]["key"] = "private"
    return obj


async def test_what_is_wrong_by_one_is_refused_and_the_field_is_named(
    kind: str, schema: Schema, found: list[Limit], writer: Client, namespace: str
) -> None:
    async def problem(number: int, limit: Limit) -> str | None:
        obj = with_value(kind, schema, limit.path, limit.bad)
        obj["metadata"] |= {"name": f"n{number}", "namespace": namespace}
        try:
            await writer.create(KINDS[kind], obj)
        except Invalid as refusal:
            # Beside it: that the rules were not looked at.
            causes = {c["field"] for c in refusal.details["causes"]} - {"<nil>"}
            causes -= {_ending(NAMES, limit.path), _one_too_many(limit)}
            causes -= {"spec.workflow"} if len(causes) > 1 else set()  # it has no such phase
            return None if causes == {shown(limit.path)} else f"{limit}: {sorted(causes)}"
        return f"{limit}: it is taken"

    assert await _problems(problem, found) == []


def _one_too_many(limit: Limit) -> str | None:
    """What else is named of a set that has each of its words: the one that is there twice."""
    words = limit.bad if limit.keyword == "maxItems" else ()
    twice = len({*map(str, words)}) < len(words)
    return f"{shown(limit.path)}[{len(words) - 1}]" if twice else None


async def _problems(
    attempt: Callable[[int, Limit], Awaitable[str | None]], found: list[Limit]
) -> list[str]:
    """What the attempts find, several at a time."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, limit: Limit) -> str | None:
        async with slots:
            return await attempt(number, limit)

    answers = await asyncio.gather(*(one(n, limit) for n, limit in enumerate(found)))
    assert answers
    return [answer for answer in answers if answer is not None]


_PATTERN = {"type": "file_contains", "path": "a", "contains": "x" * 1024, "regex": True}


def _without_pattern(spec: Schema) -> None:
    del spec["properties"]["title"]["pattern"]


def _without_pattern_of_paths(spec: Schema) -> None:
    del spec["properties"]["files"]["items"]["pattern"]


def _without_most_edges(spec: Schema) -> None:
    spec["properties"]["dependsOn"]["maxItems"] = 2000


def _without_most_characters(spec: Schema) -> None:
    rules = spec["properties"]["completionSignals"]["x-kubernetes-validations"]
    rules[:] = [rule for rule in rules if "regular expressions" not in rule["message"]]


OLDER = (
    _without_pattern,
    _without_pattern_of_paths,
    _without_most_edges,
    _without_most_characters,
)
TAKEN: Mapping[str, Mapping[str, Any]] = {
    "line": {"title": "Write it\nCo-authored-by: me"},
    "filler": {"title": "Write\u3164it"},
    "path": {"files": ["a\nb"]},
    "edges": {"dependsOn": [f"t{n}" for n in range(2000)]},
    "characters": {"completionSignals": [_PATTERN] * 20},
}
"""By name, what is refused today."""


async def test_what_an_older_release_took_keeps_its_object_going(
    admin: Client, operator: Client, namespace: str
) -> None:
    """What is stored stays as it is: the operator reads it and writes its status."""
    definition = "tasks.bernstein.dev"
    old = await admin.get(CRDS, definition)
    looser = copy.deepcopy(old)
    (version,) = looser["spec"]["versions"]
    for loosen in OLDER:
        loosen(version["schema"]["openAPIV3Schema"]["properties"]["spec"])
    await admin.patch(CRDS, definition, None, {"spec": looser["spec"]})
    try:
        for name, bad in TAKEN.items():
            made = valid("Task", namespace, name, **bad)
            await eventually(partial(admin.create, KINDS["Task"], made))
    finally:
        await admin.patch(CRDS, definition, None, {"spec": old["spec"]})

    async def strict_again(bad: Mapping[str, Any]) -> bool:
        try:
            again = valid("Task", namespace, uuid.uuid4().hex, **bad)
            await admin.create(KINDS["Task"], again)
        except Invalid:
            return True
        return False

    for name, bad in TAKEN.items():
        await eventually(partial(strict_again, bad))
        change = {"status": {"state": "Open", "observedGeneration": 1}}
        served = await operator.patch(KINDS["Task"], name, namespace, change, subresource="status")
        cancel = {"spec": {"cancel": {"reason": "Enough"}}}
        await admin.patch(KINDS["Task"], name, namespace, cancel)

        assert parse(served).status.state == "Open", name
