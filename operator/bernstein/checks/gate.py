"""The record that declares one built-in gate, and from which all else about it is derived."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bernstein.api.vocabulary import GateCondition, Severity
from bernstein.checks.asks import Asks
from bernstein.checks.reading import Reads


@dataclass(frozen=True)
class Command:
    """The gate is a shell command that runs in a Job of its own; it passes with exit code 0.

    A Project may name another command, and another image than that of its toolchain.
    """

    command: str
    pinned: tuple[str, ...] = ()
    """Base names of files that are taken from the pinned commit instead of the agent's."""
    findings: str | None = None
    """A shell command that prints every finding and exits with 0. With it a tree that does not pass
    is judged by what its base does not have; without it nothing tells old from new."""
    output: str = "ruff"
    """In which form findings are printed: a name of `bernstein.checks.outputs`."""
    against_base: bool = False
    """The command itself prints findings or measures, and exits with 0. It runs on both trees, and
    they are compared: its exit code alone passes nothing."""
    tolerance: float | None = None
    """How much worse than in the base a measure may be; None: nothing is measured."""
    least: float | None = None
    """Which share of faults the tests have to notice, from 0 to 1; None: there are none."""
    tool: str | None = None
    """Program of `bernstein.checks.tools` that lies in `$TOOLS`."""
    with_tests: Callable[[str], Command] | None = None
    """Makes the same command for tests that another command runs."""
    of_severity: Callable[[Severity], Command] | None = None
    """Makes the same command for findings of another severity than the default, and above."""
    database: str | None = None
    """Variable from which its tool takes the address of the database that it asks; None: it asks
    none."""
    by_file: bool = False
    """Each file is judged by itself: work that others have yet to land changes no verdict."""


@dataclass(frozen=True)
class Formats:
    """The gate is a shell command that rewrites changed files before anything judges them.

    What it leaves is what is judged; it keeps nothing back. A Project may name another command, and
    another image.
    """

    command: str
    """`$CHANGED` is the file that names them, one a line; it is in no tree."""
    pinned: tuple[str, ...] = ()
    """Base names of files that are taken from the pinned commit, and that it does not change."""


@dataclass(frozen=True)
class Writes:
    """The gate has a model write a test, in a Job that executes nothing, and then runs it, in one
    that has no key: `$TEST` is the file, beside the tree and not in it.

    With 0 the test passes, with 1 it fails; with any other code it was of no use, and another one
    is written. A Project may name another command, and another image.
    """

    asks: Asks
    command: str


@dataclass(frozen=True)
class Plugin:
    """The gate is a Project's own class in Python, from the image or the pinned commit, never from
    the tree that is judged: checkout lays it out beside the program that runs it."""

    says_required: bool
    """The class says whether it is required: the Project does not."""
    says_condition: bool
    """The class says for which changes it runs."""


def needs(*modules: str) -> str:
    """Begins a shell command that needs these modules of Python: without them it ends as one that
    is not found. Python would end with 1, as tests do that fail.

    It asks outside of the tree: what that holds under such a name is no tool.
    """
    return f"if ! (cd / && python3 -c 'import {', '.join(modules)}'); then exit 127; fi; "


WITHOUT_COV = (
    "(cd / && python3 -c 'import pytest_cov') 2> /dev/null"
    ' && export PYTEST_ADDOPTS="${PYTEST_ADDOPTS:-} --no-cov"; '
)
"""Begins a shell command that runs tests to see what they do. Where pytest-cov of the repository
measures them (`addopts = --cov`), nobody else would see what they run, and a part of them would
fail where more of the code is to be run (`--cov-fail-under`)."""

PLUGIN_TOOL = "gate_plugin"
"""Program of `bernstein.checks.tools` that asks a class."""


def asking_plugin(name: str) -> str:
    """The shell command that asks the class of this name.

    The program takes the shell's place, so that it is the first process of the container. `-I`
    keeps Python from looking for modules in the tree.
    """
    return f'exec python3 -I -B -X utf8 "$TOOLS/{PLUGIN_TOOL}.py" {name}'


@dataclass(frozen=True)
class Gate:
    """One built-in gate, with its defaults for what the Project's settings do not say."""

    name: str
    condition: GateCondition
    """The changes that it runs for; for others it is Skipped."""
    default_on: bool
    """Whether it runs when the Project does not list it."""
    runs: Command | Reads | Asks | Formats | Writes
    required: bool = True
    """Whether the work is blocked when it does not pass."""
    runs_code: bool = False
    """Its tool runs the work's own code, which may ask anybody that it reaches."""
    lasts: bool = True
    """What it says of a tree is as good later: it asks nobody outside of the tree, the commit
    before it and its image, and measures no time. A Project's own command is taken to be so."""
