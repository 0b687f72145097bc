"""Plan files: YAML text to data, data to a Plan object."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

from bernstein.api.meta import API_VERSION, PLAN_KIND
from bernstein.api.plan import PlanSpec
from bernstein.core import labels, names
from bernstein.core.documents import bounded_yaml
from bernstein.core.documents.bounded_yaml import Bounds, Loader, NoYamlError
from bernstein.core.plans.fields import plan_spec

T = TypeVar("T")
MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
MAX_NODES = 200_000
"""Counted with every alias written out: a file of a few lines can stand for billions of nodes."""


class PlanSyntaxError(ValueError):
    """The text is no YAML that we read; the message says what and where."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        """Without the words that say of what."""
        super().__init__(f"Failed to parse YAML plan: {problem}")


def parse(text: str | bytes) -> object:
    """The data of one YAML document, of plain types only. Raises PlanSyntaxError."""
    return _read(text, Loader.get_single_data)


def documents(text: str | bytes) -> list[object]:
    """The data of every YAML document that is not empty. Raises PlanSyntaxError."""
    return _read(text, lambda loader: [each for each in _each(loader) if each is not None])


def _each(loader: Loader) -> Iterator[object]:
    while loader.check_data():  # type: ignore[no-untyped-call]
        yield loader.get_data()


def _read(text: str | bytes, data_of: Callable[[Loader], T]) -> T:
    try:
        return bounded_yaml.read(text, Bounds(MAX_BYTES, MAX_DEPTH, MAX_NODES), data_of)
    except NoYamlError as error:
        raise PlanSyntaxError(str(error)) from error


def plan_object(
    data: Mapping[str, Any],
    *,
    name: str | None = None,
    namespace: str | None = None,
    project: str | None = None,
    max_agents: int | None = None,
    result: str | None = None,
    merge: str | None = None,
) -> dict[str, Any]:
    """The Plan that a valid plan file describes, as JSON for the API server.

    `name` is the object's name (default: made from the plan's); `max_agents`, `merge`
    and `result`, that of its approval, override the file's.
    """
    spec = plan_spec(data)
    overrides = {"projectRef": project, "maxAgents": max_agents, "merge": merge}
    spec |= {key: value for key, value in overrides.items() if value is not None}
    if result is not None:
        spec["approval"] = spec.get("approval", {}) | {"result": result}
    metadata: dict[str, Any] = {"name": name or names.plan_name(spec["name"])}
    if namespace:
        metadata["namespace"] = namespace
    metadata["annotations"] = {labels.CONTENT: content_digest(spec)}
    return {"apiVersion": API_VERSION, "kind": PLAN_KIND, "metadata": metadata, "spec": spec}


_ASKS_FOR_NO_WORK = {"approval", "author", "suspend", "cancel", "requests"}


def content_digest(spec: Mapping[str, Any]) -> str:
    """The same for two specs that ask for the same work, however they are written.

    The same in every release, too: a field that came later counts only where it says something.
    """
    model = PlanSpec.model_validate(spec)
    content = _content(model, model.model_dump(mode="json", exclude=_ASKS_FOR_NO_WORK))
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:32]


_FIRST = {
    "PlanSpec": (
        *("name", "description", "project_ref", "cli", "budget", "max_agents"),
        *("constraints", "context_files", "stages"),
    ),
    "Stage": ("name", "description", "depends_on", "steps"),
    "Step": (
        *("description", "role", "priority", "scope", "complexity", "model", "effort"),
        *("estimated_minutes", "mode", "cli", "files", "completion_signals", "changes"),
        *("title", "goal"),
    ),
    "Signal": (*("type", "path", "value", "contains", "regex", "command", "timeout_seconds"),),
}
"""Fields that the digest of the first release has, also where they say nothing."""


def _content(value: object, dumped: Any) -> Any:
    """What was dumped, without fields that are not among _FIRST and have their default."""
    if isinstance(value, BaseModel):
        named = (_FIRST.get(kind.__name__) for kind in type(value).__mro__)
        first = next(filter(None, named), ())
        return {
            name: _content(getattr(value, name), dumped[name])
            for name, field in type(value).model_fields.items()
            if name in dumped
            and (
                name in first
                or getattr(value, name) != field.get_default(call_default_factory=True)
            )
        }
    if isinstance(value, tuple):
        return [_content(*pair) for pair in zip(value, dumped, strict=True)]
    return dumped
