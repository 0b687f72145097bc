"""Errors of the engine. Each carries a stable CamelCase ``reason`` and a plain message."""
# ruff: noqa: N818 - named after the reasons of the API

import asyncio
from typing import Any, Literal

from bernstein.kube.resource import Object


class KubeError(Exception):
    """Base of all errors of this package."""

    reason: str = "KubeError"

    def __init__(self, message: str, *, reason: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if reason is not None:
            self.reason = reason

    @property
    def gist(self) -> str:
        """What Events and logs may tell of it: it quotes nothing of what an object contains."""
        return str(self)


class ConfigError(KubeError):
    """No usable connection settings."""

    reason = "KubeConfigInvalid"


class TransportError(KubeError):
    """The connection failed or timed out; whether a write happened is unknown."""

    reason = "ApiServerUnreachable"


class TooLarge(KubeError):
    """An answer has more bytes than the caller takes; the rest was not read."""

    reason = "AnswerTooLarge"


class Unreadable(TransportError):
    """The API server has answered, and the answer cannot be read; whether a write happened is
    unknown."""

    reason = "AnswerUnreadable"


class OldList(KubeError):
    """The API server answered with a list from before what it has shown already."""

    reason = "OldList"


class ApiError(KubeError):
    """The API server answered with a Status that is not Success."""

    reason = "ApiError"

    def __init__(
        self, status: int, reason: str, message: str, details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message, reason=reason or type(self).reason)
        self.status = status
        self.details = details or {}

    def __str__(self) -> str:
        return f"{self.reason} ({self.status}): {self.message}"

    @property
    def gist(self) -> str:
        if self.status not in _QUOTING and self.status < 500:
            return str(self)
        causes = self.details.get("causes") or ()
        fields = [str(cause.get("field") or "?") for cause in causes[:_MOST_FIELDS]]
        where = f" at {', '.join(fields)}" if fields else ""
        return f"{self.reason} ({self.status}){where}"


_QUOTING = (400, 422)
"""Answers that repeat the values that they are about, as those of a broken server may."""
_MOST_FIELDS = 5


class Unauthorized(ApiError): ...


class Forbidden(ApiError): ...


class NotFound(ApiError): ...


class AlreadyExists(ApiError): ...


class Conflict(ApiError): ...


class Gone(ApiError): ...


class Invalid(ApiError): ...


class Overloaded(ApiError):
    """The server sheds load; ``retry_after`` is how long it asks callers to wait, in seconds."""

    retry_after: float = 0.0


class TooManyRequests(Overloaded):
    retry_after = 1.0


class Unavailable(Overloaded): ...


class KindNotDiscovered(Overloaded):
    """Admission does not know a kind yet that an owner reference names; nothing was written.

    The plugin OwnerReferencesPermissionEnforcement reads the kinds that are served twice a minute:
    until then whatever has an owner of a kind that is just installed is refused.
    """

    retry_after = 2.0


MOST_RETRY_AFTER = 60.0
"""Whatever the answer asks for: a proxy's day would be a day in which nothing is reconciled."""


_BY_STATUS: dict[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
    503: Unavailable,
}


def api_error(status: int, body: object, *, retry_after: str | None = None) -> ApiError:
    """The typed error of an HTTP status and a decoded ``Status`` body (or any other body)."""
    answer = body if isinstance(body, dict) else {}
    reason = str(answer.get("reason") or "")
    message = str(answer.get("message") or f"the API server answered {status}")
    details = answer.get("details")
    kind = _BY_STATUS.get(status, ApiError)
    if reason == "AlreadyExists":
        kind = AlreadyExists
    elif kind is Forbidden and "cannot find RESTMapping" in message:
        kind = KindNotDiscovered
    error = kind(
        status, reason or kind.__name__, message, details if isinstance(details, dict) else None
    )
    if isinstance(error, Overloaded):
        wait = retry_after or str(error.details.get("retryAfterSeconds", ""))
        if wait.isdecimal():
            error.retry_after = min(float(wait), MOST_RETRY_AFTER)
    return error


_PASSING = (401, 404, 408, 409, 410, 429)
"""Of requests, the server's state or its load: the same object may be taken in a moment."""


def is_refusal(error: ApiError) -> bool:
    """Whether the server will not have an object as it is: a quota, a policy or a webhook says so.

    A webhook chooses the status of its answer; one that chooses none is told of as 400.
    """
    final = 400 <= error.status < 500 and error.status not in _PASSING
    return final and not isinstance(error, KindNotDiscovered)


def is_unanswered(error: BaseException) -> bool:
    """Whether a request may have been applied, or still be: it was cancelled, or nobody has said
    what became of it.

    A status of 5xx does not say it, with Retry-After or without: a proxy answers 502, 503 or 504
    also where a connection broke on which it had passed the request on, and 500 and 504 are what
    is left of a time limit. 429 says that the request was turned away before anything was done.
    """
    if isinstance(error, ApiError):
        return error.status >= 500
    return isinstance(error, TransportError | asyncio.CancelledError)


def seconds_asked(error: BaseException) -> float:
    """How long the server asks to wait; 0: it does not."""
    return error.retry_after if isinstance(error, Overloaded) else 0.0


class LostLeadership(KubeError):
    """This process does not lead, or no longer; nothing was sent."""

    reason = "LostLeadership"


class NameConflict(KubeError):
    """An object that is not ours has the name that we need.

    ``differs`` names the first of label, owner and spec hash that is not ours.
    """

    reason = "NameConflict"

    def __init__(
        self, message: str, *, live: Object, differs: Literal["label", "owner", "spec"]
    ) -> None:
        super().__init__(message)
        self.live = live
        self.differs = differs


class WriteRefused(KubeError):
    """The server refuses a change or a deletion: a right is missing, or admission says no.

    ``what`` says which, in words.
    """

    reason = "WriteRefused"

    def __init__(self, what: str, cause: ApiError) -> None:
        super().__init__(f"the API server refuses to {what}: {cause}")
        self._gist = f"the API server refuses to {what}: {cause.gist}"
        self.cause = cause

    @property
    def gist(self) -> str:
        return self._gist


class SpecMutated(KubeError):
    """A webhook or a policy of the cluster changes what we write, so that it was stored otherwise.

    To write it again would not help.
    """

    reason = "SpecMutated"


class Requeue(Exception):
    """Not an error: the reconcile has to wait, and the key comes again after ``after`` seconds."""

    def __init__(self, after: float, why: str) -> None:
        super().__init__(why)
        self.after = after


class NotYetFree(Requeue):
    """An object that goes, or is to go, still has the name that we need."""
