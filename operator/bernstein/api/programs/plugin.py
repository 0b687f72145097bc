"""What the program is told that runs a Project's own gate in Python, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass

GATES_FOLDER = ".bernstein/gates"
"""Where a repository has such gates: its files `*.py`, and nothing below it."""


@dataclass(frozen=True, slots=True)
class PluginConfig:
    """Lay out what the program needs before anything of a tree runs."""

    pinned_sha: str
    """The commit whose gates count."""
    since: str
    """The commit before the work: what changed since then is what the gate is asked about."""
    title: str
    """Of the Task."""
    description: str = ""
    ask_condition: bool = False
    """The gate itself says for which changes it runs."""


@dataclass(frozen=True, slots=True)
class PluginVerdict:
    """The verdict of one gate; the reason is a VerdictReason."""

    name: str
    verdict: str
    """Passed, Failed, Skipped or Errored."""
    reason: str
    excerpt: str
    required: bool | None
    """Whether the gate itself says that it is required; None: it could not be asked."""
