# ruff: noqa: N818 - named after the reasons of the API
"""Errors of the engine. Each carries a stable CamelCase ``reason`` and a plain message."""

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


class ConfigError(KubeError):
    """No usable connection settings."""

    reason = "KubeConfigInvalid"


class TransportError(KubeError):
    """The connection failed or timed out; whether a write happened is unknown."""

    reason = "ApiServerUnreachable"


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


class Unauthorized(ApiError): ...


class Forbidden(ApiError): ...


class NotFound(ApiError): ...


class AlreadyExists(ApiError): ...


class Conflict(ApiError): ...


class Gone(ApiError): ...


class Invalid(ApiError): ...


class TooManyRequests(ApiError):
    """The server sheds load; ``retry_after`` is how long it asks to wait, in seconds."""

    retry_after: float = 1.0


_BY_STATUS: dict[int, type[ApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
}


def api_error(status: int, body: object, *, retry_after: str | None = None) -> ApiError:
    """The typed error of an HTTP status and a decoded ``Status`` body (or any other body)."""
    answer = body if isinstance(body, dict) else {}
    reason = str(answer.get("reason") or "")
    message = str(answer.get("message") or f"the API server answered {status}")
    details = answer.get("details")
    kind = AlreadyExists if reason == "AlreadyExists" else _BY_STATUS.get(status, ApiError)
    error = kind(
        status, reason or kind.__name__, message, details if isinstance(details, dict) else None
    )
    if isinstance(error, TooManyRequests):
        wait = retry_after or str(error.details.get("retryAfterSeconds", ""))
        error.retry_after = float(wait) if wait.isdigit() else TooManyRequests.retry_after
    return error


class LostLeadership(KubeError):
    """This process does not lead (any more); nothing was sent."""

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


class SpecMutated(KubeError):
    """What we wrote was stored as something else: a webhook or a policy of the cluster changes it.

    To write it again would change nothing.
    """

    reason = "SpecMutated"


class Requeue(Exception):
    """No error, but not now: the controller puts the key back after ``after`` seconds."""

    def __init__(self, after: float, why: str) -> None:
        super().__init__(why)
        self.after = after
