"""From a kind's model to its CustomResourceDefinition."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal

from bernstein.api.meta import GROUP, NO_RULES, VERSION, Model
from bernstein.api.session import AgentSession
from bernstein.api.states import SESSION_BORN, TASK_BORN, SessionState, TaskState
from bernstein.api.task import Task
from bernstein.crds import registries, sentences
from bernstein.crds.kinds import Kind

Schema = dict[str, Any]

_BORN: Mapping[type[Model], TaskState | SessionState] = {
    Task: TASK_BORN,
    AgentSession: SESSION_BORN,
}

_KEPT = (  # and the order in which they are written
    "description",
    "type",
    "format",
    "x-kubernetes-int-or-string",
    "enum",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "default",
    "x-kubernetes-list-type",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-validations",
    "required",
    "properties",
    "items",
    "additionalProperties",
)


def definition(kind: Kind) -> Schema:
    """The CustomResourceDefinition of one kind."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{kind.plural}.{GROUP}",
            # Uninstalling the chart must not delete every Plan of the cluster.
            "annotations": {"helm.sh/resource-policy": "keep"},
        },
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {
                "kind": kind.name,
                "listKind": f"{kind.name}List",
                "plural": kind.plural,
                "singular": kind.name.lower(),
                "shortNames": [kind.short_name],
                "categories": ["bernstein"],
            },
            "versions": [
                {
                    "name": VERSION,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [c.schema() for c in kind.columns],
                    "schema": {"openAPIV3Schema": object_schema(kind.model)},
                }
            ],
        },
    }


def object_schema(model: type[Model]) -> Schema:
    """Structural schema of a kind's objects.

    Defaults of the spec stay, so that the API server applies them and an object that spells them
    out equals one that does not. Inside of lists they are only told: `kubectl apply` replaces a
    list as a whole, and would find a difference where the API server has filled in an item. Of the
    status only `observedGeneration: -1` stays, which keeps a new object from counting as
    reconciled, and the state that a kind is born in; everything else is the controllers' to write.
    """
    raw = sentences.told(model)
    definitions = raw.get("$defs", {})
    parts = raw["properties"]
    status = _structural(parts["status"], definitions, defaults="none")
    status["properties"]["observedGeneration"]["default"] = -1
    status = {"type": "object", "default": new_status(model), **status}
    spec = _structural(parts["spec"], definitions, defaults="applied")
    spec.setdefault("description", "What people say; ours to read.")
    status.setdefault("description", "How things stand; written by the operator alone.")
    schema: Schema = {
        "description": " ".join(raw["description"].split()),
        "type": "object",
        "required": ["spec"],
        "properties": {
            "apiVersion": {"type": "string", "description": f"{GROUP}/{VERSION}."},
            "kind": {"type": "string", "description": "The kind's name."},
            "metadata": {"type": "object"},
            "spec": spec,
            "status": status,
        },
    }
    if rules := raw.get("x-kubernetes-validations"):
        schema["x-kubernetes-validations"] = rules
    return schema


def new_status(model: type[Model]) -> Schema:
    """The status of an object of this kind that nobody has looked at yet."""
    born = _BORN.get(model)
    return {"observedGeneration": -1} | ({"state": born.value} if born is not None else {})


Defaults = Literal["applied", "told", "none"]
"""What becomes of a default: the API server applies it, the description tells it, or nothing."""


def _structural(
    node: Mapping[str, Any], definitions: Mapping[str, Any], defaults: Defaults
) -> Schema:
    """What pydantic wrote, with references inlined and everything gone that a CRD may not have."""
    flat = registries.filled(_inline(node, definitions))
    if flat.pop(NO_RULES, False):
        return _without_rules(_structural(flat, definitions, defaults))
    flat.pop("title", None)
    if "description" in flat:
        flat["description"] = " ".join(flat["description"].split())
    flat |= _default(flat, flat.pop("default", None), defaults)
    if "const" in flat:
        flat["enum"] = [flat.pop("const")]
    if unknown := flat.keys() - set(_KEPT):
        raise ValueError(f"a CRD cannot say {sorted(unknown)}: {dict(node)}")
    if flat.get("x-kubernetes-int-or-string"):
        del flat["type"]
    elif flat["type"] == "integer":
        flat["format"] = "int64"
    below: Defaults = "told" if defaults == "applied" else defaults
    for key in ("items", "additionalProperties"):
        if key in flat:
            flat[key] = _structural(flat[key], definitions, below)
    if "properties" in flat:
        required = flat.get("required", ())
        flat["properties"] = {
            name: _property(child, definitions, defaults, optional=name not in required)
            for name, child in flat["properties"].items()
        }
    return {key: flat[key] for key in _KEPT if key in flat}


def _without_rules(schema: Schema) -> Schema:
    """The schema of what is judged elsewhere: none of its rules, nor of those below."""
    kept = {key: each for key, each in schema.items() if key != "x-kubernetes-validations"}
    if "items" in kept:
        kept["items"] = _without_rules(kept["items"])
    if "properties" in kept:
        below = kept["properties"].items()
        kept["properties"] = {name: _without_rules(each) for name, each in below}
    return kept


def _default(schema: Schema, default: Any, defaults: Defaults) -> Schema:
    """What the schema says of its default; one that is empty is not told. What may be left out but
    not be empty has none that the API server could apply."""
    if default is None or defaults == "none" or (schema.get("minItems") and not default):
        return {}
    if defaults == "applied":
        return {"default": default}
    if default in ([], {}, ()):
        return {}
    written = default if isinstance(default, str) else json.dumps(default)
    return {"description": f"{schema.get('description', '')} Default: {written}.".lstrip()}


def _property(
    node: Mapping[str, Any], definitions: Mapping[str, Any], defaults: Defaults, optional: bool
) -> Schema:
    schema = _structural(node, definitions, defaults)
    # Pydantic does not write out the default of a default_factory. `{}` lets the API server fill in
    # the defaults of the fields below; a field that may be null has an anyOf and gets none.
    if defaults == "applied" and optional and "$ref" in node and schema["type"] == "object":
        schema["default"] = {}
    return schema


def _inline(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> Schema:
    """Resolve `$ref` and `X | None`; what stands beside them wins."""
    beside = {k: v for k, v in node.items() if k not in ("$ref", "anyOf")}
    if "$ref" in node:
        target = definitions[node["$ref"].removeprefix("#/$defs/")]
        return {**_inline(target, definitions), **beside}
    if "anyOf" in node:
        choices = [c for c in node["anyOf"] if c.get("type") != "null"]
        if len(choices) != 1:
            raise ValueError(f"a CRD's field has one type: {dict(node)}")
        return {**_inline(choices[0], definitions), **beside}
    return beside
