"""Several models asked the same: one verdict, which says who has said what.

enough say yes                                 ──▶ Passed
so many say no that enough cannot say yes      ──▶ Failed, with what each of these says
enough say yes or would, had they seen it all  ──▶ Skipped(Unsure): a person decides
else some could not answer, and that counts    ──▶ Errored, as the first of them
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bernstein.api.pod import EXCERPT_CHARACTERS
from bernstein.api.reasons import VerdictReason
from bernstein.checks.verdict import Verdict, errored, failed, passed
from bernstein.core.sanitise import line
from bernstein.core.sanitise import text as sanitise

_NAME = 100
Said = tuple[str, Verdict]
"""The name of a model, and the verdict that follows from its own answer."""


def combined(said: Sequence[Said], quorum: int) -> Verdict:
    """The verdict of all, of whom `quorum` have to say yes."""
    if not 1 <= quorum <= len(said):
        return errored("InvalidConfig", f"{quorum} of {len(said)} models cannot say yes")
    yes, no, unsure = (_that(said, word) for word in ("Passed", "Failed", "Skipped"))
    if len(yes) >= quorum:
        names = ", ".join(line(name, _NAME) for name, _ in yes)
        return passed("\n".join([f"approved by {names}", *_blocks(no, len(said))]))
    if len(no) > len(said) - quorum:
        return failed(no[0][1].reason, "\n".join(_blocks(no, len(no))))
    if len(yes) + len(unsure) >= quorum:
        doubts = "\n".join(_blocks([*unsure, *no], len(said)))
        return Verdict("Skipped", VerdictReason.UNSURE, doubts)
    return _that(said, "Errored")[0][1]


def _that(said: Sequence[Said], verdict: str) -> list[Said]:
    return [each for each in said if each[1].verdict == verdict]


def _blocks(said: Iterable[Said], of: int) -> list[str]:
    """What each says, in its share of the room."""
    share = EXCERPT_CHARACTERS // of - _NAME - len(":\n\n")
    return [
        f"{line(name, _NAME)}:\n{sanitise(verdict.excerpt, share)}".rstrip()
        for name, verdict in said
    ]
