"""Blocks `quality_gates`, and Projects that have what they are translated to."""

from __future__ import annotations

from typing import Any

import yaml

from bernstein.cli import objects
from bernstein.cli.local.gates import Translation, translate
from tests.control_plane.objects import valid

IMAGE = "registry.example.com/tools:1"

EXAMPLE = """\
enabled: true
lint: true
lint_command: "ruff check ."
type_check: false
type_check_command: "pyright"
tests: false
test_command: "uv run python scripts/run_tests.py -x"
timeout_s: 120
base_ref: "main"
cache_enabled: true
allow_bypass: false
pii_scan: true
dlp_scan: true
security_scan: false
coverage_delta: false
complexity_check: false
dead_code_check: false
comment_quality_check: false
import_cycle_check: false
merge_conflict_check: false
mutation_testing: false
dep_audit: false
benchmark:
  enabled: false
intent_verification:
  enabled: false
  model: "google/gemini-flash-1.5"
  block_on_no: true
cross_model:
  enabled: false
"""
"""What the original tool shows of its settings."""


def read(text: str, branch: str = "main") -> Translation:
    found = translate(yaml.safe_load(text), branch=branch, image=IMAGE)
    assert problems(found) == [], text
    return found


def entries(found: Translation) -> dict[str, dict[str, Any]]:
    """The pipeline by name, in its order."""
    return {each["name"]: each for each in found.gates.get("pipeline", ())}


def told(found: Translation) -> dict[str, str]:
    """What is told, by the key that it is about."""
    return {note.path: f"{note.message} → {note.remedy}" for note in found.notes}


def problems(found: Translation) -> list[str]:
    """What the API server would refuse of a Project with these gates."""
    project = valid("Project", "team", "default")
    project["spec"] |= {"gates": dict(found.gates), "models": [dict(m) for m in found.models]}
    return [problem.located for problem in objects.problems(project)]
