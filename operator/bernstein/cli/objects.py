"""Finds what is wrong with Plans, Tasks, Projects and AgentRoles as objects, without a cluster.

What their CRDs refuse is refused here, too: fields by their schema, and rules between them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import ValidationError

from bernstein import crds
from bernstein.api.meta import (
    API_VERSION,
    GROUP,
    HTTPS_PATTERN,
    LINE_PATTERN,
    MADE_BY_PEOPLE,
    PATH_PATTERN,
    PLAN_KIND,
    PROJECT_KIND,
    ROLE_KIND,
    STORED_HTTPS_PATTERN,
    TASK_KIND,
)
from bernstein.api.plan import PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.api.projects.commits import EMAIL_PATTERN, NAME_PATTERN
from bernstein.api.projects.repository import (
    API_PATTERN,
    NO_USER,
    NO_USER_OF_API,
    STORED_URL_PATTERN,
    URL_PATTERN,
)
from bernstein.api.roles.role import AgentRoleSpec
from bernstein.api.vocabulary import ROLES
from bernstein.checks import gates
from bernstein.core.money import models
from bernstein.core.plans.estimate import without_money
from bernstein.core.plans.field_errors import (
    FieldError,
    Findings,
    did_you_mean,
    invalid_choice,
    path_of,
    quoted,
)
from bernstein.core.plans.schema_errors import field_error
from bernstein.core.plans.validation import validate_plan
from bernstein.core.plans.validation.nodes import in_object
from bernstein.core.roles import judged
from bernstein.core.roles.known import BUILT_IN, Roles
from bernstein.core.tasks.declared import validate_task

_KINDS = {kind.name: kind for kind in crds.KINDS if kind.name in MADE_BY_PEOPLE}
_ROOT = ("apiVersion", "kind", "metadata", "spec", "status")
_FORMS = {
    URL_PATTERN: "must be an https:// address without credentials, or one that begins with ssh://",
    # All else that it refuses the one above has refused.
    STORED_URL_PATTERN: NO_USER,
    HTTPS_PATTERN: "must begin with https:// and hold no credentials or spaces",
    API_PATTERN: "must begin with https:// and hold no credentials or spaces",
    STORED_HTTPS_PATTERN: NO_USER_OF_API,
    r"^https?://[^\s]+$": "must begin with https:// or http:// and hold no spaces",
    LINE_PATTERN: "must be a single line without control or invisible characters",
    PATH_PATTERN: "must be a single line without control characters",
    NAME_PATTERN: "must be a single line without control or invisible characters, < and >",
    EMAIL_PATTERN: "must be an address such as bot@example.com",
}
"""What these patterns ask for, in words."""
_BUDGET = "spec.budget"
"""Of a Plan; it is refused in the words that a plan file gets."""
_GENERATED = 58
"""Characters of `generateName` that the API server keeps; it adds five."""
_QUOTED_NAME = re.compile(r"'([a-z]+(?:_[a-z]+)+)'")
"""What may be a field by its name in plan files."""
_UNDERSCORE = re.compile(r"_([a-z])")
_COMMAND_OF_GATE = re.compile(r"spec\.gates\.pipeline\[([0-9]+)\]\.command")


def is_ours(data: object) -> bool:
    """Whether it is an object of our group, of whatever version."""
    return isinstance(data, dict) and str(data.get("apiVersion", "")).startswith(f"{GROUP}/")


def is_foreign(data: object) -> bool:
    """Whether it is an object of another group."""
    return isinstance(data, dict) and {"apiVersion", "kind"} <= data.keys() and not is_ours(data)


def items_of(data: object) -> list[object]:
    """The objects of a List, as `kubectl get -o yaml` prints several; [] of anything else."""
    if not isinstance(data, dict) or (data.get("apiVersion"), data.get("kind")) != ("v1", "List"):
        return []
    items = data.get("items")
    return items if isinstance(items, list) else []


def title(data: Mapping[str, Any]) -> str:
    """Kind and name, as people call it."""
    metadata = data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return f"{data.get('kind')} '{name}'" if name else str(data.get("kind"))


def problems(data: Mapping[str, Any]) -> tuple[FieldError, ...]:
    """All that is wrong with an object of our group."""
    if data["apiVersion"] != API_VERSION:
        text = f"apiVersion: {quoted(data['apiVersion'])} is not {API_VERSION}"
        return (FieldError("apiVersion", text),)
    named = str(data.get("kind"))
    kind = _KINDS.get(named)
    if kind is None and any(other.name == named for other in crds.KINDS):
        text = f"kind: the operator alone makes objects of the kind {quoted(named)}"
        return (FieldError("kind", text),)
    if kind is None:
        known = ", ".join(sorted(_KINDS))
        return (FieldError("kind", f"kind: {quoted(data.get('kind'))} is none of {known}"),)
    schema, sent = _schema(kind.name), _sent(data)
    of_spec = schema["properties"]["spec"]
    told = [*_unknown("", data, _ROOT), *_below("spec", data.get("spec"), of_spec)]
    try:
        kind.model.model_validate_json(json.dumps(sent), strict=True)
    except ValidationError as error:
        return tuple(_besides(told, _wrong(error.errors())))
    told = _besides(told, _as_a_whole(kind.name, sent))
    if told:  # between fields that are wrong a rule would say what is no help
        return tuple(told)
    broken = [(p, text + _meant(p, sent)) for p, text in crds.broken(schema, sent)]
    return tuple(FieldError(p, f"{p}: {text}" if p else text) for p, text in broken)


def _meant(path: str, sent: Mapping[str, Any]) -> str:
    """The end of a message: the built-in gate whose name was meant, where one lacks a command."""
    found = _COMMAND_OF_GATE.fullmatch(path)
    if found is None:
        return ""
    gate = sent["spec"]["gates"]["pipeline"][int(found[1])]
    return "" if "command" in gate else did_you_mean(gate["name"], gates.names())


@cache
def _schema(kind: str) -> dict[str, Any]:
    """It takes a while to make, and a folder may hold many objects."""
    return crds.object_schema(_KINDS[kind].model)


def _besides(told: Sequence[FieldError], more: Iterable[FieldError]) -> list[FieldError]:
    """With those of other places: two are no help with one value."""
    places = {each.path for each in told}
    return [*told, *(each for each in more if each.path not in places)]


def warnings(data: Mapping[str, Any], known: Roles = BUILT_IN) -> tuple[FieldError, ...]:
    """What is allowed in an object without problems, and most likely not meant. `known`: roles that
    it may name."""
    if data["kind"] == PROJECT_KIND:
        unjudged = models.unjudged(ProjectSpec.model_validate(data["spec"]))
        told = ((f"spec.{path}", problem) for path, problem in unjudged)
        return tuple(FieldError(path, f"{path}: {problem}") for path, problem in told)
    unknown = sorted(_roles_of(data["spec"]) - {*known})
    needed = (f"spec: role '{name}' is not built in: it needs an AgentRole" for name in unknown)
    roles = tuple(FieldError("spec", text) for text in needed)
    if data["kind"] != PLAN_KIND:
        return roles
    found = without_money(PlanSpec.model_validate(data["spec"]))
    return (*roles, *((FieldError("spec.budget", f"spec.{found}"),) if found else ()))


def _sent(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a person decides of it, as JSON has it; a name may be made from `generateName`."""
    metadata = data.get("metadata")
    if isinstance(metadata, dict) and "generateName" in metadata:
        made = f"{str(metadata['generateName'])[:_GENERATED]}abcde"
        metadata = {"name": made, **metadata}
    sent = {"metadata": metadata, "spec": data.get("spec")}
    given: dict[str, Any] = json.loads(json.dumps(sent, default=str))
    return given


def _as_a_whole(kind: str, sent: Mapping[str, Any]) -> Iterator[FieldError]:
    """What no field shows alone: cycles, titles that stand twice, signals without their fields,
    places of a template."""
    spec = sent["spec"]
    if kind == PLAN_KIND:
        plan = PlanSpec.model_validate(spec)
        roles = {*ROLES, *_roles_of(spec)}
        for each in (_in_spec(found, plan) for found in validate_plan(plan, None, roles)):
            yield _of_object(FieldError(f"spec.{each.path}", each.message), each.path)
    elif kind == TASK_KIND:
        for each in validate_task(spec, None, {*ROLES, *_roles_of(spec)}, at="spec"):
            yield _of_object(each, each.path)
    elif kind == ROLE_KIND:
        yield from _of_role(sent)


def _roles_of(spec: Mapping[str, Any]) -> set[str]:
    """The names of roles in a Plan or a Task: only a cluster knows which AgentRoles there are."""
    steps = [step for stage in spec.get("stages", ()) for step in stage["steps"]]
    nodes = (spec.get("workflow") or {}).get("nodes", ())
    split = [part for each in (spec, *steps) for part in each.get("subtasks", ())]
    return {each["role"] for each in (spec, *steps, *nodes, *split) if "role" in each}


def _of_role(sent: Mapping[str, Any]) -> Iterator[FieldError]:
    name = sent["metadata"].get("name", "") if isinstance(sent["metadata"], dict) else ""
    for problem in judged.problems(name, AgentRoleSpec.model_validate(sent["spec"])):
        place, _, words = problem.partition(": ")
        yield FieldError(f"spec.{place}", f"spec.{place}: {words}")


def _in_spec(error: FieldError, plan: PlanSpec) -> FieldError:
    """An error with its place in a spec, where a plan file has what it is about elsewhere."""
    if plan.workflow is None:
        return error
    path, (begins, colon, rest) = (
        in_object(error.path, plan.workflow),
        error.message.partition(": "),
    )
    if colon and error.path.startswith(begins):
        begins = in_object(begins, plan.workflow)
    return FieldError(path, f"{begins}{colon}{rest}")


def _of_object(error: FieldError, place: str) -> FieldError:
    """An error with the names that fields have in objects; `place`: what its message may begin
    with, or with a part of it."""
    begins, colon, rest = error.message.partition(": ")
    if colon and place.startswith(begins):
        begins = _camel(error.path.removesuffix(place) + begins)
    else:
        begins, colon, rest = "", "", error.message
    rest = _QUOTED_NAME.sub(_renamed, rest)
    return FieldError(_camel(error.path), f"{begins}{colon}{rest}")


def _camel(path: str) -> str:
    return _UNDERSCORE.sub(lambda letter: letter[1].upper(), path)


def _renamed(quotation: re.Match[str]) -> str:
    """A field's name as objects have it; a word that is none stays, such as a kind of signal."""
    name = _camel(quotation[1])
    return f"'{name}'" if name in _fields_of_plans() else quotation[0]


@cache
def _fields_of_plans() -> frozenset[str]:
    return frozenset(_names(_schema(PLAN_KIND)["properties"]["spec"]))


def _names(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, child in schema.get("properties", {}).items():
        yield name
        yield from _names(child)
    if "items" in schema:
        yield from _names(schema["items"])


def _below(path: str, value: object, schema: Mapping[str, Any]) -> Iterator[FieldError]:
    """What the schema refuses and the models do not, at any depth: fields that it does not have,
    which the API server would drop, fractions, and what came into it from the registries."""
    if isinstance(value, list) and "items" in schema:
        yield from _list(path, value, schema)
        for index, item in enumerate(value):
            yield from _below(f"{path}[{index}]", item, schema["items"])
    elif isinstance(value, float) and schema.get("x-kubernetes-int-or-string"):
        text = f"{path}: an object has no fractions; write it in quotes: '{value}'"
        yield FieldError(path, text)
    elif isinstance(value, str) and (problem := _text(value, schema)):
        yield FieldError(path, f"{path}: {problem}")
    elif isinstance(value, dict) and "properties" in schema:
        yield from _unknown(path, value, schema["properties"])
        for name, child in schema["properties"].items():
            yield from _below(f"{path}.{name}", value.get(name), child)


def _text(value: str, schema: Mapping[str, Any]) -> str:
    """What is wrong with a text; "" for nothing."""
    if value not in schema.get("enum", (value,)):
        return invalid_choice(value, schema["enum"])
    if schema.get("format") == "cidr" and not crds.is_cidr(value):
        return f"must be addresses such as 192.0.2.0/24, got {quoted(value)}"
    pattern = schema.get("pattern", "")
    # A sum of money is a text or a number: the models know both.
    money = schema.get("x-kubernetes-int-or-string")
    return "" if money or crds.matches(value, pattern) else _form(pattern)


def _list(path: str, value: Sequence[object], schema: Mapping[str, Any]) -> Iterator[FieldError]:
    """What is wrong with a list beside its items."""
    if len(value) > (most := schema.get("maxItems", len(value))):
        yield FieldError(path, f"{path}: must have at most {most} items")
    keys = schema.get("x-kubernetes-list-map-keys", ())
    if not keys and schema.get("x-kubernetes-list-type") != "set":
        return
    seen: list[object] = []
    for index, item in enumerate(value):
        key = [item.get(k) for k in keys] if keys and isinstance(item, dict) else [item]
        if key in seen:
            place = f"{path}[{index}]"
            yield FieldError(place, f"{place}: {quoted(key[0])} stands there twice")
        seen.append(key)


def _form(pattern: str) -> str:
    # As it is a pattern may be mangled where it is shown: it looks like an address with a user.
    return _FORMS.get(pattern, f"must match {pattern}")


def _unknown(path: str, value: Mapping[Any, Any], known: Collection[str]) -> Iterator[FieldError]:
    for key in value:
        if key not in known:
            place = f"{path}.{key}" if path else str(key)
            text = f"{path or 'object'}: unknown field {quoted(key)}{did_you_mean(key, known)}"
            yield FieldError(place, text)


def _wrong(details: Sequence[Mapping[str, Any]]) -> Iterator[FieldError]:
    """What pydantic says, without the lists that it counts short where an item is what is wrong."""
    places = [tuple(each["loc"]) for each in details]
    for place, each in zip(places, details, strict=True):
        below = any(other[: len(place)] == place and other != place for other in places)
        if not (below and each["type"] == "too_short"):
            yield _field_error(each)


def _field_error(detail: Mapping[str, Any]) -> FieldError:
    path = path_of(detail["loc"])
    if path == _BUDGET:
        findings = Findings()
        findings.sum_of_money(path, detail["input"])
        if findings.errors:
            return findings.errors[0]
    if detail["type"] == "string_pattern_mismatch":
        return FieldError(path, f"{path}: {_form(detail['ctx']['pattern'])}")
    return field_error(path, detail)
