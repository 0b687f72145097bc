"""What a Project's own gate is written with, where it is a class in Python.

It imports nothing but the standard library, and runs with Python 3.9 and above: it is loaded in the
image of the Project.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

__all__ = ["GatePlugin", "GateResult"]


@dataclass(frozen=True)
class GateResult:
    """What a gate says of a change."""

    name: str
    """That of the gate."""
    status: str
    """`pass` or `fail`; `skipped`: this change is nothing that it judges."""
    required: bool
    """As the gate's own `required`; what keeps work back is asked there."""
    blocked: bool
    """Whether it is against the change; a result that passes must not say so."""
    cached: bool = False
    """Nobody reads it: verdicts are kept by the operator."""
    duration_ms: int = 0
    """Nobody reads it: the time is measured around the gate."""
    details: str = ""
    """What people read, and the agent's next attempt; the first 1,500 characters."""


class GatePlugin(ABC):
    """One gate. Bernstein makes an object of each class without arguments, and asks it once."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Lower-case letters, digits and `_`, at most 30; no other gate's name."""

    @property
    @abstractmethod
    def required(self) -> bool:
        """Whether work is kept back that it does not pass, where the Project does not say."""

    @property
    @abstractmethod
    def condition(self) -> str:
        """Changes that it runs for, where the Project does not say: `always`, `any_changed`,
        `python_changed`, `tests_changed` or `deps_changed`."""

    @abstractmethod
    def run(
        self,
        changed_files: list[str],
        run_dir: Path,
        task_title: str,
        task_description: str,
    ) -> GateResult:
        """Judges the change of one Task.

        `changed_files`: paths that were added or edited, and are there, relative to `run_dir`,
        which is the folder of the tree and the current one.
        """
