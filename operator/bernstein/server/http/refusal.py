"""Refusals of requests, and the one shape that all errors of the server have."""

from __future__ import annotations

import math

from pydantic import BaseModel

from bernstein.kube.errors import (
    ApiError,
    Forbidden,
    KubeError,
    TooManyRequests,
    TransportError,
    Unauthorized,
)


class Problem(BaseModel):
    """Body of every answer that is an error."""

    reason: str
    """Stable CamelCase word."""
    message: str
    remedy: str


class Refusal(Exception):  # noqa: N818 - an answer, not a failure of the server
    """Ends a request with the HTTP status `status`; `retry_after` is in seconds."""

    def __init__(
        self,
        status: int,
        reason: str,
        message: str,
        remedy: str,
        *,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.problem = Problem(reason=reason, message=message, remedy=remedy)
        self.retry_after = None if retry_after is None else max(1, math.ceil(retry_after))

    @property
    def reason(self) -> str:
        return self.problem.reason

    def headers(self) -> dict[str, str]:
        # The rest of the request's body may not have been read, and nobody should wait for it.
        headers = {"Connection": "close"}
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return headers


def from_kube(error: KubeError) -> Refusal:
    """The answer for a caller when a request of the server to the Kubernetes API failed."""
    if isinstance(error, TransportError):
        return Refusal(
            503,
            "ApiServerUnreachable",
            "The Kubernetes API server did not answer.",
            "Send it again; nothing is lost when it fails, because results also travel with the "
            "pod.",
            retry_after=5,
        )
    if isinstance(error, TooManyRequests):
        return Refusal(
            503,
            "ApiServerBusy",
            "The Kubernetes API server sheds load.",
            "Send it again later.",
            retry_after=error.retry_after,
        )
    if isinstance(error, Forbidden | Unauthorized):
        return Refusal(
            503,
            "ServerNotAuthorized",
            "The server's own account may not do this.",
            "Check the server's RBAC: create tokenreviews, get agentsessions, "
            "patch agentsessions/status.",
            retry_after=30,
        )
    if isinstance(error, ApiError) and error.status < 500:
        return Refusal(
            500,
            "WriteRejected",
            "The Kubernetes API server rejected what the server wrote.",
            "Server and CRDs are probably of different versions; install them from one release.",
        )
    return Refusal(
        503,
        "ApiServerUnavailable",
        "The Kubernetes API server answered with an error of its own.",
        "Send it again later.",
        retry_after=5,
    )
