"""What is told of a request that was refused."""

from __future__ import annotations

import pytest

from bernstein.api.reasons import Reason
from bernstein.api.requests import VERIFY, Answer, RefusalReason
from bernstein.cli.requests import refused
from bernstein.core.reasons import policy
from tests.unit.core import objects
from tests.unit.core.objects import NOW

OTHER = frozenset(
    {
        RefusalReason.NOTHING_TO_RETRY,  # `retry` says it in words of its own
        RefusalReason.STILL_MOVES,
        RefusalReason.SUSPENDED,
        RefusalReason.NOTHING_TO_DELIVER,
    }
)
"""What no request is refused for that is asked of a Task by way of this."""


def refusal(reason: str) -> str | None:
    asked = {"id": "a", "verb": VERIFY, "by": "ann@example.org", "asked": "look again"}
    said = {"answer": "Refused", "reason": reason, "time": NOW}
    answer = Answer.model_validate(asked | said)
    return refused(objects.task(), answer).remedy


@pytest.mark.parametrize("reason", sorted(set(RefusalReason) - OTHER))
def test_whoever_is_refused_is_told_what_helps(reason: str) -> None:
    assert refusal(reason)


@pytest.mark.parametrize("reason", [Reason.GATE_ERRORED, Reason.BASE_FAILS, Reason.REF_MOVED])
def test_where_checks_could_not_judge_it_is_what_helps_against_that(reason: Reason) -> None:
    assert refusal(reason) == policy(reason).remedy


def test_of_a_reason_that_a_newer_operator_has_nothing_is_made_up() -> None:
    assert not refusal("SomethingNewer")
