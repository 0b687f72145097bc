"""Tokens of a GitHub App's installation: REST API of 2022-11-28.

Each is asked for with one repository and the least permissions of one account. What comes is
looked at: a token that may do more is none of ours.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bernstein.api.programs.mint import MintReason
from bernstein.forges.client import Client
from bernstein.forges.forge import Call, RepositoryPath, Steps, invalid
from bernstein.forges.github import GITHUB
from bernstein.web.json_values import Json, items, mapping, text_of
from bernstein.web.secret import Secret

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

_READ, _WRITE = "read", "write"
PERMISSIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "read": {"contents": _READ},
    "work": {"contents": _WRITE},
    "deliver": {"contents": _WRITE},
    "forge": {
        "contents": _READ,
        "pull_requests": _WRITE,
        "statuses": _READ,
        "checks": _READ,
    },
}
"""The least that each account needs, as GitHub's API calls it."""
_PUSHES = ("work", "deliver")
_ADDED = {"metadata": _READ}
"""What GitHub gives with every token."""
_STRENGTH = ("", _READ, _WRITE)
BEFORE_SECONDS, LIFE_SECONDS = 60, 480
"""How long before now what we sign begins, as clocks differ, and how long it lasts: GitHub takes
ten minutes at most."""
_KEY_BYTES = 16 << 10
_LONGEST = 4096


class AppError(Exception):
    """It cannot be used; the text is plain words of ours."""

    def __init__(self, reason: MintReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


@dataclass(frozen=True, slots=True)
class Token:
    secret: Secret
    expires: str


class AppKey:
    """The app's private key, which no representation shows."""

    __slots__ = ("_app", "_key")

    def __init__(self, app: str, key: RSAPrivateKey) -> None:
        self._app = app
        self._key = key

    @classmethod
    def read(cls, app: str, file: str) -> AppKey:
        """Raises AppError(AppKeyInvalid)."""
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            with Path(file).open("rb") as opened:
                data = opened.read(_KEY_BYTES + 1)
        except OSError as error:
            text = f"the app's key cannot be read: {error.strerror}"
            raise AppError(MintReason.KEY_INVALID, text) from None
        try:
            key = load_pem_private_key(data, password=None)
        except (TypeError, ValueError, UnsupportedAlgorithm):
            text = "the app's key is no PEM of a private key without a password"
            raise AppError(MintReason.KEY_INVALID, text) from None
        if not isinstance(key, RSAPrivateKey):
            raise AppError(MintReason.KEY_INVALID, "the app's key is no RSA key")
        return cls(app, key)

    def signed(self, now: float) -> Secret:
        """A JSON Web Token by which the app is known, of RFC 7519 and RS256. `now`: Unix time."""
        from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
        from cryptography.hazmat.primitives.hashes import SHA256

        claims = {
            "iat": int(now) - BEFORE_SECONDS,
            "exp": int(now) + LIFE_SECONDS,
            "iss": self._app,
        }
        parts = ({"alg": "RS256", "typ": "JWT"}, claims)
        said = b".".join(_encoded(json.dumps(part).encode()) for part in parts)
        signature = _encoded(self._key.sign(said, PKCS1v15(), SHA256()))
        return Secret((said + b"." + signature).decode("ascii"))


def _encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


class AppClient(Client):
    """Asks in the name of the app itself, with a signature of the moment."""

    def __init__(
        self, key: AppKey, url: str, *, now: Callable[[], float] = time.time, **more: Any
    ) -> None:
        super().__init__(GITHUB, url, "", **more)
        self._key = key
        self._now = now

    def _token(self) -> Secret:
        return self._key.signed(self._now())


def permissions(account: str, *, workflows: bool) -> Mapping[str, str]:
    """Those of a token of this account. Raises KeyError."""
    least = PERMISSIONS[account]
    return {**least, "workflows": _WRITE} if workflows and account in _PUSHES else least


def token(repository: RepositoryPath, installation: int, wanted: Mapping[str, str]) -> Steps[Token]:
    """Raises AppError(AppTokenTooStrong)."""
    body = {"repositories": [repository.name], "permissions": dict(wanted)}
    path = f"/app/installations/{installation}/access_tokens"
    answer = mapping((yield Call("POST", path, body=body)))
    _refuse_more(answer, repository, wanted)
    value, expires = text_of(answer.get("token")), text_of(answer.get("expires_at"))
    if not value or len(value) > _LONGEST or not all("!" <= each <= "~" for each in value):
        raise invalid("it holds no token")
    try:
        ends = datetime.fromisoformat(expires)
    except ValueError:
        raise invalid("it does not say when the token ends") from None
    if ends.tzinfo is None:
        raise invalid("it does not say when the token ends")
    return Token(Secret(value), ends.isoformat())


def _refuse_more(answer: Json, repository: RepositoryPath, wanted: Mapping[str, str]) -> None:
    """Raises AppError where the token may do more than was asked for, or elsewhere."""
    may = {**_ADDED, **wanted}
    for name, level in mapping(answer.get("permissions")).items():
        if level not in _STRENGTH[: _STRENGTH.index(may.get(name, "")) + 1]:
            text = "the forge gave a token with more permissions than it was asked for"
            raise AppError(MintReason.TOO_STRONG, text)
    listed = items(answer.get("repositories"))
    names = {text_of(mapping(each).get("full_name")).lower() for each in listed}
    if names != {repository.whole.lower()}:
        text = "the forge gave a token that is not for this repository alone"
        raise AppError(MintReason.TOO_STRONG, text)
