"""What models are told of plan files: those that draft one, and agents that leave one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from bernstein.api.vocabulary import COMPLEXITIES, ROLES, SCOPES
from bernstein.checks.signal import SignalKind
from bernstein.checks.signals import SIGNALS

WHAT: Final = """\
A plan file says which work coding agents do in one repository: stages, each
with steps. A step is the task of one agent. It begins with the repository as the steps before it
have left it, and knows nothing but what its own step says."""
_FORM = """\
name: what the plan achieves, in a few words
description: the same in one or two sentences
stages:
  - name: one word for the stage, which no other stage has
    depends_on: [names of the stages that must be done before it]
    steps:
      - title: what the step does, in a few words that no other step has
        description: >-
          what the agent must know and do, in a few sentences
        role: backend
        scope: small
        complexity: low
{more}        files: [paths that the step writes]
        completion_signals:
          - type: path_exists
            path: a path"""
_MODEL = "        model: sonnet\n"
_RULES = """\
- Write no other fields. Without `depends_on` a stage waits for the one before it; `[]`: for none.
- Steps of one stage run at the same time: none may need what another one makes, and no two may
  write the same file.
- `role` is one of: {roles}.
- `scope` is one of {scopes}: less than 30 minutes of work, 30 to 90, more. `complexity` is one of
  {complexities}.
- `files` are paths or globs, relative to the repository. A step that changes no file, such as one
  that runs all tests, says `changes: none` in place of `files`.
- Each step has at least one completion signal: something that a machine can check once the step is
  done. These are the types, each with the fields that it has:
{signals}
- A command is one that the repository's own files show to work there."""


def form(*, model: bool = False) -> str:
    """One of a single step, with words in place of what is to be written; `model`: it says which
    model does the step."""
    return _FORM.format(more=_MODEL if model else "")


def rules(roles: Iterable[str] = ROLES) -> str:
    """What holds of all of them, in lines of a list. `roles`: the names of those that steps may
    have."""
    return _RULES.format(
        roles=", ".join(roles),
        scopes=", ".join(SCOPES),
        complexities=", ".join(COMPLEXITIES),
        signals="\n".join(_signals(SIGNALS)),
    )


def _signals(kinds: Iterable[SignalKind]) -> Iterator[str]:
    for kind in kinds:
        optional = f"if needed, {', '.join(kind.takes)}" if kind.takes else ""
        fields = "; ".join(filter(None, (", ".join(kind.needs), optional)))
        yield f"  - {kind.type}: {fields}"
