"""One check of a tree: a signal or gate with all its settings."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from bernstein.api.encoding import fields_of
from bernstein.api.pod import Check
from bernstein.api.programs.judge import Asked
from bernstein.api.vocabulary import GateCondition
from bernstein.checks.gate import Plugin

SIGNAL_TIMEOUT = 120
"""Seconds that a signal's command may take where the signal does not say."""
DIGEST = 32
"""Characters of a check's digest."""
SIGNAL = "signal-"
"""The beginning of a signal's name; its index among the Task's signals follows."""
_LATER = ("files", "append_only", "least", "also", "quorum", "room", "tokens")
"""Fields of questions that came later: where they are empty, a digest is what it was before."""


@dataclass(frozen=True)
class Database:
    """What a tool asks that does not know the answer itself."""

    variable: str
    """From which the tool takes its address."""
    url: str
    ca: tuple[str, str] | None = None
    """ConfigMap, and key in it, of the authority of its certificate; None: a public one."""


@dataclass(frozen=True)
class CheckSpec:
    """One signal or gate with all its settings: what to run, or why it is skipped."""

    name: str
    kind: Literal["signal", "gate"]
    title: str
    required: bool
    command: str | None = None
    """What a check executes, in a Job of its own; None for one that only reads or asks."""
    image: str | None = None
    """Where the command runs."""
    launched: bool = False
    """The command calls our launcher."""
    timeout: int = SIGNAL_TIMEOUT
    """Seconds that the command may take."""
    pinned: tuple[str, ...] = ()
    """Base names of files that are taken from the pinned commit instead of the agent's."""
    findings: str | None = None
    """Command that lists what a check finds, so that two trees can be compared; None: it cannot."""
    output: str = "ruff"
    """In which form it prints what it finds or measures."""
    against_base: bool = False
    """What its command prints is compared with what it prints on the commit before the work."""
    tolerance: float | None = None
    """How much worse than there a measure may be."""
    least: float | None = None
    """Which share of faults the tests have to notice."""
    tool: str | None = None
    """Program of ours that the command runs."""
    database: Database | None = None
    """Which database it asks; None: none, or the one that its image names."""
    plugin: Plugin | None = None
    """It is a class in Python; the command asks it."""
    excused: bool = False
    """Whether work that does not pass goes on where its base does not pass either."""
    is_rule: bool = False
    """A field of the Project or the Plan asks for it; its name has a hyphen, as no gate's has."""
    is_hint: bool = False
    """A base that cannot be judged says nothing against the work: it is one more hint."""
    by_file: bool = False
    """The command judges each file by itself."""
    reads: Check | None = None
    """What a check that only reads asks of the inspect Job; None for any other."""
    asks: Asked | None = None
    """What a check that asks a model asks of the judge Job; None for any other."""
    asked_of: tuple[str, ...] = ()
    """The model's provider and address: another one is another question."""
    unfit: str = ""
    """Why nobody reviews the work, where somebody should; "": somebody does."""
    blocks: bool = True
    """Whether what its model answers keeps work back, where the check is required."""
    is_last: bool = False
    """Where a model asks for one more attempt, a person decides: there were as many as it may ask
    for."""
    test: str | None = None
    """The test that a model has written for it, packed, which its command runs; "": a model is to
    write it; None: there is none in it. It is no part of the question."""
    lasts: bool = False
    """A verdict of it may be kept for the same tree; see `Gate.lasts`."""
    alone: bool = False
    """Its command is a tool that we know, which asks nobody and runs none of the work's code."""
    formats: bool = False
    """Its verdict is there before anything is judged: it says what was formatted."""
    condition: GateCondition = "always"
    setup: str | None = None
    """Command of the Project's that is run in its tree before; None: none."""
    setup_seconds: int = 0
    """That it may take."""
    lfs: bool = False
    """Its command finds the contents of files that Git LFS stores."""
    paths: tuple[str, ...] = ()
    """Globs of which one has to match a changed path; checkout asks, so that nothing of them is
    matched in the operator. Empty: any will do."""
    skipped: str | None = None
    """Why it is not run; None: it is run."""

    @property
    def executes(self) -> bool:
        """Whether a command answers it: of one whose test is yet to be written a model does."""
        return self.command is not None and self.test != ""

    @cached_property
    def digest(self) -> str:
        """Identifies what is checked; a verdict with another digest does not count for it."""
        asked = [self.name, self.required, self.command, self.image, self.pinned, self.condition]
        excused = ["excused"] if self.excused else []
        against = ["against base", self.output, self.tolerance] if self.against_base else []
        least = ["least", self.least] if self.least is not None else []
        paths = ["paths", self.paths] if self.paths else []
        plugin = ["plugin", *vars(self.plugin).values()] if self.plugin is not None else []
        model = ["asks", self.asks, self.asked_of] if self.asks is not None else []
        told = ["told alone"] if not self.blocks else []
        data = ["database", *vars(self.database).values()] if self.database is not None else []
        content = [*asked, self.reads, *excused, *against, *least, *paths, *plugin, *model, *told]
        content += data
        content += ["setup", self.setup] if self.setup is not None else []
        content += ["lfs"] if self.lfs else []
        text = json.dumps(content, default=_fields_of, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:DIGEST]

    @cached_property
    def bytes_to_ask(self) -> int:
        """The size of the question that it asks of the inspect Job or the judge Job, as JSON."""
        return len(json.dumps(self.reads or self.asks, default=fields_of))


def _fields_of(reads: Check | Asked) -> dict[str, Any]:
    """Those that a check had always, and the others where it has them."""
    return {name: v for name, v in fields_of(reads).items() if name not in _LATER or v}


@dataclass(frozen=True)
class Subject:
    """Facts about the change, which the conditions of gates name."""

    any_changed: bool
    python_changed: bool
    tests_changed: bool
    deps_changed: bool

    def meets(self, condition: GateCondition) -> bool:
        return condition == "always" or bool(getattr(self, condition))
