"""What plan files say, and from their snake_case to the camelCase of Plan objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic.alias_generators import to_camel

from bernstein.api import money
from bernstein.checks import signals as kinds
from bernstein.checks.asks import Asks

EFFORT_SYNONYMS: Mapping[str, str] = {"medium": "normal"}
_ONE_LINE = ("name", "title", "goal")


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
    return spec


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
