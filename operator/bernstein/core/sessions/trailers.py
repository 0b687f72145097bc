"""How a session ended, in the trailers of its last commit.

The recorder writes them: what it saw of the end travels with the work, too, where its termination
message is lost and no server hears it. The agent writes neither the commit nor these words, which
are all ours. They end the message, so that nothing before them, such as a title, is read as them.
"""

from __future__ import annotations

import re

from bernstein.agents import low_confidence
from bernstein.api.pod import FinalRecord
from bernstein.api.reasons import Reason

OUTCOMES = frozenset(
    (
        *("Succeeded", Reason.AGENT_FAILED, Reason.RATE_LIMITED, Reason.USAGE_LIMITED),
        *(Reason.MODEL_AUTH_FAILED, Reason.PROVIDER_UNAVAILABLE, Reason.MAX_TURNS),
        *(Reason.REFUSED, Reason.NO_FINAL_RECORD, Reason.BLOCKED, Reason.BLOCK_REFUSED),
        *(Reason.DOCUMENT_REFUSED, Reason.STALLED),
    )
)
_OUTCOME, _UNSURE = "Bernstein-Outcome", "Bernstein-Unsure"
_END_BYTES = 200
_END = re.compile(
    rf"\n{_OUTCOME}: ([A-Za-z]+)\n(?:{_UNSURE}: ([a-z' ]+)\n)?\Z".encode(),
)


def of(final: FinalRecord, stopped: str | None = None) -> tuple[tuple[str, str], ...]:
    """The trailers that tell of this end, as names and values; none for an end without a word."""
    word = Reason.STALLED if stopped == Reason.STALLED else final.outcome
    if word not in OUTCOMES:
        return ()
    unsure = ((_UNSURE, final.low_confidence),) if final.low_confidence else ()
    return ((_OUTCOME, str(word)), *unsure)


def read(message: bytes) -> tuple[str, str]:
    """The outcome that a commit's message ends with, and how the agent said that it is not sure.
    Both are "" where it is not exactly as it is written here."""
    end = _END.search(message[-_END_BYTES:])
    word, unsure = (each.decode() for each in end.groups(b"")) if end else ("", "")
    told = word in OUTCOMES and (not unsure or unsure in low_confidence.WORDS)
    return (word, unsure) if told else ("", "")
