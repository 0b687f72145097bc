"""The command that says yes to what is asked."""

from __future__ import annotations

from bernstein.api.approvals.approval import Asks

WITH_A_REASON = '--reason "…"'
"""What a yes needs where work is to go on without a gate."""


def approve(subject: str, asks: Asks | None, *more: str) -> str:
    """`subject` as the command line takes it; `more`: further options. It can be called as it is,
    but for the reason, of which nobody else knows the words."""
    why = (WITH_A_REASON,) if asks is not None and asks.gate is not None else ()
    return " ".join(("bernstein approve", subject, *more, *why))
