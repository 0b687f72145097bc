"""What a session is made of."""

from __future__ import annotations

from decimal import Decimal

from bernstein.api.project import CopiedPrice, Price
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.core.money import spend
from bernstein.core.sessions.object import session_object
from tests.unit.core import objects
from tests.unit.core.objects import metadata, project, snapshot, with_session

CHEAP = Price(model="sonnet", input="1", output="1")
DEAR = Price(model="sonnet", input="7", output="7")
USAGE = {"usage": {"input": 1_000_000}}


def made(model: str, *prices: Price) -> AgentSession:
    """A session that has used a million tokens, made while these were the Project's prices."""
    subject = objects.task(model=model, status=with_session(TaskState.CLAIMED))
    offers = project(budget={"prices": [price.dump() for price in prices]})
    obj = session_object(snapshot(subject, project=offers), subject.status)
    meta = metadata(obj["metadata"]["name"], "uid-session")
    return AgentSession.model_validate(obj | {"metadata": meta, "status": USAGE})


def test_a_session_is_counted_at_the_price_of_the_time_when_it_was_made() -> None:
    later = project(budget={"prices": [DEAR.dump()]})

    assert made("sonnet", CHEAP).spec.price == CopiedPrice.model_validate(CHEAP.dump())
    assert spend.cost_of(made("sonnet", CHEAP), later) == Decimal(1)
    assert spend.cost_of(made("sonnet", CHEAP), None) == Decimal(1)


def test_a_price_that_nobody_knew_counts_from_when_it_is_known() -> None:
    unknown = made("mystery")
    later = project(budget={"prices": [Price(model="mystery", input="2", output="2").dump()]})

    assert unknown.spec.price is None
    assert spend.cost_of(unknown, project()) == 0
    assert spend.cost_of(unknown, later) == Decimal(2)


def test_who_names_no_agent_gets_the_default_one_and_without_that_the_first() -> None:
    agents = [{"name": name, "adapter": "demo", "image": "i"} for name in ("a", "b")]
    subject = objects.task(status=with_session(TaskState.CLAIMED))

    for default, chosen in ((None, "a"), ("b", "b")):
        of = project(agents=agents, defaultAgent=default)
        spec = session_object(snapshot(subject, project=of), subject.status)["spec"]
        assert spec["agent"] == chosen


WORK = {"ref": "refs/bernstein/0/work/s1", "sha": "a" * 40}


def test_a_session_is_shown_what_the_attempt_before_left() -> None:
    subject = objects.task(status=with_session(TaskState.CLAIMED, 2, rejected=WORK))

    assert session_object(snapshot(subject), subject.status)["spec"]["rejected"] == WORK


def test_who_goes_on_from_a_checkpoint_has_both_for_its_pod_may_not_get_the_files() -> None:
    left = {"rejected": WORK, "checkpoint": WORK["ref"], "checkpointSha": WORK["sha"]}
    subject = objects.task(status=with_session(TaskState.CLAIMED, 2, **left))

    spec = session_object(snapshot(subject), subject.status)["spec"]
    assert (spec["rejected"], spec["resumeRef"], spec["resumeSha"]) == (WORK, *WORK.values())
