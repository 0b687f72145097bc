"""Finds out which pod calls: the one that its token is bound to, as the API server confirms."""

from __future__ import annotations

import base64
import binascii
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from bernstein.api.pod import AUDIENCE
from bernstein.kube.client import Client
from bernstein.kube.errors import KubeError
from bernstein.kube.resource import TOKEN_REVIEWS, Object
from bernstein.server.http.bounded import Recent
from bernstein.server.http.rate import RateLimit
from bernstein.server.http.refusal import Refusal, from_kube

MAX_TOKEN = 16 * 1024
ACCEPTED_SECONDS = 60.0
"""How long an accepted token is believed without asking again."""
REFUSED_SECONDS = 10.0
CACHE_SIZE = 10_000

_ACCOUNT = "system:serviceaccount:"
_POD_NAME = "authentication.kubernetes.io/pod-name"
_POD_UID = "authentication.kubernetes.io/pod-uid"
_REMEDY = (
    "Send the projected service account token of the session's pod, with audience "
    f"{AUDIENCE}, as 'Authorization: Bearer ...'; read its file again before every request."
)


@dataclass(frozen=True, slots=True)
class Caller:
    """A pod, proven by a token that is bound to it."""

    namespace: str
    pod: str
    pod_uid: str


class ReviewCount(Protocol):
    def token_reviewed(self, result: str) -> None: ...


@dataclass(frozen=True, slots=True)
class _Believed:
    caller: Caller
    until: float


class Identities:
    """Turns bearer tokens into Callers by TokenReview, and remembers the answers for a short time,
    by the tokens' hashes.

    A token that is plainly not for this service is refused without asking the API server, and the
    tokens of one address are looked up only so often.
    """

    def __init__(
        self,
        client: Client,
        count: ReviewCount,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._client = client
        self._count = count
        self._clock = clock
        self._now = now
        # All pods of a node may share an address, and all come at once after a restart.
        self._reviews = RateLimit(per_second=20.0, burst=200, clock=clock)
        self._accepted: Recent[bytes, _Believed] = Recent(CACHE_SIZE)
        self._refused: Recent[bytes, float] = Recent(CACHE_SIZE)

    async def caller(self, token: str, address: str) -> Caller:
        """The pod that the token proves. `address` is where the request came from.

        Raises Refusal 401 (no valid token), 429 or 503.
        """
        claims = _claims(token)
        if claims is None or not self._plausible(claims):
            self._count.token_reviewed("malformed")
            raise _unauthenticated("The token is missing, expired, or not meant for this service.")
        digest = hashlib.sha256(token.encode()).digest()
        known = self._remembered(digest)
        if known is not None:
            return known
        self._limit(address)
        status = await self._review(token)
        caller = _caller(status)
        if caller is None:
            self._count.token_reviewed("refused")
            self._refused.put(digest, self._clock() + REFUSED_SECONDS)
            raise _unauthenticated("The API server does not accept the token for this service.")
        self._count.token_reviewed("accepted")
        self._accepted.put(digest, _Believed(caller, self._clock() + ACCEPTED_SECONDS))
        return caller

    def _plausible(self, claims: dict[str, Any]) -> bool:
        """Whether the token may be valid, by its own claims: its signature is not checked here.

        This is asked about remembered tokens, too, so that none is accepted after its expiry.
        """
        audiences = claims.get("aud")
        expires = claims.get("exp")
        return (
            isinstance(audiences, list)
            and AUDIENCE in audiences
            and isinstance(expires, int | float)
            and float(expires) > self._now()
        )

    def _remembered(self, digest: bytes) -> Caller | None:
        """The Caller of a token that was accepted a moment ago; None for an unknown token.

        Raises Refusal for one that was refused a moment ago.
        """
        believed = self._accepted.get(digest)
        if believed is not None:
            if self._clock() < believed.until:
                self._count.token_reviewed("cached")
                return believed.caller
            self._accepted.drop(digest)
        refused_until = self._refused.get(digest)
        if refused_until is not None:
            if self._clock() < refused_until:
                self._count.token_reviewed("cached")
                raise _unauthenticated("The API server did not accept the token a moment ago.")
            self._refused.drop(digest)
        return None

    def _limit(self, address: str) -> None:
        seconds = self._reviews.wait(address)
        if seconds:
            self._count.token_reviewed("limited")
            raise Refusal(
                429,
                "TooManyRequests",
                "Too many new tokens from this address.",
                "Send it again later.",
                retry_after=seconds,
            )

    async def _review(self, token: str) -> Object:
        review = {
            "apiVersion": TOKEN_REVIEWS.api_version,
            "kind": TOKEN_REVIEWS.kind,
            "spec": {"token": token, "audiences": [AUDIENCE]},
        }
        try:
            answer = await self._client.create(TOKEN_REVIEWS, review)
        except KubeError as error:
            self._count.token_reviewed("unavailable")
            raise from_kube(error) from error
        status: Object = answer.get("status") or {}
        return status


def _claims(token: str) -> dict[str, Any] | None:
    """The payload of a JSON Web Token, unverified; None if the token is none."""
    parts = token.split(".") if len(token) <= MAX_TOKEN and token.isascii() else []
    if len(parts) != 3:
        return None
    padded = parts[1] + "=" * (-len(parts[1]) % 4)
    try:
        claims = orjson.loads(base64.urlsafe_b64decode(padded))
    except (binascii.Error, orjson.JSONDecodeError):
        return None
    return claims if isinstance(claims, dict) else None


def _caller(status: Object) -> Caller | None:
    """The pod that an answered TokenReview proves, or None when it proves none."""
    if status.get("authenticated") is not True or AUDIENCE not in (status.get("audiences") or ()):
        return None
    user = status.get("user") or {}
    name = str(user.get("username", ""))
    extra = user.get("extra") or {}
    pod = (extra.get(_POD_NAME) or [""])[0]
    uid = (extra.get(_POD_UID) or [""])[0]
    if not name.startswith(_ACCOUNT) or not pod or not uid:
        return None
    return Caller(name.removeprefix(_ACCOUNT).partition(":")[0], pod, uid)


def _unauthenticated(message: str) -> Refusal:
    return Refusal(401, "Unauthenticated", message, _REMEDY)
