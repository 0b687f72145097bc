"""What a person must approve the change of, whatever else is asked about."""

from __future__ import annotations

from bernstein.api.project import ProjectSpec


def paths(spec: ProjectSpec) -> tuple[str, ...]:
    """What the Project protects, and what all its agents are told: one of them could write that for
    all others."""
    told = (each.path for each in spec.knowledge)
    return (*spec.protected_paths, *(path for path in told if path is not None))
