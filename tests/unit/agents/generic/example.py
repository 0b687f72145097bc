"""Output of a command that succeeds, and of one that fails."""

from __future__ import annotations

from tests.unit.agents.examples import AdapterExample, Output

EXAMPLE = AdapterExample(
    succeeds=Output(b"formatted 3 files\n", 0), fails=Output(b"", 2, b"no such file\n")
)
