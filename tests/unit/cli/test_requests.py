"""What is told of a request that was refused."""

from __future__ import annotations

import pytest

from bernstein.api.plan import Plan
from bernstein.api.reasons import Reason
from bernstein.api.requests import RETRY, VERIFY, Answer, RefusalReason
from bernstein.api.task import Task
from bernstein.cli.requests import refused
from bernstein.core.reasons import policy
from tests.unit.core import objects
from tests.unit.core.objects import NOW

OTHER = frozenset(
    {
        RefusalReason.STILL_MOVES,
        RefusalReason.SUSPENDED,
        RefusalReason.NOTHING_TO_DELIVER,
    }
)
"""What no request is refused for that is asked of a Task by way of this."""


def answer(reason: str, verb: str = VERIFY) -> Answer:
    asked = {"id": "a", "verb": verb, "by": "ann@example.org", "asked": "look again"}
    said = {"answer": "Refused", "reason": reason, "message": "no", "time": NOW}
    return Answer.model_validate(asked | said)


def refusal(reason: str) -> str | None:
    return refused(objects.task(), answer(reason)).remedy


@pytest.mark.parametrize("reason", sorted(set(RefusalReason) - OTHER))
def test_whoever_is_refused_is_told_what_helps(reason: str) -> None:
    assert refusal(reason)


@pytest.mark.parametrize("reason", [Reason.GATE_ERRORED, Reason.BASE_FAILS, Reason.REF_MOVED])
def test_where_checks_could_not_judge_it_is_what_helps_against_that(reason: Reason) -> None:
    assert refusal(reason) == policy(reason).remedy


def test_of_a_reason_that_a_newer_operator_has_nothing_is_made_up() -> None:
    assert not refusal("SomethingNewer")


@pytest.mark.parametrize(
    ("subject", "name"),
    [(objects.task(), "work"), (objects.plan(), "plan/web")],
    ids=["Task", "Plan"],
)
def test_a_remedy_names_it_as_commands_take_it(subject: Plan | Task, name: str) -> None:
    refusal = refused(subject, answer("NothingToRetry", RETRY))

    assert refusal.remedy == f"see how it stands with `bernstein logs {name}`"
    assert refusal.message.endswith("Retry is refused: no")


def test_what_helps_with_one_verb_is_said_instead() -> None:
    refusal = refused(objects.plan(), answer("Cancelled"), {"Cancelled": "wait for {name}"})

    assert refusal.remedy == "wait for plan/web"
