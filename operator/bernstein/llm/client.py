"""Asks one endpoint: sends a question, waits for the whole answer, tries again where that helps.

    set aside ──▶ send ──▶ read ──▶ settle ──▶ Answer
        ▲                              │
        └── wait as the provider asks ◀┘ limited, overloaded, unreachable

Whoever answers may send without end, slowly, or nonsense. So the time of a question and the bytes
of an answer are bounded. Nothing is decompressed, no redirect is followed, no cookie and no
variable of the environment is read. What cannot be counted counts with the most that it can be.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

import httpx

from bernstein.api.pod import Usage
from bernstein.core.judging.model_reasons import ModelReason
from bernstein.llm.allowance import Allowance
from bernstein.llm.endpoint import Endpoint
from bernstein.llm.errors import ModelError
from bernstein.llm.failures import failure, refuses_temperature
from bernstein.llm.formats.format import Reply, ReportedError, UnreadableError
from bernstein.llm.question import Answer, Question
from bernstein.llm.usage import counted, likely, most
from bernstein.web import exchange as web
from bernstein.web import retry_after
from bernstein.web.exchange import Fault, NetworkError, TooLargeError, understood
from bernstein.web.json_values import Json, NoJsonError, mapping, parse
from bernstein.web.secret import Secret

_LEAST_SECONDS = 1.0
"""That another try must have: one that is cut off at once would hide why those before failed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one question."""

    seconds: float = 120.0
    """Until its answer is there, with all that is sent again, but for the time for which it waits
    for what others leave of the allowance."""
    attempts: int = 4
    """That it is sent at most."""
    prompt_bytes: int = 1 << 20
    """Of the whole request."""
    answer_bytes: int = 1 << 20
    """Of the whole response."""


class Note(Protocol):
    """Writes what happened; nothing in it is secret, nor from a question or an answer."""

    def __call__(self, name: str, **values: str | float | bool | None) -> None: ...


def _silent(name: str, **values: str | float | bool | None) -> None:
    """For who keeps no log."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the client takes from outside."""

    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    """Unix time."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """From 0 to 1."""
    note: Note = _silent


@dataclass(slots=True)
class _Call:
    """One question under way."""

    model: str
    question: Question
    ends: float
    """By the clock."""
    sent: int = 0
    error: Any = field(default=None, repr=False)
    """What the provider said of the last failure."""


class Client:
    """Of one endpoint and one event loop. What it may use altogether is the allowance's."""

    def __init__(
        self,
        endpoint: Endpoint,
        allowance: Allowance,
        *,
        limits: Limits | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        """Raises ModelError for an endpoint that can be no provider's.

        `transport` None: over the network."""
        self._endpoint = endpoint
        self._allowance = allowance
        self._limits = limits or Limits()
        self._around = surroundings or Surroundings()
        self._provider = endpoint.speaks
        self._host = endpoint.host
        self._http = web.client(endpoint.trusted(), endpoint.url("/"), transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def ask(self, model: str, question: Question) -> Answer:
        """The model's whole answer. Raises ModelError."""
        call = _Call(model, question, self._around.clock() + self._limits.seconds)
        while True:
            try:
                return await self._once(call)
            except ModelError as error:
                if call.question.temperature is not None and refuses_temperature(
                    error.status, call.error
                ):
                    call.question = replace(call.question, temperature=None)
                    self._note("model-has-its-own-temperature", call)
                    continue
                wait = retry_after.pause(call.sent, error.retry_after, self._around.chance())
                in_time = self._around.clock() + wait + _LEAST_SECONDS <= call.ends
                again = error.again and call.sent < self._limits.attempts and in_time
                why = {"reason": str(error.reason), "message": error.message}
                if error.said:
                    why["said"] = error.said
                after = round(wait, 1) if again else None
                self._note("model-failed", call, again=again, after_seconds=after, **why)
                if not again:
                    raise
            await self._around.sleep(wait)

    def _note(self, name: str, call: _Call, **values: str | float | bool | None) -> None:
        about = {"provider": self._provider.name, "host": self._host, "model": call.model}
        self._around.note(name, **about, attempt=call.sent, **values)

    async def _once(self, call: _Call) -> Answer:
        call.error = None
        key = self._endpoint.key()
        request = self._request(call, key)
        asked = (len(request.content), call.question.max_tokens)
        bound, before = most(*asked), self._around.clock()
        await self._allowance.set_aside(bound, call.model, likely(*asked))
        call.ends += self._around.clock() - before  # others have taken it
        call.sent += 1
        # Whatever goes wrong from here on, the model may have been at work.
        used, exact = bound, False
        begun = self._around.clock()
        try:
            with understood(self._host):
                async with asyncio.timeout(max(call.ends - begun, 0)):
                    response, data = await self._exchange(request)
            if response.status_code != HTTPStatus.OK:
                used, exact = Usage(), True
                call.error = _error_of(data)
                raise failure(
                    response.status_code, call.error, response.headers, key, self._around.now()
                )
            reply = self._reply(call, data, response, key)
            said = reply.tokens
            used, exact = counted(
                bound, said.whole_input, said.output, said.cache_read, said.cache_write
            )
            text = _whole(reply, key)
        except NetworkError as error:
            if not error.sent:  # nothing has reached a model
                used, exact = Usage(), True
            raise ModelError(_REASONS[error.fault], error.message) from None
        finally:
            self._allowance.settle(call.model, bound, used, exact=exact)
        seconds = round(self._around.clock() - begun, 3)
        tokens = {"input_tokens": used.input, "output_tokens": used.output}
        self._note("model-answered", call, seconds=seconds, exact=exact, **tokens)
        return Answer(text, used, exact, call.question.temperature)

    def _request(self, call: _Call, key: Secret) -> httpx.Request:
        """Raises ModelError(PromptTooLarge)."""
        wire = self._provider.format
        body = json.dumps(wire.body(call.model, call.question), separators=(",", ":")).encode()
        if len(body) > self._limits.prompt_bytes:
            text = f"the request has {len(body):,} bytes, and {self._limits.prompt_bytes:,} are"
            raise ModelError(ModelReason.PROMPT_TOO_LARGE, f"{text} allowed")
        url = self._endpoint.url(wire.path(call.model))
        headers = {**web.HEADERS, **wire.headers(key.reveal())}
        return httpx.Request("POST", url, headers=headers, content=body)

    async def _exchange(self, request: httpx.Request) -> tuple[httpx.Response, bytes]:
        """The response, and its body; of an error the beginning of that."""
        limit = self._limits.answer_bytes
        try:
            return await web.exchange(self._http, request, limit)
        except TooLargeError:
            text = f"the answer has more than the {limit:,} bytes that it may have"
            raise ModelError(ModelReason.ANSWER_TOO_LARGE, text) from None

    def _reply(self, call: _Call, data: bytes, response: httpx.Response, key: Secret) -> Reply:
        """Raises ModelError: of the provider's if there is one in the body, or AnswerInvalid."""
        if response.headers.get("content-encoding", "identity") != "identity":
            _invalid("it is compressed, which was not asked for")
        try:
            return self._provider.format.reply(_object(data))
        except ReportedError as error:
            call.error = error.error
            raise failure(
                error.status, error.error, response.headers, key, self._around.now()
            ) from None
        except UnreadableError as error:
            _invalid(str(error))


_REASONS = {
    Fault.TIMEOUT: ModelReason.MODEL_TIMEOUT,
    Fault.UNTRUSTED: ModelReason.PROVIDER_UNTRUSTED,
    Fault.UNREACHABLE: ModelReason.PROVIDER_UNREACHABLE,
}


def _whole(reply: Reply, key: Secret) -> str:
    """The text of an answer that is of use. Raises ModelError."""
    if reply.end == "refused":
        raise ModelError(ModelReason.MODEL_REFUSED, "the model declined to answer")
    if reply.end == "cut":
        text = "the answer reached the limit of its tokens before its end"
        raise ModelError(ModelReason.ANSWER_CUT, text)
    if not reply.text.strip():
        _invalid("it holds no text")
    if key.is_in(reply.text):
        _invalid("the key is in it")
    return reply.text


def _object(data: bytes) -> Json:
    """Raises UnreadableError."""
    try:
        body = parse(data)
    except NoJsonError:
        raise UnreadableError("it is no JSON, or has more values than are read") from None
    if not isinstance(body, dict):
        raise UnreadableError("it is no JSON object")
    return body


def _error_of(data: bytes) -> Any:
    """The error of a body, if there is one."""
    try:
        body = parse(data)
    except NoJsonError:
        return None
    # Gemini wraps it in a list where a stream was asked for, as some proxies always do.
    first = body[0] if isinstance(body, list) and body else body
    return mapping(first).get("error")


def _invalid(why: str) -> NoReturn:
    text = f"what came is no answer of this provider's: {why}"
    raise ModelError(ModelReason.ANSWER_INVALID, text)
