"""What is said of models: in the words of the conventions, and nothing that anybody wrote."""

import pytest

from bernstein.api.meta import UsageCounts
from bernstein.api.verification import ModelCalls, Verification
from bernstein.core.traces.models import asked, provider
from bernstein.core.traces.session import of_session
from bernstein.core.traces.span import Span, span_id
from bernstein.core.traces.task import of_task
from tests.unit.core import objects
from tests.unit.core.objects import at, session, task, verification
from tests.unit.core.traces.histories import TWICE, USAGE, check, moves, one, run, told


def test_a_session_says_which_model_worked_and_what_it_used() -> None:
    (span,) = of_session(run())

    assert (span.name, span.kind) == ("invoke_agent demo", "Client")
    assert (span.start, span.end, span.error) == (at(-60), at(20), None)
    found = {key: value for key, value in span.attributes if key.startswith("gen_ai.")}
    assert found == {
        "gen_ai.agent.name": "demo",
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "_OTHER",
        "gen_ai.request.model": "sonnet",
        "gen_ai.usage.input_tokens": 1110,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 1000,
        "gen_ai.usage.cache_creation.input_tokens": 10,
    }


def test_a_session_is_part_of_its_task() -> None:
    (span,) = of_session(run())

    assert span.parent_id == span_id("uid-work")
    assert span.trace_id == of_task(task(status=objects.done()), at(1))[-1].trace_id


def test_a_session_that_failed_says_why_in_one_word() -> None:
    (span,) = of_session(run(reason="AgentFailed"))

    assert (span.error, told(span)["error.type"]) == ("AgentFailed", "AgentFailed")


def test_a_session_at_work_is_no_span_until_it_is_deleted() -> None:
    assert of_session(session()) == []
    assert [span.error for span in of_session(session(), at(5))] == ["Deleted"]


def test_models_that_judged_are_told_with_the_verdict() -> None:
    usage = UsageCounts(input=7, output=3)
    call = ModelCalls(job="work-s1-judge-1", model="gpt-5", usage=usage, spend_usd="0.5")
    judged = verification(passed=True, verified_at=at(25), calls=[call])

    spans = of_task(task(status=objects.done(verification=judged)))
    chat = one(spans, "chat gpt-5")
    assert chat.parent_id == span_id("uid-work")
    assert told(chat)["gen_ai.provider.name"] == "openai"
    assert told(chat)["gen_ai.usage.input_tokens"] == 7
    assert told(chat)["bernstein.spend.usd"] == 0.5


@pytest.mark.parametrize("passed", [True, False])
def test_what_models_were_asked_stays_the_same_span_in_another_round(passed: bool) -> None:
    """A bypass, or a request to judge the work anew: the calls of the round before stay."""
    usage = UsageCounts(input=7, output=3)
    first, second = (
        ModelCalls(job=f"work-s1-judge-{number}", model="gpt-5", usage=usage) for number in (0, 1)
    )
    before = verification(passed=False, checks=[check("lint", "Failed", ended_at=at(24))])
    rejected = before.model_copy(update={"calls": (first,)})
    again = verification(
        passed=passed, round=1, verified_at=at(70), checks=[check("lint", ended_at=at(69))]
    ).model_copy(update={"calls": (first, second)})

    known, now = (
        {s.span_id: s for s in _judged(each) if s.name == "chat gpt-5"}
        for each in (rejected, again)
    )
    assert (len(known), len(now)) == (1, 2)
    assert known.items() <= now.items()


def _judged(found: Verification) -> list[Span]:
    history = moves(*TWICE[:3])
    return of_task(task(status=objects.done(verification=found, history=history)))


def test_tokens_that_nobody_knows_are_not_told() -> None:
    assert "gen_ai.usage.input_tokens" not in asked("invoke_agent", "sonnet", None)
    assert asked("chat", "sonnet", USAGE)["gen_ai.usage.output_tokens"] == 20


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("claude-sonnet-4-5", "anthropic"),
        ("GPT-5-mini", "openai"),
        ("google/gemini-2.5-pro", "gcp.gemini"),
        ("codex", "openai"),
        ("house-model", None),
    ],
)
def test_whose_a_model_is_its_name_tells(name: str, found: str | None) -> None:
    assert provider(name) == found


def test_what_an_agent_wrote_is_no_attribute() -> None:
    secret = "what the agent wrote"
    outcome = run().status.outcome
    assert outcome is not None
    said = outcome.model_copy(update={"text": secret, "message": secret, "remedy": secret})
    ended = run()
    status = ended.status.model_copy(update={"outcome": said})
    (span,) = of_session(ended.model_copy(update={"status": status}))

    assert secret not in repr(span)
