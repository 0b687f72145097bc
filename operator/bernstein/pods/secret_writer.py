"""Writes values into Secrets that are there already, by the pod's own account.

By a patch: a right on Secrets of certain names cannot be given for making them, as the API server
does not know the name of what is to be made. What it answers holds the Secret, and is told nobody.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

import httpx

from bernstein.api.programs.mint import REMEDIES, MintReason
from bernstein.pods.errors import PodError
from bernstein.web import address, exchange
from bernstein.web.address import AddressError
from bernstein.web.exchange import NetworkError, TooLargeError
from bernstein.web.secret import Secret, UnreadableSecretError

_SECONDS = 30.0
_ANSWER_BYTES = 4 << 20
_REFUSED: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "the API server does not know the pod's account",
    HTTPStatus.FORBIDDEN: "the pod's account may not write it",
    HTTPStatus.NOT_FOUND: "there is no such Secret",
}


class SecretWriter:
    """Of the pod's own namespace."""

    def __init__(
        self, server: str, folder: str, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        """`folder`: with the account's `token`, `ca.crt` and `namespace`. `transport` None: over
        the network. Raises PodError(ClusterUnreachable)."""
        self._server = server
        self._folder = Path(folder)
        self._transport = transport
        try:
            self._namespace = (self._folder / "namespace").read_text(encoding="ascii").strip()
            self._trusted = ssl.create_default_context(cafile=str(self._folder / "ca.crt"))
        except (OSError, ValueError) as error:
            raise _unreachable(f"its account cannot be read: {type(error).__name__}") from None

    async def write(
        self, name: str, values: Mapping[str, str], annotations: Mapping[str, str]
    ) -> None:
        """Raises PodError: SecretWriteRefused, ClusterUnreachable."""
        data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
        body = {"metadata": {"annotations": dict(annotations)}, "data": data}
        path = (
            f"/api/v1/namespaces/{quote(self._namespace, safe='')}/secrets/{quote(name, safe='')}"
        )
        try:
            token = Secret.read(str(self._folder / "token"))
            url = address.below(self._server, path)
        except UnreadableSecretError as error:
            raise _unreachable(f"the account's token {error}") from None
        except AddressError as error:
            raise _unreachable(f"its address {error}") from None
        headers = {
            **exchange.HEADERS,
            "content-type": "application/merge-patch+json",
            "authorization": f"Bearer {token.reveal()}",
        }
        request = httpx.Request("PATCH", url, headers=headers, content=json.dumps(body).encode())
        status = await self._ask(request)
        if status != HTTPStatus.OK:
            why = _REFUSED.get(status, f"the API server answered {status}")
            raise told(MintReason.SECRET_REFUSED, f"Secret '{name}' was not written: {why}")

    async def _ask(self, request: httpx.Request) -> int:
        try:
            with exchange.understood("the API server"):
                async with (
                    asyncio.timeout(_SECONDS),
                    exchange.client(self._trusted, request.url, self._transport) as client,
                ):
                    response, _ = await exchange.exchange(client, request, _ANSWER_BYTES)
                    return response.status_code
        except NetworkError as error:
            raise _unreachable(error.message) from None
        except TooLargeError:
            return HTTPStatus.OK


def told(reason: MintReason, message: str) -> PodError:
    """With what helps: nobody but the pod's own words tells it."""
    return PodError(reason, f"{message}. Remedy: {REMEDIES[reason]}")


def _unreachable(why: str) -> PodError:
    return told(MintReason.CLUSTER_UNREACHABLE, f"the API server cannot be asked: {why}")
