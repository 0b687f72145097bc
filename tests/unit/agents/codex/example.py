"""What the real codex printed in a run that succeeded, and in one whose key was refused."""

from __future__ import annotations

from pathlib import Path

from tests.unit.agents.examples import AdapterExample, Output

RECORDINGS = Path(__file__).parent / "recordings"


def recorded(name: str) -> Output:
    stdout, code, stderr = (
        (RECORDINGS / f"{name}.{end}").read_bytes() for end in ("out", "code", "err")
    )
    return Output(stdout, int(code), stderr)


EXAMPLE = AdapterExample(succeeds=recorded("hello"), fails=recorded("e401"))
