"""What the client makes of answers, of none, and of whoever means no good."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import traceback
from decimal import Decimal
from typing import Any

import httpx
import pytest

from bernstein.api.pod import Usage
from bernstein.llm.allowance import Allowance, Ceiling, Purse, Rate
from bernstein.llm.client import Client, Limits
from bernstein.llm.errors import ModelError
from bernstein.llm.providers import BY_NAME
from bernstein.llm.question import Question
from tests.unit.llm.asked import KEY, MODEL, QUESTION, World, answered, refused


async def failed(world: World, question: Question = QUESTION) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await world.ask(question)
    return caught.value


# --- tried again --------------------------------------------------------------------------------


async def test_it_waits_as_long_as_the_provider_asks(world: World) -> None:
    limited = refused(429, "rate_limit_error", **{"retry-after": "7"})
    world.answers = [limited, refused(529, "overloaded_error"), answered("yes")]

    answer = await world.ask()

    assert answer.text == "yes"
    assert world.waits == [7.0, 2.0]
    # Errors cost nothing.
    assert world.allowance.used == {MODEL: Usage(input=20, output=3)}
    assert world.allowance.requests == 3


async def test_it_gives_up_after_some_attempts(world: World) -> None:
    world.answers = [refused(500)]

    error = await failed(world)

    assert error.reason == "ProviderUnavailable"
    assert len(world.requests) == Limits().attempts == 4
    assert world.waits == [1.0, 2.0, 4.0]


async def test_a_wait_that_is_over_too_late_is_not_begun(world: World) -> None:
    world.answers = [refused(429, "rate_limit_error", **{"retry-after": "120"})]

    error = await failed(world)

    assert (error.reason, error.retry_after) == ("RateLimited", 120.0)
    assert world.waits == []


async def test_all_attempts_together_have_the_time_of_one_question(world: World) -> None:
    world.limits = Limits(seconds=60, attempts=100)
    world.takes = 20
    world.answers = [refused(500)]

    await failed(world)

    assert len(world.requests) == 3
    assert world.time < 66


@pytest.mark.parametrize(
    ("status", "kind"),
    [(400, "invalid_request_error"), (401, "authentication_error"), (402, "billing_error")],
)
async def test_what_does_not_pass_by_itself_is_not_tried_again(
    world: World, status: int, kind: str
) -> None:
    world.answers = [refused(status, kind, **{"retry-after": "1"})]

    await failed(world)

    assert len(world.requests) == 1


async def test_a_connection_that_breaks_is_tried_again(world: World) -> None:
    world.answers = [httpx.ConnectError("no"), httpx.ReadError("no"), answered()]

    await world.ask()

    # The second request may have been answered, and may be charged for.
    (used,) = world.allowance.used.values()
    sent = len(world.requests[1].content)
    assert used == Usage(input=sent + 4096 + 20, output=1024 + 3)
    assert not world.allowance.exact


async def test_the_key_is_read_for_every_request(world: World) -> None:
    world.answers = [answered()]
    async with world.client() as client:
        await client.ask(MODEL, QUESTION)
        world.key_file.write_text("sk-another")
        await client.ask(MODEL, QUESTION)

    assert [request.headers["x-api-key"] for request in world.requests] == [KEY, "sk-another"]


async def test_a_model_that_takes_no_temperature_is_asked_without_one(world: World) -> None:
    text = "`temperature` is not supported by this model"
    world.answers = [refused(400, "invalid_request_error", text), answered()]

    answer = await world.ask()

    assert [json.loads(r.content).get("temperature") for r in world.requests] == [0.0, None]
    assert answer.temperature is None
    assert world.waits == []


async def test_a_model_that_always_minds_the_temperature_is_asked_twice(world: World) -> None:
    world.answers = [refused(400, "invalid_request_error", "temperature")]

    assert (await failed(world)).reason == "RequestRefused"
    assert len(world.requests) == 2


# --- bounds -------------------------------------------------------------------------------------


async def test_a_question_that_is_too_long_is_not_sent(world: World) -> None:
    world.answers = [answered()]
    world.limits = Limits(prompt_bytes=1000)

    error = await failed(world, Question("s", "x" * 1000))

    assert error.reason == "PromptTooLarge"
    assert world.requests == []
    assert world.allowance.requests == 0


async def test_more_than_the_allowance_is_not_asked(world: World) -> None:
    world.may_use(requests=10, output_tokens=1500)
    world.answers = [answered(output_tokens=600)]

    await world.ask()
    error = await failed(world)

    assert error.reason == "ModelBudgetSpent"
    assert len(world.requests) == 1


async def test_retries_count_against_the_allowance(world: World) -> None:
    world.may_use(requests=2)
    world.answers = [refused(500)]

    assert (await failed(world)).reason == "ModelBudgetSpent"
    assert len(world.requests) == 2


async def test_questions_asked_together_stay_within_the_allowance(world: World) -> None:
    world.may_use(output_tokens=3 * 1024)
    world.answers = [answered(output_tokens=1024)]
    async with world.client() as client:
        asked = (client.ask(MODEL, QUESTION) for _ in range(9))
        answers = await asyncio.gather(*asked, return_exceptions=True)

    assert len(world.requests) == 3
    assert sum(isinstance(answer, ModelError) for answer in answers) == 6


async def test_questions_asked_together_wait_for_what_the_others_leave_of_the_money(
    world: World,
) -> None:
    """Each may cost $0.028, most of it for the longest answer, and costs much less. Whoever waits
    for the others has as long for its own answer as they had."""
    rates = {MODEL: Rate(Decimal(3), Decimal(15))}
    world.allowance = Allowance(Ceiling(), Purse(Decimal("0.03"), rates))
    world.answers = [answered()]
    world.takes = 100.0
    async with world.client() as client:
        asked = (client.ask(MODEL, QUESTION) for _ in range(9))
        answers = await asyncio.gather(*asked, return_exceptions=True)

    assert [answer for answer in answers if isinstance(answer, BaseException)] == []
    assert len(world.requests) == 9


async def test_an_answer_that_is_too_large_is_not_read_to_its_end(world: World) -> None:
    world.limits = Limits(answer_bytes=10_000)
    world.answers = [answered("x" * 10_000)]

    error = await failed(world)

    assert error.reason == "AnswerTooLarge"
    assert not world.allowance.exact


async def test_of_a_large_error_the_beginning_is_read(world: World) -> None:
    world.answers = [httpx.Response(400, content=b"{" + b" " * 10**6)]

    error = await failed(world)

    assert (error.reason, error.message) == ("RequestRefused", "the provider answered 400")


async def test_a_provider_that_lies_about_tokens_is_charged_with_what_is_possible(
    world: World,
) -> None:
    world.answers = [answered(input_tokens=10**15, output_tokens=-5)]

    answer = await world.ask()

    assert not answer.exact
    assert answer.usage == Usage(input=len(world.requests[0].content) + 4096, output=1024)


# --- nonsense -----------------------------------------------------------------------------------

MESSAGE = {"type": "message", "stop_reason": "end_turn", "usage": {}}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>sign in</html>",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 10_000,
        b'{"type":"message"}',
        json.dumps({**MESSAGE, "content": "yes"}).encode(),
        json.dumps({**MESSAGE, "content": [{"type": "text", "text": 7}]}).encode(),
        json.dumps({**MESSAGE, "content": [{"type": "text", "text": " \n"}]}).encode(),
        json.dumps({**MESSAGE, "content": [None, [], 7, {"type": []}]}).encode(),
        json.dumps({**MESSAGE, "stop_reason": {"x": []}}).encode(),
        json.dumps({**MESSAGE, "content": [{"type": "text", "text": f"it is {KEY}"}]}).encode(),
    ],
    ids=range(15),
)
async def test_what_is_no_answer_is_told_apart(world: World, body: bytes) -> None:
    world.answers = [httpx.Response(200, content=body)]

    error = await failed(world)

    assert error.reason == "AnswerInvalid"
    assert len(world.requests) == 1
    assert "sign in" not in str(error)
    assert KEY not in str(error)


BODIES: tuple[Any, ...] = (
    {"error": "no"},
    {"error": []},
    {"error": {"message": {}, "code": [], "type": 7, "details": [1, {"violations": [None]}]}},
    {"error": {"details": {"a": 1}, "metadata": "x", "param": []}},
    {"object": "response", "status": "completed", "output": [[], {"type": "message"}]},
    {"object": "response", "status": "failed", "error": {"code": {}}},
    {"choices": [{"finish_reason": "stop", "message": {"content": {}}, "error": None}]},
    {"choices": "abc", "candidates": [[]], "usageMetadata": [], "usage": "x"},
    {"candidates": [{"finishReason": "STOP", "content": {"parts": "x"}}]},
    [{"error": {"message": "in a list"}}],
)


@pytest.mark.parametrize("provider", BY_NAME)
@pytest.mark.parametrize("status", [200, 400, 404, 429, 500])
async def test_no_body_breaks_the_client(world: World, provider: str, status: int) -> None:
    world.at(provider=provider)
    world.limits = Limits(attempts=1)
    for body in BODIES:
        world.answers = [httpx.Response(status, json=body)]
        await failed(world)


@pytest.mark.parametrize("status", [201, 204, 301, 302, 307, 404, 405])
async def test_an_address_that_is_none_of_an_api_is_said(world: World, status: int) -> None:
    headers = {"location": "https://elsewhere.example/"}
    world.answers = [httpx.Response(status, headers=headers, content=b"<html>")]

    error = await failed(world)

    assert error.reason == "ModelAddressInvalid"
    assert len(world.requests) == 1


async def test_a_compressed_answer_is_not_unpacked(world: World) -> None:
    packed = {"content-encoding": "gzip"}
    stream = httpx.ByteStream(gzip.compress(answered().content))
    world.answers = [httpx.Response(200, headers=packed, stream=stream)]

    error = await failed(world)

    assert error.reason == "AnswerInvalid"
    assert "compressed" in error.message


async def test_an_answer_may_speak_of_keys_like_ours(world: World) -> None:
    """Those of a provider all begin alike."""
    world.answers = [answered(f"a.py holds a key: {KEY[:11]}***")]

    assert "sk-the-key-" in (await world.ask()).text


# --- secrets ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        refused(401, "authentication_error", f"bad key {KEY}"),
        refused(400, "invalid_request_error", f"header x-api-key: {KEY[:16]}"),
        httpx.Response(302, headers={"location": f"https://x.example/{KEY}"}),
        httpx.Response(200, content=KEY.encode()),
        httpx.ConnectError(f"cannot send {KEY}"),
        httpx.ReadError(f"cannot read {KEY}"),
        httpx.LocalProtocolError(f"Illegal header value {KEY}"),
    ],
    ids=range(7),
)
async def test_nothing_secret_is_in_errors_notes_and_logs(
    world: World, answer: httpx.Response | Exception, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    world.answers = [answer]

    error = await failed(world)

    told = "".join(traceback.format_exception(error)) + repr(vars(error)) + repr(world.notes)
    assert KEY not in told + caplog.text
    assert KEY[:16] not in told + caplog.text
    assert "Is it right?" not in repr(world.notes) + caplog.text


async def test_what_happens_is_noted(world: World) -> None:
    world.answers = [refused(529, "overloaded_error", "busy"), answered()]

    await world.ask()

    about = {"provider": "anthropic", "host": "api.anthropic.com", "model": MODEL}
    ours = {"reason": "ProviderUnavailable", "message": "the provider answered 529"}
    why = {**ours, "said": "busy"}
    tokens = {"input_tokens": 20, "output_tokens": 3}
    (wait,) = world.waits
    again = {"again": True, "after_seconds": round(wait, 1)}
    assert world.notes == [
        ("model-failed", {**about, "attempt": 1, **again, **why}),
        ("model-answered", {**about, "attempt": 2, "seconds": 0.0, "exact": True, **tokens}),
    ]


async def test_nobodys_cookies_come_back(world: World) -> None:
    answer = answered()
    answer.headers["set-cookie"] = "a=b"
    world.answers = [answer]
    async with world.client() as client:
        await client.ask(MODEL, QUESTION)
        await client.ask(MODEL, QUESTION)

    assert "cookie" not in world.requests[1].headers


def test_an_endpoint_that_can_be_none_is_refused_before_anything_is_asked(world: World) -> None:
    world.at(base_url="http://stub:8099")

    with pytest.raises(ModelError):
        Client(world.endpoint, world.allowance)
