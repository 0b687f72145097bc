"""What a CustomResourceDefinition takes no more that one before it took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bernstein.kube.resource import Object

LARGER_IS_NARROWER = ("minLength", "minItems", "minProperties", "minimum")
SMALLER_IS_NARROWER = ("maxLength", "maxItems", "maxProperties", "maximum")
FIXED = ("type", "format", "pattern", "default", "x-kubernetes-int-or-string")
LISTS = ("x-kubernetes-list-type", "x-kubernetes-list-map-keys")
INNER = ("items", "additionalProperties")


def narrowed(before: Object, after: Object) -> Iterator[str]:
    """Each thing, by where it is; nothing: all that was taken is taken, and stored as it was."""
    for place in ("group", "scope", "names"):
        if before["spec"][place] != after["spec"][place]:
            yield f"{place}: changed"
    was, now = (_versions(each) for each in (before, after))
    for name, version in was.items():
        if name not in now:
            yield f"{name}: served no more"
            continue
        if version["storage"] != now[name]["storage"]:
            yield f"{name}: another version is stored"
        first, then = (each["schema"]["openAPIV3Schema"] for each in (version, now[name]))
        yield from _schema(first, then, name)


def _versions(definition: Object) -> dict[str, Object]:
    return {each["name"]: each for each in definition["spec"]["versions"] if each["served"]}


def _schema(before: Object, after: Object, where: str) -> Iterator[str]:
    yield from _values(before, after, where)
    yield from _required(before, after, where)
    was, now = before.get("properties", {}), after.get("properties", {})
    for name, schema in was.items():
        inside = f"{where}.{name}"
        if name in now:
            yield from _schema(schema, now[name], inside)
        else:
            yield f"{inside}: gone"
    for key in INNER:
        if isinstance(before.get(key), Mapping):
            yield from _schema(before[key], after.get(key, {}), f"{where}[]")


def _values(before: Object, after: Object, where: str) -> Iterator[str]:
    for key in (*FIXED, *LISTS):
        if before.get(key) != after.get(key):
            yield f"{where}: {key} {_said(before, key)}, then {_said(after, key)}"
    for keys, sign in ((LARGER_IS_NARROWER, 1), (SMALLER_IS_NARROWER, -1)):
        for key in keys:
            if key in after and (key not in before or sign * (after[key] - before[key]) > 0):
                yield f"{where}: {key} {_said(before, key)}, then {after[key]}"
    if "enum" in after and (gone := set(before.get("enum", ("anything",))) - set(after["enum"])):
        yield f"{where}: {', '.join(sorted(map(str, gone)))} no more"
    known = {rule["rule"] for rule in _rules(before)}
    for rule in _rules(after):
        if rule["rule"] not in known:
            yield f"{where}: a new rule: {rule.get('message', rule['rule'])}"


def _required(before: Object, after: Object, where: str) -> Iterator[str]:
    """A new field that has to be there, which no object of before has."""
    for name in sorted({*after.get("required", ())} - {*before.get("required", ())}):
        if "default" not in after.get("properties", {}).get(name, {}):
            yield f"{where}.{name}: required"


def _rules(schema: Object) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = schema.get("x-kubernetes-validations", ())
    return found


def _said(schema: Object, key: str) -> str:
    return str(schema.get(key, "none"))
