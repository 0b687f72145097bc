"""How often something is tried again by itself."""

from __future__ import annotations

MAX_INFRASTRUCTURE_FAILURES = 5
"""In a row and at no cost of an attempt; with more of them a Task fails for good."""
MAX_GATE_ERRORS = 3
"""How often checks that could not run are tried again by themselves."""
MAX_ROUNDS = 100
"""How often the checks of one tree are begun: more rounds mean that something never settles."""
