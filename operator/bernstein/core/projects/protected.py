"""Whose change a person must approve, whatever else is asked about."""

from __future__ import annotations

from bernstein.api.project import ProjectSpec


def protected_paths(spec: ProjectSpec) -> tuple[str, ...]:
    """What the Project protects, and the files that all its agents are told: one of them could
    write these for all others. With a `/` before it a path is meant from the root alone."""
    told = (each.path for each in spec.knowledge if each.path is not None)
    return (*spec.protected_paths, *(path if "/" in path else f"/{path}" for path in told))
