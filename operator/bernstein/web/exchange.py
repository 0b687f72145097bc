"""One request and its response, of which no more is read than may be of use.

Nothing is decompressed, no redirect is followed, no cookie and no variable of the environment is
read but our own, which name a proxy.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from http import HTTPStatus

import httpx

from bernstein import urls

CONNECT_SECONDS = 10.0
_ERROR_BYTES = 64 << 10
"""Read of the body of an error: its text is for people."""
_UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
HEADERS = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": "bernstein",
}


class Fault(StrEnum):
    """What kept a request from its answer, in the network."""

    TIMEOUT = "Timeout"
    UNTRUSTED = "Untrusted"
    UNREACHABLE = "Unreachable"


class NetworkError(Exception):
    """No answer; the text is for people, on one line."""

    def __init__(self, fault: Fault, message: str, *, sent: bool) -> None:
        """`sent`: the other side may have been at work."""
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.sent = sent


class TooLargeError(Exception):
    """The answer has more bytes than it may have."""


def client(
    verify: ssl.SSLContext, to: httpx.URL, transport: httpx.AsyncBaseTransport | None = None
) -> httpx.AsyncClient:
    """Asks the server at the address `to`, through the proxy of it that there may be. `transport`
    None: over the network."""
    proxy = urls.proxy_of(str(to), os.environ)
    return httpx.AsyncClient(
        transport=transport
        or httpx.AsyncHTTPTransport(verify=verify, trust_env=False, proxy=proxy),
        timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),
        trust_env=False,
        follow_redirects=False,
    )


async def exchange(
    http: httpx.AsyncClient, request: httpx.Request, limit: int
) -> tuple[httpx.Response, bytes]:
    """The response, and its body; of an error the beginning of that.

    Raises TooLargeError over `limit` bytes, and what httpx raises.
    """
    # Nobody else's cookies are kept, and none come back.
    http.cookies.clear()
    response = await http.send(request, stream=True)
    try:
        fine = response.status_code < HTTPStatus.MULTIPLE_CHOICES
        most = limit if fine else _ERROR_BYTES
        data = bytearray()
        async for piece in response.aiter_raw(64 << 10):
            data += piece[: most + 1 - len(data)]
            if len(data) > most:
                break
        if fine and len(data) > limit:
            raise TooLargeError
        return response, bytes(data)
    finally:
        await response.aclose()


@contextmanager
def understood(host: str) -> Iterator[None]:
    """Errors of the network as NetworkError.

    Without their causes: these hold the request with its headers.
    """
    try:
        yield
    except (TimeoutError, httpx.ReadTimeout, httpx.WriteTimeout):
        text = f"{host} has given no whole answer in time"
        raise NetworkError(Fault.TIMEOUT, text, sent=True) from None
    except httpx.HTTPError as error:
        sent = not isinstance(error, _UNSENT)
        if _is_about_certificates(error):
            text = f"{host} shows a certificate that nobody we trust has signed for it"
            raise NetworkError(Fault.UNTRUSTED, text, sent=sent) from None
        text = f"{host} cannot be reached: {type(error).__name__}"
        raise NetworkError(Fault.UNREACHABLE, text, sent=sent) from None


def _is_about_certificates(error: BaseException | None) -> bool:
    for _ in range(8):
        if error is None:
            return False
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
