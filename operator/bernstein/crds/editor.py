"""JSON schemas for editors: of objects as `kubectl apply` takes them, and of plan files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic.alias_generators import to_snake

from bernstein.api.meta import API_VERSION
from bernstein.api.plan import Plan
from bernstein.crds.kinds import Kind
from bernstein.crds.schema import Schema, object_schema

DRAFT = "http://json-schema.org/draft-07/schema#"
_IN_OBJECTS_ONLY = ("author", "projectRef", "suspend", "cancel", "requests")
_CODE_POINT = re.compile(r"\\x\{([0-9a-f]{1,4})\}")
_FAR = re.compile(r"\\x\{[0-9a-f]{5,}\}-\\x\{[0-9a-f]{5,}\}")
_MONEY: Final = {"type": ["string", "number"], "minimum": 0}


def of_object(kind: Kind) -> Schema:
    """What a manifest of the kind may say. What CEL rules say besides is left to the API server."""
    schema = object_schema(kind.model)
    return {
        "$schema": DRAFT,
        "title": kind.name,
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": False,
        "properties": {
            "apiVersion": {"const": API_VERSION},
            "kind": {"const": kind.name},
            "metadata": {"type": "object"},
            "spec": _plain(schema["properties"]["spec"]),
            "status": {"type": "object", "description": "Written by the operator."},
        },
    }


def of_plan_file() -> Schema:
    """What a plan file may say: the spec of a Plan in snake_case."""
    spec = _plain(object_schema(Plan)["properties"]["spec"])
    properties = {k: v for k, v in spec["properties"].items() if k not in _IN_OBJECTS_ONLY}
    renamed = _snake(spec | {"properties": properties})
    renamed["properties"]["budget"] |= _MONEY
    renamed["properties"]["approval"]["properties"]["above_usd"] |= _MONEY
    workflow = renamed["properties"].pop("workflow")["properties"]
    step = renamed["properties"]["stages"]["items"]["properties"]["steps"]["items"]
    for work in (step, workflow["nodes"]["items"]):
        work["properties"]["effort"]["enum"].append("medium")
    renamed["properties"] |= {**workflow, "nodes": _by_name(workflow["nodes"])}
    either = [{"required": ["stages"]}, {"required": ["phases", "nodes"]}]
    return {"$schema": DRAFT, "title": "Plan file", **renamed, "oneOf": either}


def _by_name(nodes: Schema) -> Schema:
    """A workflow's nodes as a file has them: by name, and the name of a source for an edge."""
    node = nodes["items"]
    name = node["properties"].pop("name")
    edges = node["properties"]["depends_on"]
    edges["items"] = {"anyOf": [edges["items"]["properties"]["source"], edges["items"]]}
    return {
        "type": "object",
        "minProperties": 1,
        "maxProperties": nodes["maxItems"],
        "propertyNames": {key: name[key] for key in ("pattern", "maxLength") if key in name},
        "additionalProperties": node | {"required": ["phase", "role"]},
    } | ({"description": nodes["description"]} if "description" in nodes else {})


def _plain(schema: Mapping[str, Any]) -> Schema:
    """Without what only Kubernetes knows; a field that is not listed is a mistake."""
    plain = {k: v for k, v in schema.items() if not k.startswith("x-kubernetes-")}
    if "x-kubernetes-int-or-string" in schema:
        plain["type"] = ["integer", "string"]
    if "pattern" in plain:
        plain["pattern"] = _in_javascript(plain["pattern"])
    if "items" in plain:
        plain["items"] = _plain(plain["items"])
    if isinstance(plain.get("additionalProperties"), dict):
        plain["additionalProperties"] = _plain(plain["additionalProperties"])
    if "properties" in plain:
        plain["properties"] = {name: _plain(each) for name, each in plain["properties"].items()}
        plain.setdefault("additionalProperties", False)
    return plain


def _in_javascript(pattern: str) -> str:
    """The API server's pattern as JSON schemas write it, without code points above U+FFFF: editors
    cannot name them."""
    return _CODE_POINT.sub(lambda each: rf"\u{int(each[1], 16):04x}", _FAR.sub("", pattern))


def _snake(schema: Mapping[str, Any]) -> Schema:
    """The same with the names of fields as plan files have them."""
    renamed = dict(schema)
    if "required" in renamed:
        renamed["required"] = [to_snake(name) for name in renamed["required"]]
    if "items" in renamed:
        renamed["items"] = _snake(renamed["items"])
    if "properties" in renamed:
        fields = renamed["properties"].items()
        renamed["properties"] = {to_snake(name): _snake(each) for name, each in fields}
    return renamed
