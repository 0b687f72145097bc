"""Makes the requests of an operation, one after another, and tries again where that helps.

What is only read is asked for with the tag of the last answer: a forge that answers 304 counts no
request against its limit, or a cheap one.
"""

from __future__ import annotations

import asyncio
import json
import random
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlencode

import httpx

from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.core import sanitise
from bernstein.forges import failures
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import Call, Forge, Page, RepositoryPath, Steps, invalid
from bernstein.web import address, exchange, retry_after
from bernstein.web.address import AddressError
from bernstein.web.exchange import Fault, NetworkError, TooLargeError
from bernstein.web.json_values import NoJsonError, parse
from bernstein.web.secret import Secret, UnreadableSecretError

T = TypeVar("T")

_REASONS = {
    Fault.TIMEOUT: ForgeReason.TIMEOUT,
    Fault.UNTRUSTED: ForgeReason.UNTRUSTED,
    Fault.UNREACHABLE: ForgeReason.UNREACHABLE,
}


_KEPT_BYTES = 256 << 10
"""Of an answer that is kept, to ask whether it has changed: more are asked for again."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one client."""

    seconds: float = 60.0
    """Of one operation, with all that is sent again."""
    request_seconds: float = 20.0
    attempts: int = 4
    """That one request is sent at most."""
    answer_bytes: int = 8 << 20


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the client takes from outside."""

    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    """Unix time."""
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    """From 0 to 1."""


@dataclass(slots=True)
class Traffic:
    """What a client has asked so far."""

    requests: int = 0
    unchanged: int = 0
    """Of them, those that were answered 304."""
    remaining: int | None = None
    """That the forge lets us make until it raises its limit again; None: it does not say."""


class Client:
    """Of one repository of a forge, and one event loop."""

    def __init__(
        self,
        forge: Forge,
        url: str,
        token_file: str,
        *,
        api: str | None = None,
        ca_file: str | None = None,
        limits: Limits | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        """Raises ForgeError for an address that can be no forge's.

        `url`: of the repository. `api`: address of the API; None: where the forge has it.
        `transport` None: over the network."""
        self.forge = forge
        self.repository: RepositoryPath = forge.locate(url)
        self.traffic = Traffic()
        self._roots = forge.roots(self.repository, api)
        self._token_file = token_file
        self._limits = limits or Limits()
        self._around = surroundings or Surroundings()
        self._tagged: dict[str, tuple[str, Any]] = {}
        address = self._url(Call("GET", "/"))
        self._host = sanitise.line(address.host, 253)
        self._http = exchange.client(_trusted(ca_file), address, transport)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._http.aclose()

    async def run(self, steps: Steps[T]) -> T:
        """What the operation comes to. Raises ForgeError."""
        ends = self._around.clock() + self._limits.seconds
        try:
            call = next(steps)
            while True:
                try:
                    answer = await self._ask(call, ends)
                except ForgeError as error:
                    call = steps.throw(error)
                else:
                    call = steps.send(answer)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _ask(self, call: Call, ends: float) -> Any:
        """The JSON of the answer, or its Page, tried again where that helps. Raises ForgeError."""
        sent = 0
        while True:
            sent += 1
            try:
                return await self._once(call, ends)
            except ForgeError as error:
                wait = retry_after.pause(sent, error.retry_after, self._around.chance())
                in_time = self._around.clock() + wait < ends
                # What makes something may have made it: whoever asks looks first.
                again = error.again and (call.method == "GET" or _was_turned_away(error))
                if not again or not in_time or sent >= self._limits.attempts:
                    raise
            await self._around.sleep(wait)

    async def _once(self, call: Call, ends: float) -> Any:
        token = self._token()
        request = self._request(call, token)
        key = str(request.url)
        tag, known = self._tagged.get(key, ("", None)) if call.method == "GET" else ("", None)
        if tag:
            request.headers["if-none-match"] = tag
        self.traffic.requests += 1
        response, data = await self._exchange(request, ends)
        left = failures.remaining(response.headers)
        self.traffic.remaining = left if left is not None else self.traffic.remaining
        if tag and response.status_code == HTTPStatus.NOT_MODIFIED:
            self.traffic.unchanged += 1
            return known
        body = _body(data)
        if not HTTPStatus.OK <= response.status_code < HTTPStatus.MULTIPLE_CHOICES:
            now = self._around.now()
            error = failures.failure(response.status_code, body, response.headers, token, now)
            if error.reason == ForgeReason.RATE_LIMITED:
                self.traffic.remaining = 0  # of whichever limit that is
            raise error
        if body is None:
            raise invalid("it is no JSON, or has more values than are read")
        answer = _page(body, response.headers) if call.paged else body
        fresh = response.headers.get("etag") if call.method == "GET" else None
        if fresh and len(data) <= _KEPT_BYTES:
            self._tagged[key] = (fresh, answer)
        return answer

    def _token(self) -> Secret:
        try:
            return Secret.read(self._token_file)
        except UnreadableSecretError as error:
            text = f"the forge's token {error}"
            raise ForgeError(ForgeReason.TOKEN_UNREADABLE, text) from None

    def _url(self, call: Call) -> httpx.URL:
        query = f"?{urlencode(call.query)}" if call.query else ""
        try:
            return address.below(self._roots[call.root], f"{call.path}{query}")
        except AddressError as error:
            raise ForgeError(
                ForgeReason.ADDRESS_INVALID, f"the address of the forge's API {error}"
            ) from None

    def _request(self, call: Call, token: Secret) -> httpx.Request:
        headers: Mapping[str, str] = {
            **exchange.HEADERS,
            **self.forge.headers(token.reveal()),
        }
        content = None if call.body is None else json.dumps(call.body).encode()
        return httpx.Request(call.method, self._url(call), headers=headers, content=content)

    async def _exchange(self, request: httpx.Request, ends: float) -> tuple[httpx.Response, bytes]:
        left = min(ends - self._around.clock(), self._limits.request_seconds)
        try:
            with exchange.understood(self._host):
                async with asyncio.timeout(max(left, 0)):
                    return await exchange.exchange(self._http, request, self._limits.answer_bytes)
        except NetworkError as error:
            raise ForgeError(_REASONS[error.fault], error.message) from None
        except TooLargeError:
            raise invalid(f"it has more than {self._limits.answer_bytes:,} bytes") from None


def _was_turned_away(error: ForgeError) -> bool:
    """Nothing was done: there was an answer that says so."""
    return error.reason == ForgeReason.RATE_LIMITED


def _page(body: Any, headers: Mapping[str, str]) -> Page:
    counts = (retry_after.number(headers.get(name)) for name in ("x-total-count", "x-total"))
    total = next((int(min(count, 1e9)) for count in counts if count is not None), None)
    return Page(body, total, 'rel="next"' in headers.get("link", ""))


def _trusted(ca_file: str | None) -> ssl.SSLContext:
    try:
        return address.trusted(ca_file)
    except OSError as error:
        text = f"the certificate authority cannot be read: {type(error).__name__}"
        raise ForgeError(ForgeReason.UNTRUSTED, text) from None


def _body(data: bytes) -> Any:
    """None: it is no JSON, or too many values."""
    try:
        return parse(data) if data else {}
    except NoJsonError:
        return None
