"""Finds what is wrong with Plans, Tasks and Projects as objects, without a cluster.

The rules in CEL are the API server's: what only they refuse is found when the object is applied.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from bernstein import crds
from bernstein.api.meta import API_VERSION, GROUP, PLAN_KIND, PROJECT_KIND, TASK_KIND
from bernstein.api.plan import PlanSpec
from bernstein.api.project import ProjectSpec
from bernstein.api.vocabulary import ROLES
from bernstein.core.money import models
from bernstein.core.plans.estimate import without_money
from bernstein.core.plans.field_errors import FieldError, Findings, did_you_mean, path_of, quoted
from bernstein.core.plans.validation import validate_plan
from bernstein.core.tasks.declared import validate_task

_OURS = (PLAN_KIND, PROJECT_KIND, TASK_KIND)
_KINDS = {kind.name: kind for kind in crds.KINDS if kind.name in _OURS}
_ROOT = ("apiVersion", "kind", "metadata", "spec", "status")
_FORMS = {
    r"^https://[^\s@]+$": "must begin with https:// and hold no credentials or spaces",
    r"^https?://[^\s]+$": "must begin with https:// or http:// and hold no spaces",
}
"""What these patterns ask for, in words."""
_BUDGET = "spec.budget"
"""Of a Plan; it is refused in the words that a plan file gets."""


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
    schema = crds.object_schema(kind.model)["properties"]["spec"]
    unknown = [*_unknown("", data, _ROOT), *_below("spec", data.get("spec"), schema)]
    try:
        kind.model.model_validate_json(json.dumps(_sent(data), default=str), strict=True)
    except ValidationError as error:
        return (*unknown, *_wrong(error.errors()))
    return (*unknown, *_as_a_whole(kind.name, data["spec"]))


def warnings(data: Mapping[str, Any]) -> tuple[FieldError, ...]:
    """What is allowed in an object without problems, and most likely not meant."""
    if data["kind"] == PROJECT_KIND:
        unjudged = models.unjudged(ProjectSpec.model_validate(data["spec"]))
        told = ((f"spec.{path}", problem) for path, problem in unjudged)
        return tuple(FieldError(path, f"{path}: {problem}") for path, problem in told)
    if data["kind"] != PLAN_KIND:
        return ()
    found = without_money(PlanSpec.model_validate(data["spec"]))
    return (FieldError("spec.budget", f"spec.{found}"),) if found else ()


def _sent(data: Mapping[str, Any]) -> dict[str, Any]:
    """What a person decides of it; a name may be made from `generateName`."""
    metadata = data.get("metadata")
    if isinstance(metadata, dict) and "generateName" in metadata:
        metadata = {"name": "generated", **metadata}
    return {"metadata": metadata, "spec": data.get("spec")}


def _as_a_whole(kind: str, spec: Mapping[str, Any]) -> Iterator[FieldError]:
    """What no field shows alone: cycles, titles that stand twice, signals without their fields."""
    if kind == PLAN_KIND:
        yield from validate_plan(PlanSpec.model_validate(spec), None, ROLES)
    elif kind == TASK_KIND:
        yield from validate_task(spec, None, ROLES, at="spec")


def _below(path: str, value: object, schema: Mapping[str, Any]) -> Iterator[FieldError]:
    """What the schema does not have, at any depth: fields, which the API server would drop, and
    fractions, which it refuses."""
    if isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _below(f"{path}[{index}]", item, schema["items"])
    elif isinstance(value, float) and schema.get("x-kubernetes-int-or-string"):
        text = f"{path}: an object has no fractions; write it in quotes: '{value}'"
        yield FieldError(path, text)
    elif isinstance(value, dict) and "properties" in schema:
        yield from _unknown(path, value, schema["properties"])
        for name, child in schema["properties"].items():
            yield from _below(f"{path}.{name}", value.get(name), child)


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
    path, message = path_of(detail["loc"]), detail["msg"]
    if path == _BUDGET:
        findings = Findings()
        findings.sum_of_money(path, detail["input"])
        if findings.errors:
            return findings.errors[0]
    if detail["type"] == "string_pattern_mismatch":
        pattern = detail["ctx"]["pattern"]
        # As it is a pattern may be mangled where it is shown: it looks like an address with a user.
        message = _FORMS.get(pattern, f"must match {pattern}")
    return FieldError(path, f"{path}: {message[:1].lower()}{message[1:]}")
