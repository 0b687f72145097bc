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
import ssl
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

import httpx

from bernstein.api.pod import Usage
from bernstein.core.judging.model_reasons import ModelReason
from bernstein.llm import retries
from bernstein.llm.allowance import Allowance
from bernstein.llm.endpoint import Endpoint, Key
from bernstein.llm.errors import ModelError
from bernstein.llm.failures import failure, refuses_temperature
from bernstein.llm.formats.format import (
    Json,
    Reply,
    ReportedError,
    UnreadableError,
    mapping,
)
from bernstein.llm.question import Answer, Question
from bernstein.llm.usage import counted, likely, most

_CONNECT_SECONDS = 10.0
_LEAST_SECONDS = 1.0
"""That another try must have: one that is cut off at once would hide why those before failed."""
_ERROR_BYTES = 64 << 10
"""Read of the body of an error: its text is for people."""
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
"""Of these nothing has reached a model."""
_HEADERS = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "bernstein",
}


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
        self._http = httpx.AsyncClient(
            transport=transport
            or httpx.AsyncHTTPTransport(verify=endpoint.trusted(), trust_env=False),
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS),
            trust_env=False,
            follow_redirects=False,
        )

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
                wait = retries.pause(call.sent, error.retry_after, self._around.chance())
                in_time = self._around.clock() + wait + _LEAST_SECONDS <= call.ends
                again = error.again and call.sent < self._limits.attempts and in_time
                why = {"reason": str(error.reason), "message": error.message}
                self._note("model-failed", call, again=again, **why)
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
            with _understood(self._host):
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
        except _UnsentError as error:
            used, exact = Usage(), True
            raise error.why from None
        finally:
            self._allowance.settle(call.model, bound, used, exact=exact)
        seconds = round(self._around.clock() - begun, 3)
        tokens = {"input_tokens": used.input, "output_tokens": used.output}
        self._note("model-answered", call, seconds=seconds, exact=exact, **tokens)
        return Answer(text, used, exact, call.question.temperature)

    def _request(self, call: _Call, key: Key) -> httpx.Request:
        """Raises ModelError(PromptTooLarge)."""
        wire = self._provider.format
        body = json.dumps(wire.body(call.model, call.question), separators=(",", ":")).encode()
        if len(body) > self._limits.prompt_bytes:
            text = f"the request has {len(body):,} bytes, and {self._limits.prompt_bytes:,} are"
            raise ModelError(ModelReason.PROMPT_TOO_LARGE, f"{text} allowed")
        url = self._endpoint.url(wire.path(call.model))
        headers = {**_HEADERS, **wire.headers(key.reveal())}
        return httpx.Request("POST", url, headers=headers, content=body)

    async def _exchange(self, request: httpx.Request) -> tuple[httpx.Response, bytes]:
        """The response, and its body; of an error the beginning of that."""
        # Nobody else's cookies are kept, and none come back.
        self._http.cookies.clear()
        response = await self._http.send(request, stream=True)
        try:
            fine = response.status_code == HTTPStatus.OK
            limit = self._limits.answer_bytes if fine else _ERROR_BYTES
            data = bytearray()
            async for piece in response.aiter_raw(64 << 10):
                data += piece[: limit + 1 - len(data)]
                if len(data) > limit:
                    break
            if fine and len(data) > limit:
                text = f"the answer has more than the {limit:,} bytes that it may have"
                raise ModelError(ModelReason.ANSWER_TOO_LARGE, text)
            return response, bytes(data)
        finally:
            await response.aclose()

    def _reply(self, call: _Call, data: bytes, response: httpx.Response, key: Key) -> Reply:
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


class _UnsentError(Exception):
    """Nothing has reached a model."""

    def __init__(self, why: ModelError) -> None:
        super().__init__(why.reason)
        self.why = why


@contextmanager
def _understood(host: str) -> Iterator[None]:
    """Errors of the network as ModelError; as _UnsentError where no request got through.

    Without their causes: these hold the request with its headers.
    """
    try:
        yield
    except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout):
        text = f"{host} has given no whole answer in time"
        raise ModelError(ModelReason.MODEL_TIMEOUT, text) from None
    except httpx.HTTPError as error:
        why = _unreachable(host, error)
        if isinstance(error, _UNSENT):
            raise _UnsentError(why) from None
        raise why from None


def _unreachable(host: str, error: BaseException) -> ModelError:
    if _is_about_certificates(error):
        text = f"{host} shows a certificate that nobody we trust has signed for it"
        return ModelError(ModelReason.PROVIDER_UNTRUSTED, text)
    text = f"{host} cannot be reached: {type(error).__name__}"
    return ModelError(ModelReason.PROVIDER_UNREACHABLE, text)


def _is_about_certificates(error: BaseException | None) -> bool:
    for _ in range(8):
        if error is None:
            return False
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _whole(reply: Reply, key: Key) -> str:
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
        body = json.loads(data)
    except (ValueError, RecursionError):
        raise UnreadableError("it is no JSON") from None
    if not isinstance(body, dict):
        raise UnreadableError("it is no JSON object")
    return body


def _error_of(data: bytes) -> Any:
    """The error of a body, if there is one."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return None
    # Gemini wraps it in a list where a stream was asked for, as some proxies always do.
    first = body[0] if isinstance(body, list) and body else body
    return mapping(first).get("error")


def _invalid(why: str) -> NoReturn:
    text = f"what came is no answer of this provider's: {why}"
    raise ModelError(ModelReason.ANSWER_INVALID, text)
