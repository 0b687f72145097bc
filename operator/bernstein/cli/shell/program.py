"""What the program is called: `bernstein`, or `kubectl bernstein` where kubectl has started it."""

from __future__ import annotations

import os.path
import re
import sys

COMPLETION = "_BERNSTEIN_COMPLETE"
"""The variable that shells set to ask; `bernstein completion` prints what sets it."""
NAME = "bernstein"
PLUGIN = "kubectl-bernstein"
"""The file by which kubectl finds a plugin of that name, and starts it."""
COMPLETES_PLUGIN = "kubectl_complete-bernstein"
"""The file that kubectl asks, from 1.26 on, what a word behind the plugin's name could become."""
_COMMAND = re.compile(rf"`{NAME} (?=[-a-z])")


def words() -> list[str]:
    """With which a person calls the program."""
    called = os.path.basename(sys.argv[0]) if sys.argv else ""  # noqa: PTH119 - quicker to load
    return (
        ["kubectl", NAME] if called.removesuffix(".exe") in (PLUGIN, COMPLETES_PLUGIN) else [NAME]
    )


def name() -> str:
    return " ".join(words())


def named(text: str) -> str:
    """The text, its commands in backticks as a person calls them."""
    return _COMMAND.sub(f"`{name()} ", text) if len(words()) > 1 else text
