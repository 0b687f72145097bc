"""What can be wrong with a workflow: its phases, its nodes, and what leads from one to another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from bernstein.api.plans.workflow import LONGEST_EXPRESSION, MOST_RUNS, Workflow
from bernstein.core import names
from bernstein.core.plans import fields
from bernstein.core.plans.field_errors import Table, field_name, quoted, type_name
from bernstein.core.plans.validation.assignments import Assignments
from bernstein.core.plans.workflows import problems

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")
_ROLE = re.compile(r"[a-z][-a-z0-9]{0,62}\Z")


class Nodes:
    """Judges them."""

    def __init__(self, work: Assignments) -> None:
        self._work = work
        self._findings = findings = work.findings
        self.phase_table: Table = {
            "name": findings.line,
            "allowed_roles": lambda path, value: findings.items(path, value, work.role),
            "requires_approval": findings.boolean,
        }
        self.table: Table = {
            **work.table,
            "phase": findings.line,
            "depends_on": lambda path, value: findings.items(path, value, self._edge),
            "join": lambda path, value: findings.choice(path, value, ("all", "any")),
            "retry": self._retry,
        }
        self.edge_table: Table = {"source": self._source, "condition": findings.text}
        self.retry_table: Table = {
            "max_attempts": lambda path, value: findings.integer(path, value, 1, MOST_RUNS),
            "until": findings.text,
        }

    def version(self, path: str, value: object) -> None:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            text = f"expected type string, got {type_name(value)}: write it in quotes"
            self._findings.error_at(path, text)
        else:
            self._findings.line(path, value)

    def phases(self, path: str, value: object) -> None:
        """Every phase for itself."""
        if not isinstance(value, list):
            self._findings.error(path, f"'{path}' must be an array")
        elif not value:
            self._findings.error(path, f"'{path}' must contain at least one phase")
        else:
            self._findings.items(path, value, self._phase)

    def _phase(self, path: str, value: object) -> None:
        if not isinstance(value, dict):
            self._findings.error_at(path, "phase must be a mapping")
            return
        if "name" not in value:
            self._findings.error(f"{path}.name", f"{path}: missing required field 'name'")
        self._findings.fields(path, value, self.phase_table)

    def each(self, path: str, value: object) -> Iterator[None]:
        """Every node for itself, one after another."""
        if not isinstance(value, dict):
            self._findings.error(path, f"'{path}' must be a mapping")
        elif not value:
            self._findings.error(path, f"'{path}' must contain at least one node")
        else:
            for name, node in value.items():
                self._node(path, name, node)
                yield

    def _node(self, path: str, name: object, value: object) -> None:
        place = f"{path}.{field_name(name)}"
        if not isinstance(name, str):
            text = f"the name of a node must be a string, got {type_name(name)}: write it in quotes"
            self._findings.error(place, f"{path}: {text}")
        elif not _NAME.match(name):
            self._findings.error_at(place, _no_name(name))
        if not isinstance(value, dict):
            self._findings.error_at(place, "node must be a mapping")
            return
        for field in ("phase", "role"):
            if field not in value:
                text = f"{place}: missing required field '{field}'"
                self._findings.error(f"{place}.{field}", text)
        self._findings.fields(place, value, self.table)

    def _edge(self, path: str, value: object) -> None:
        if isinstance(value, str):
            self._source(path, value)
        elif not isinstance(value, dict):
            text = "must be the name of a node, or a mapping with 'source' and 'condition'"
            self._findings.error_at(path, f"{text}, got {type_name(value)}")
        else:
            if "source" not in value:
                self._findings.error(f"{path}.source", f"{path}: missing required field 'source'")
            self._findings.fields(path, value, self.edge_table)

    def _source(self, path: str, value: object) -> None:
        said = value.strip() if isinstance(value, str) else ""
        if self._findings.line(path, value) and not _NAME.match(said):
            self._findings.error_at(path, _no_name(said))

    def _retry(self, path: str, value: object) -> None:
        if self._findings.is_of_type(value, dict, path, "mapping"):
            self._findings.fields(path, value, self.retry_table)

    def together(self, data: Mapping[Any, Any]) -> None:
        """What no node shows alone."""
        headings = ((path, node.get("title") or name) for path, name, node in fields.nodes_of(data))
        self._work.titles(headings)
        known = {problem.path for problem in self._findings.errors}
        workflow = _sound_part(data)
        for path, message in problems.problems(workflow) if workflow is not None else ():
            if path in known:
                continue
            if message[:1].isupper():  # a sentence, which says by itself where it is
                self._findings.error(path, message)
            else:
                self._findings.error_at(path, message)


def _no_name(said: str) -> str:
    """What is wrong with the name of a node."""
    text = "a node's name has at most 63 lower-case letters, digits and '-'"
    better = names.slug(said)[:63].strip("-")
    return f"{text}, such as {quoted(better)}" if better else text


def in_file(path: str, data: Mapping[Any, Any]) -> str:
    """The place in a plan file of a field of a spec, which has the nodes in a list."""
    if not path.startswith("workflow."):
        return path
    path = path.removeprefix("workflow.")
    found = re.match(r"nodes\[([0-9]+)\](\.name\Z)?", path)
    if found is None:
        return path
    name = [*data["nodes"]][int(found[1])]
    return f"nodes.{field_name(name)}{path[found.end() :]}"


def in_object(path: str, workflow: Workflow) -> str:
    """The place in a spec, in snake case, of a field of a workflow's file."""
    first = re.match(r"[a-z]+", path)
    if first is None or first[0] not in fields.OF_WORKFLOWS:
        return path
    node = re.match(r"nodes\.([^.\[]+)", path)
    for index, each in enumerate(workflow.nodes):
        if node is not None and each.name == node[1]:
            return f"workflow.nodes[{index}]{path[node.end() :]}"
    return f"workflow.{path}"


# --- what can be looked at as a whole -------------------------------------------------------------


def _sound_part(data: Mapping[Any, Any]) -> Workflow | None:
    """The workflow without what is wrong in itself, which is told; None where nothing is left."""
    judged = (_sound_node(name, node) for _, name, node in fields.nodes_of(data))
    nodes = [node for node in judged if node is not None]
    left = {node["name"] for node in nodes}
    written = {name for _, name, _ in fields.nodes_of(data)}
    for node in nodes:
        node["dependsOn"] = [e for e in node["dependsOn"] if e["source"] not in written - left]
    phases = [_sound_phase(phase) for _, phase in fields.phases_of(data) if _is_text(phase, "name")]
    try:
        return Workflow.model_validate({"phases": phases, "nodes": nodes})
    except ValidationError:  # as of one with more nodes than there may be
        return None


def _sound_phase(phase: Mapping[Any, Any]) -> dict[str, Any]:
    roles = phase.get("allowed_roles")
    known = [role for role in roles if _is_role(role)] if isinstance(roles, list) else []
    return {"name": phase["name"].strip(), "allowedRoles": known}


def _sound_node(name: str, node: Mapping[Any, Any]) -> dict[str, Any] | None:
    """None where it cannot be said which node it is, or of which phase."""
    if not _NAME.match(name) or not _is_text(node, "phase"):
        return None
    made: dict[str, Any] = fields.workflow({"nodes": {name: node}})["nodes"][0]
    edges, retry = made.get("dependsOn"), made.get("retry")
    sound = {
        "name": name,
        "phase": made["phase"],
        "dependsOn": [each for each in edges if _is_edge(each)] if isinstance(edges, list) else [],
    }
    if _is_role(made.get("role")):
        sound["role"] = made["role"]
    if made.get("join") in ("all", "any"):
        sound["join"] = made["join"]
    if isinstance(retry, dict):
        sound["retry"] = _sound_retry(retry)
    return sound


def _is_edge(edge: object) -> bool:
    if not isinstance(edge, dict) or not isinstance(edge.get("source"), str):
        return False
    condition = edge.get("condition")
    is_sound = condition is None or _is_expression(condition)
    return _NAME.match(edge["source"]) is not None and is_sound


def _sound_retry(retry: Mapping[str, Any]) -> dict[str, Any]:
    runs, until = retry.get("maxAttempts"), retry.get("until")
    sound: dict[str, Any] = {}
    if isinstance(runs, int) and not isinstance(runs, bool) and 1 <= runs <= MOST_RUNS:
        sound["maxAttempts"] = runs
    if _is_expression(until):
        sound["until"] = until
    return sound


def _is_expression(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_EXPRESSION


def _is_role(value: object) -> bool:
    return isinstance(value, str) and _ROLE.match(value) is not None


def _is_text(of: Mapping[Any, Any], field: str) -> bool:
    return isinstance(of.get(field), str) and bool(of[field].strip())
