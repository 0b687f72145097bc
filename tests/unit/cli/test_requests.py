"""What people ask for, and what is told of a request that was refused."""

from __future__ import annotations

import pytest

from bernstein.api.plan import Plan
from bernstein.api.reasons import Reason
from bernstein.api.requests import (
    KILL,
    RETRY,
    UNBLOCK,
    UNCLAIM,
    VERIFY,
    Answer,
    RefusalReason,
)
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster
from bernstein.cli.requests import ask, refused
from bernstein.core.reasons import policy
from bernstein.kube.client import Client
from bernstein.resources import TASKS
from tests.unit.cli.scenes import known_as
from tests.unit.core import objects
from tests.unit.core.objects import NOW
from tests.unit.kube.apiserver import ApiServer

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


def test_a_remedy_that_the_answer_has_is_told_as_what_helps() -> None:
    said = answer("GateErrored").model_copy(
        update={"message": "'lint' could not run. Remedy: Install it."}
    )

    refusal = refused(objects.task(), said)

    assert refusal.message.endswith("Verify is refused: 'lint' could not run.")
    assert refusal.remedy == "Install it."


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


# --- asking ---------------------------------------------------------------------------------------


async def asked(api: ApiServer, client: Client, *wanted: tuple[str, str, str]) -> list[str]:
    """The ids that people get who ask for this, one after the other: by whom, verb, and reason."""
    api.put(TASKS, "work", "team", **objects.task().dump())
    cluster, ids = Cluster(client, "team"), []
    for user, verb, reason in wanted:
        known_as(api, user)
        task = await cluster.find_task("work")
        assert task is not None
        ids.append(await ask(cluster, task, verb, reason))
    return ids


def stand(api: ApiServer) -> list[tuple[str, str]]:
    requests = api.get(TASKS, "work", "team")["spec"]["requests"]
    return [(request["by"], request["reason"]) for request in requests]


@pytest.mark.parametrize("verb", [KILL, RETRY, UNBLOCK, UNCLAIM, VERIFY])
async def test_who_asks_again_before_there_is_an_answer_adds_nothing(
    api: ApiServer, client: Client, verb: str
) -> None:
    first, again = await asked(api, client, ("ann", verb, "why"), ("ann", verb, "why"))

    assert again == first
    assert stand(api) == [("ann", "why")]


@pytest.mark.parametrize("other", [("ben", "it is Thursday"), ("ann", "it is Friday")])
async def test_what_another_unblock_says_is_not_lost(
    api: ApiServer, client: Client, other: tuple[str, str]
) -> None:
    """The next agent is told it, or else whoever said it that it is not."""
    user, reason = other
    first = ("ann", UNBLOCK, "it is Thursday")

    one, two = await asked(api, client, first, (user, UNBLOCK, reason))

    assert one != two
    assert stand(api) == [("ann", "it is Thursday"), other]


async def test_of_what_says_nothing_to_the_agent_one_request_does_for_all(
    api: ApiServer, client: Client
) -> None:
    one, two = await asked(api, client, ("ann", KILL, "it runs wild"), ("ben", KILL, "no money"))

    assert one == two
    assert stand(api) == [("ann", "it runs wild")]


def test_what_a_refusal_says_itself_helps_and_nothing_else() -> None:
    said = answer(Reason.GATE_FAILED, "DeliverPartial")
    said = said.model_copy(update={"message": "it does not pass. Remedy: Change the gates."})

    refusal = refused(objects.plan(), said)

    assert refusal.message.endswith("DeliverPartial is refused: it does not pass.")
    assert refusal.remedy == "Change the gates."
