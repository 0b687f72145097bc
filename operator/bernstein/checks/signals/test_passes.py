"""Signal `test_passes`: a shell command ends with 0."""

from __future__ import annotations

from bernstein.checks.signal import SignalCommand, SignalKind

SIGNAL = SignalKind(
    type="test_passes",
    needs=("command",),
    takes=("timeout_seconds",),
    detail=lambda signal: signal.command or "",
    sentence=lambda signal: f"the command `{signal.command}` succeeds",
    runs=SignalCommand(lambda signal: signal.command),
)
