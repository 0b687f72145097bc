"""The words that plans may use (roles, scopes, efforts) and Projects (conditions of gates)."""

from __future__ import annotations

from typing import Literal, get_args

ROLES = (
    "analyst",
    "architect",
    "backend",
    "ci-fixer",
    "data",
    "devops",
    "docs",
    "frontend",
    "manager",
    "ml-engineer",
    "prompt-engineer",
    "qa",
    "resolver",
    "retrieval",
    "reviewer",
    "security",
    "visionary",
    "vp",
)


Scope = Literal["small", "medium", "large"]
SCOPES: tuple[str, ...] = get_args(Scope)

Complexity = Literal["low", "medium", "high"]
COMPLEXITIES: tuple[str, ...] = get_args(Complexity)

Effort = Literal["low", "normal", "high", "max"]
EFFORTS: tuple[str, ...] = get_args(Effort)

Severity = Literal["low", "medium", "high"]

GateCondition = Literal["always", "python_changed", "tests_changed", "any_changed", "deps_changed"]

FileScope = Literal["Warn", "Enforce"]
FILE_SCOPES: tuple[str, ...] = get_args(FileScope)
"""From the looser to the stricter."""

PlanMerge = Literal["pr"]
PLAN_MERGES: tuple[str, ...] = get_args(PlanMerge)
"""What a Plan may say of its merge: never the looser way."""

WrittenCondition = Literal[
    "always",
    "python_changed",
    "tests_changed",
    "any_changed",
    "deps_changed",
    "changed_files.any('.py')",
]
"""What a Project may say; the last is how `python_changed` was once written."""


def condition_of(written: WrittenCondition) -> GateCondition:
    return "python_changed" if written == "changed_files.any('.py')" else written


ModelProvider = Literal["anthropic", "openai", "openai-chat", "openrouter", "gemini"]
"""Whose API a model is asked by. `openai-chat` is also what most other servers speak."""

ForgeType = Literal["gitea", "github", "gitlab"]
"""Where a repository's pull requests are."""
