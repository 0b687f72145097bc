"""Plan files: YAML text to data, data to a Plan object."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from bernstein.api.meta import API_VERSION, PLAN_KIND
from bernstein.api.plan import PlanSpec
from bernstein.core import labels, names
from bernstein.core.plans.fields import plan_spec

T = TypeVar("T")
MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32
MAX_NODES = 200_000
"""Counted with every alias written out: a file of a few lines can stand for billions of nodes."""


class PlanSyntaxError(ValueError):
    """The text is no YAML that we read; the message says what and where."""

    def __init__(self, problem: str, mark: yaml.Mark | None = None) -> None:
        place = "" if mark is None else f" (line {mark.line + 1}, column {mark.column + 1})"
        self.problem = f"{problem}{place}"
        """Without the words that say of what."""
        super().__init__(f"Failed to parse YAML plan: {self.problem}")


def parse(text: str | bytes) -> object:
    """The data of one YAML document, of plain types only. Raises PlanSyntaxError."""
    return _read(text, _Loader.get_single_data)


def documents(text: str | bytes) -> list[object]:
    """The data of every YAML document that is not empty. Raises PlanSyntaxError."""
    return _read(text, lambda loader: [each for each in _each(loader) if each is not None])


def _each(loader: _Loader) -> Iterator[object]:
    while loader.check_data():  # type: ignore[no-untyped-call]
        yield loader.get_data()


def _read(text: str | bytes, data_of: Callable[[_Loader], T]) -> T:
    if len(text) > MAX_BYTES:
        raise PlanSyntaxError(f"longer than {MAX_BYTES // 1024} KiB")
    try:
        loader = _Loader(text)
        try:
            return data_of(loader)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        raise PlanSyntaxError(problem or "invalid", error.problem_mark) from error
    except yaml.YAMLError as error:
        raise PlanSyntaxError(" ".join(str(error).split())) from error
    except (ValueError, OverflowError) as error:
        # A number or a date that Python does not take.
        raise PlanSyntaxError(str(error)) from error


class _Loader(yaml.SafeLoader):
    """Safe YAML without duplicate keys, bounded in depth and in what its aliases stand for."""

    def __init__(self, stream: str | bytes) -> None:
        super().__init__(stream)
        self._depth = 0
        self._sizes: dict[Node, int] = {}

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.MarkedYAMLError(problem=f"nested deeper than {MAX_DEPTH}", problem_mark=mark)
        alias = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if node is None:
            return None
        if alias and node not in self._sizes:
            raise yaml.MarkedYAMLError(
                problem="an alias inside of what it stands for", problem_mark=node.start_mark
            )
        self._sizes.setdefault(node, 1 + sum(self._sizes[child] for child in _children(node)))
        if self._sizes[node] > MAX_NODES:
            raise yaml.MarkedYAMLError(
                problem=f"more than {MAX_NODES} values with all aliases written out",
                problem_mark=node.start_mark,
            )
        if isinstance(node, MappingNode) and not alias:
            _refuse_duplicates(node)
        return node


def _children(node: Node) -> list[Node]:
    if isinstance(node, SequenceNode):
        return list(node.value)
    if isinstance(node, MappingNode):
        return [child for pair in node.value for child in pair]
    return []


def _refuse_duplicates(node: MappingNode) -> None:
    keys: set[tuple[str, str]] = set()
    for key, _ in node.value:
        if not isinstance(key, ScalarNode):
            continue
        if (key.tag, key.value) in keys:
            raise yaml.MarkedYAMLError(
                problem=f"duplicate key '{key.value[:80]}'", problem_mark=key.start_mark
            )
        keys.add((key.tag, key.value))


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
