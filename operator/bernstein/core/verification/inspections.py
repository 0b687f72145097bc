"""Which Job answers for which checks: those that execute nothing share a few.

    inspect, inspect-2, …    checks that only read
    judge-1, judge-2, …      checks that ask a model
    judge-<check>            one whose test a model is to write: it fills a message by itself

A Job leaves its verdicts in one termination message, and gets its questions in one word of its
container: neither has room for all that a Plan may ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bernstein.api.pod import INSPECT, JUDGE
from bernstein.checks.spec import CheckSpec
from bernstein.core.verification.expected.required import asking, reading

MOST_TOGETHER = 24
"""Of one Job: as many verdicts, with a few words each, fit TERMINATION_LIMIT. A Task's fit one."""
MOST_BYTES = 64_000
"""Of the questions of one Job, escaped. Linux takes no word of a command of 128 KiB or more."""
_MOST_ASKED_BYTES = 24_000
"""The same where models are asked: the step's description is in that word, too."""


def shared(checks: Iterable[CheckSpec]) -> dict[str, tuple[CheckSpec, ...]]:
    """The checks that execute nothing, in order, by what their Job is called."""
    checks = tuple(checks)
    return inspections(checks) | questions(checks)


def inspections(checks: Iterable[CheckSpec]) -> dict[str, tuple[CheckSpec, ...]]:
    """The checks that only read, in order, by what their Job is called."""
    return {
        INSPECT if number == 1 else f"{INSPECT}-{number}": together
        for number, together in enumerate(_shares(reading(checks), MOST_BYTES), start=1)
    }


def questions(checks: Iterable[CheckSpec]) -> dict[str, tuple[CheckSpec, ...]]:
    """The checks that a model answers, in order, by what their Job is called."""
    asked = asking(checks)
    answered = (check for check in asked if check.test is None)
    return {
        f"{JUDGE}-{number}": together
        for number, together in enumerate(_shares(answered, _MOST_ASKED_BYTES), start=1)
    } | {writer(check.name): (check,) for check in asked if check.test is not None}


def writer(check: str) -> str:
    """What the Job is called in which a model writes the test of this check."""
    return f"{JUDGE}-{check}"


def is_inspection(called: str) -> bool:
    """Whether that is the Job of checks that only read: no other has such a hyphen in its name."""
    return called == INSPECT or called.startswith(f"{INSPECT}-")


def is_judge(called: str) -> bool:
    """Whether that is a Job that asks models: no gate has a hyphen in its name."""
    return called.startswith(f"{JUDGE}-")


def _shares(checks: Iterable[CheckSpec], most_bytes: int) -> Iterator[tuple[CheckSpec, ...]]:
    share: tuple[CheckSpec, ...] = ()
    size = 0
    for check in checks:
        more = check.bytes_to_ask
        if share and (len(share) == MOST_TOGETHER or size + more > most_bytes):
            yield share
            share, size = (), 0
        share, size = (*share, check), size + more
    if share:
        yield share
