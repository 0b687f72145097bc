"""What an object says, whoever wrote it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from bernstein.kube.resource import Object

_CONTENT = ("spec", "data", "binaryData")


def is_content_of(live: Object, desired: Object, changeable: Collection[str] = ()) -> bool:
    """Whether ``live`` says what ``desired`` does, and nothing else.

    What is empty counts as absent; fields of the spec that are ``changeable`` do not count. The
    spec of ``desired`` must be written with all defaults of the API server.
    """
    return all(
        _said(live.get(p), changeable) == _said(desired.get(p), changeable) for p in _CONTENT
    )


def _said(part: object, changeable: Collection[str]) -> object:
    if isinstance(part, Mapping):
        part = {name: value for name, value in part.items() if name not in changeable}
    return _without_empty(part)


def _without_empty(value: Any) -> Any:
    if isinstance(value, Mapping):
        said = {name: _without_empty(item) for name, item in value.items()}
        return {name: item for name, item in said.items() if item is not None} or None
    if isinstance(value, list | tuple):
        return [_without_empty(item) for item in value] or None
    return value
