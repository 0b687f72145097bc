"""Workflow files that several tests read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bernstein.api.plan import PlanSpec
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.validation import validate_file

EXAMPLE = (
    Path(__file__).parents[5] / "docs/examples/ci-pipeline/.bernstein/workflows/ci-pipeline.yaml"
)
CI_PIPELINE = EXAMPLE.read_text()
PHASES: list[dict[str, Any]] = [
    {"name": "build"},
    {"name": "check", "allowed_roles": ["qa", "security"]},
]


def node(phase: str = "build", role: object = "backend", **more: Any) -> dict[str, Any]:
    return {"phase": phase, "role": role, **more}


def workflow(**nodes: Any) -> dict[str, Any]:
    """A file with these nodes; `_` stands for `-` in their names."""
    named = {name.replace("_", "-"): each for name, each in nodes.items()}
    return {"name": "w", "phases": PHASES, "nodes": named or {"make": node()}}


def errors(data: object) -> list[str]:
    return [problem.message for problem in validate_file(data).errors]


def spec_of(data: dict[str, Any]) -> PlanSpec:
    return PlanSpec.model_validate(plan_file.plan_object(data)["spec"])
