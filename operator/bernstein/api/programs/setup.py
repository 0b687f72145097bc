"""The containers that run a Project's setup, between `checkout` and what follows."""

from __future__ import annotations

SETUP = "setup"
"""In the tree that an agent or a check gets."""
SETUP_ON_BASE = "setup-before"
"""In the tree of the commit before the work, where a check is asked of both in one pod."""
SETUPS = (SETUP_ON_BASE, SETUP)
"""In their order."""
LATE = 124
"""Exit code of the launcher where the command was not done in time."""
