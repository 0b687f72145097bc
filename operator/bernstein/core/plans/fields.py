"""What plan files say, and from their snake_case to the camelCase of Plan objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from bernstein.api import money
from bernstein.api.plan import PlanSpec
from bernstein.checks import signals as kinds
from bernstein.checks.asks import Asks
from bernstein.core.plans.field_errors import field_name

EFFORT_SYNONYMS: Mapping[str, str] = {"medium": "normal"}
OF_WORKFLOWS = ("version", "phases", "nodes")
"""Fields at the top of a file that says its work as a workflow."""
_ONE_LINE = ("name", "title", "goal", "phase", "source", "condition", "until")


def is_workflow(data: Mapping[Any, Any]) -> bool:
    """Whether a plan file says its work as a workflow, and not as stages."""
    return "nodes" in data or "phases" in data


def plan_spec(data: Mapping[Any, Any]) -> dict[str, Any]:
    """The `spec` of the Plan that a plan file describes.

    Values of a wrong type stay as they are, so that a validator can say where they are.
    """
    spec = _renamed(data)
    if "budget" in data:
        spec["budget"] = _dollars(data["budget"])
    if isinstance(data.get("repos"), list):
        spec["repos"] = [_renamed(r) if isinstance(r, dict) else r for r in data["repos"]]
    if isinstance(approval := data.get("approval"), dict):
        spec["approval"] = _approval(approval)
    if isinstance(data.get("stages"), list):
        spec["stages"] = [_stage(stage) for stage in data["stages"]]
    if is_workflow(data):
        spec["workflow"] = workflow({key: spec.pop(key) for key in OF_WORKFLOWS if key in spec})
    return spec


def workflow(data: Mapping[str, Any]) -> dict[str, Any]:
    """The `workflow` of the Plan that these fields of a file describe: nodes are a list there, of
    which each has its name."""
    made = dict(data)
    if isinstance(phases := data.get("phases"), list):
        made["phases"] = [_renamed(each) if isinstance(each, dict) else each for each in phases]
    if isinstance(nodes := data.get("nodes"), dict):
        made["nodes"] = [_node(name, node) for name, node in nodes.items()]
    return made


def _node(name: object, data: object) -> object:
    if not isinstance(data, dict):
        return {"name": name}
    node = {"name": name, **_assignment(data)}
    if isinstance(edges := data.get("depends_on"), list):
        node["dependsOn"] = [_edge(each) for each in edges]
    if isinstance(retry := data.get("retry"), dict):
        node["retry"] = _renamed(retry)
    return node


def _edge(data: object) -> object:
    """A name alone is that of the node which must be done."""
    if isinstance(data, dict):
        return _renamed(data)
    return {"source": data.strip()} if isinstance(data, str) else data


def _approval(data: Mapping[Any, Any]) -> dict[str, Any]:
    policy = _renamed(data)
    if "above_usd" in data:
        policy["aboveUsd"] = _dollars(data["above_usd"])
    return policy


def _dollars(value: object) -> object:
    return (money.parse(value) or value) if isinstance(value, (str, int, float)) else value


def _stage(data: object) -> object:
    if not isinstance(data, dict):
        return data
    stage = _renamed(data)
    if isinstance(data.get("depends_on"), list):
        stage["dependsOn"] = [_stripped(name) for name in data["depends_on"]]
    if isinstance(data.get("steps"), list):
        stage["steps"] = [_step(step) for step in data["steps"]]
    return stage


def _step(data: object) -> object:
    if not isinstance(data, dict):
        return data
    step = _assignment(data)
    if isinstance(parts := data.get("subtasks"), list):
        step["subtasks"] = [_assignment(p) if isinstance(p, dict) else p for p in parts]
    return step


def _assignment(data: Mapping[Any, Any]) -> dict[str, Any]:
    step = _renamed(data)
    goal = step.pop("goal", None)
    if not step.get("title") and goal is not None:
        step["title"] = goal
    effort = data.get("effort")
    if isinstance(effort, str):
        step["effort"] = EFFORT_SYNONYMS.get(effort, effort)
    signals = data.get("completion_signals")
    if isinstance(signals, list):
        step["completionSignals"] = [
            _renamed(signal(s)) if isinstance(s, dict) else s for s in signals
        ]
    return step


def file_form(spec: PlanSpec) -> dict[str, Any]:
    """The spec as a plan file has it: in snake case, without what a file cannot say."""
    ours = {"author", "project_ref", "suspend", "cancel", "requests"}
    data: dict[str, Any] = spec.model_dump(mode="json", exclude_none=True, exclude=ours)
    if spec.workflow is None:
        return data
    made = data.pop("workflow")
    made["nodes"] = {node.pop("name"): node for node in made["nodes"]}
    return {**data, **made}


def stages_of(data: Mapping[Any, Any]) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Each that is one, with its place."""
    stages = data.get("stages")
    for index, stage in enumerate(stages if isinstance(stages, list) else ()):
        if isinstance(stage, dict):
            yield f"stages[{index}]", stage


def steps_of(data: Mapping[Any, Any]) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """The same of steps."""
    for path, stage in stages_of(data):
        steps = stage.get("steps")
        for index, step in enumerate(steps if isinstance(steps, list) else ()):
            if isinstance(step, dict):
                yield f"{path}.steps[{index}]", step


def phases_of(data: Mapping[Any, Any]) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """The same of a workflow's phases."""
    phases = data.get("phases")
    for index, phase in enumerate(phases if isinstance(phases, list) else ()):
        if isinstance(phase, dict):
            yield f"phases[{index}]", phase


def nodes_of(data: Mapping[Any, Any]) -> Iterator[tuple[str, str, Mapping[Any, Any]]]:
    """The place, the name and the fields of each of a workflow's nodes that is one."""
    nodes = data.get("nodes")
    for name, node in nodes.items() if isinstance(nodes, dict) else ():
        if isinstance(name, str) and isinstance(node, dict):
            yield f"nodes.{field_name(name)}", name, node


def signal(data: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """A signal whose criteria have the name that objects have for them: files may say `value`."""
    kind = data.get("type")
    asks = isinstance(kind, str) and isinstance(kinds.of(kind).runs, Asks)
    if not asks or "value" not in data or "criteria" in data:
        return data
    return {"criteria" if key == "value" else key: value for key, value in data.items()}


def _renamed(data: Mapping[Any, Any]) -> dict[str, Any]:
    return {
        to_camel(key): _stripped(value) if key in _ONE_LINE else value
        for key, value in data.items()
        if isinstance(key, str)
    }


def _stripped(value: object) -> object:
    return value.strip() if isinstance(value, str) else value
