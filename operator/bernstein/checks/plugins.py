"""Gates of a Project's own that are classes in Python: how one is run in the Project's image.

The class comes from the image or from the pinned commit, never from the tree that is judged:
checkout lays it out beside the program that runs it.
"""

from __future__ import annotations

from dataclasses import dataclass

TOOL = "gate_plugin"


@dataclass(frozen=True)
class Plugin:
    """What the Project leaves to the class."""

    says_required: bool
    says_condition: bool


def command(name: str) -> str:
    """The shell command that asks the gate of this name.

    The program takes the shell's place, so that it is the first process of the container. `-I`
    keeps Python from looking for modules in the tree.
    """
    return f'exec python3 -I -B -X utf8 "$TOOLS/{TOOL}.py" {name}'
