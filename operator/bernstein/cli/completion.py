"""How a shell asks the program what a word could become."""

from __future__ import annotations

COMPLETION = "_BERNSTEIN_COMPLETE"
"""The variable that shells set to ask; `bernstein completion` prints what sets it."""
