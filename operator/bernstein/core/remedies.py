"""What a person is told: what happened, and what helps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bernstein.api.project import Project
from bernstein.core.errors import policy

_NAMED = frozenset({"SecretNotFound", "ConfigMapNotFound"})
_FIELDS = ("secretName", "apiKey.name", "ca.name", "configMap", "imagePullSecrets")
"""Ends of the paths of fields that name a Secret or a ConfigMap."""


def with_remedy(text: str, reason: str, project: Project | None = None) -> str:
    """The text with the reason's remedy, which names the Project's fields where it can."""
    remedy = policy(reason).remedy
    fields = naming(project, text) if project is not None and reason in _NAMED else []
    if fields:
        remedy = f"{remedy.rstrip('.')}: {', '.join(fields)}."
    if not remedy:
        return text
    return f"{text.rstrip('.')}. Remedy: {remedy}"


def naming(project: Project, text: str) -> list[str]:
    """Fields of the Project that name an object which the text quotes (`secret "x" not found`)."""
    return [
        path
        for path, value in _strings(project.spec.dump(), "spec")
        if f'"{value}"' in text and path.rstrip("[0123456789]").endswith(_FIELDS)
    ]


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """(path, value) of all strings in it."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _strings(inner, f"{path}.{name}")
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _strings(inner, f"{path}[{number}]")
    elif isinstance(value, str):
        yield path, value
