"""Small repositories in other languages than Python, and gates that judge them.

`tests/repositories/<language>` is what the branch holds. In `tests/gates/<name>/<language>` there
are changes that this gate accepts and rejects; `command` is the Project's, and `told` is what it
prints of the one that it rejects. All changes touch different files, so that one work may hold
those of every gate, and no gate rejects what another one accepts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.unit.checks.examples import GATES, files
from tests.unit.rooms import ROOT

REPOSITORIES = ROOT / "tests/repositories"
LANGUAGES = tuple(sorted(path.name for path in REPOSITORIES.iterdir()))
IMAGE = "bernstein-toolchain-node-go:dev"

Files = Mapping[str, str]


@dataclass(frozen=True)
class Example:
    command: str | None
    """None: the gate's own does for this language, too."""
    told: str
    accept: Files
    reject: Files


@dataclass(frozen=True)
class Repository:
    before: Files
    """What the branch holds; every gate passes it."""
    gates: Mapping[str, Example]

    @property
    def commands(self) -> Mapping[str, str]:
        """Of the gates that have one."""
        return {name: each.command for name, each in self.gates.items() if each.command}

    @property
    def good(self) -> Files:
        """A change that every gate passes."""
        return {path: text for each in self.gates.values() for path, text in each.accept.items()}

    @property
    def bad(self) -> Files:
        """A change that every gate rejects."""
        return {path: text for each in self.gates.values() for path, text in each.reject.items()}


def of(language: str) -> Repository:
    """Gates in the order of their names."""
    folders = sorted(GATES.glob(f"*/{language}"))
    return Repository(
        files(REPOSITORIES / language),
        {
            folder.parent.name: Example(
                _line(files(folder).get("command")),
                _line(files(folder).get("told")) or "",
                files(folder / "accept"),
                files(folder / "reject"),
            )
            for folder in folders
        },
    )


def _line(text: str | None) -> str | None:
    return text.strip() if text is not None else None
