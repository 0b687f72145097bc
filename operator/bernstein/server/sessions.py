"""Writes the reports of sessions, and decides which pod may report for which session."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from pydantic import ValidationError

from bernstein.api.pod import SESSION_OVER
from bernstein.api.session import AgentSession, Report, parse
from bernstein.api.states import SessionState
from bernstein.kube.client import Client
from bernstein.kube.errors import Conflict, KubeError, NotFound
from bernstein.resources import SESSIONS
from bernstein.server.http.rate import RateLimit
from bernstein.server.http.refusal import Refusal, from_kube
from bernstein.server.identity import Caller
from bernstein.server.report import Effect

FIELD_MANAGER = "bernstein-server"
TRIES = 5

Change = Callable[[Report | None], tuple[Effect, Report]]
"""Makes the new report out of the old one."""


class CallbackCount(Protocol):
    def callback(self, kind: str, result: str) -> None: ...


class Sessions:
    """Reads AgentSessions and writes `status.report`, the one field that the server owns."""

    def __init__(
        self, client: Client, count: CallbackCount, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._client = client
        self._count = count
        self._calls = RateLimit(per_second=1.0, burst=20, clock=clock)

    async def report(
        self, kind: str, namespace: str, name: str, caller: Caller, change: Change
    ) -> AgentSession:
        """Changes the session's report, if `caller` is its pod; returns the session as it was
        before.

        Raises Refusal 403 (another pod), 404, 409 (the session has ended), 429 or 503.
        """
        try:
            session, outcome = await self._change(namespace, name, caller, change)
        except Refusal as refusal:
            self._count.callback(kind, refusal.reason)
            raise
        self._count.callback(kind, outcome)
        return session

    async def _change(
        self, namespace: str, name: str, caller: Caller, change: Change
    ) -> tuple[AgentSession, Effect]:
        self._limit(caller)
        if caller.namespace != namespace:
            raise _wrong_pod("The token belongs to a pod of another namespace.")
        for _ in range(TRIES):
            session = await self._read(namespace, name)
            _check(session, caller)
            outcome, report = change(session.status.report)
            if outcome != "written" or await self._write(session, report):
                return session, outcome
        raise Refusal(
            503,
            "Contended",
            "Others kept writing this session's status.",
            "Send it again.",
            retry_after=1,
        )

    def _limit(self, caller: Caller) -> None:
        seconds = self._calls.wait(caller.pod_uid)
        if seconds:
            raise Refusal(
                429,
                "TooManyRequests",
                "This session calls more often than once a second.",
                "Send a heartbeat every 15 s.",
                retry_after=seconds,
            )

    async def _read(self, namespace: str, name: str) -> AgentSession:
        try:
            return parse(await self._client.get(SESSIONS, name, namespace))
        except NotFound as error:
            raise _no_session(namespace, name) from error
        except KubeError as error:
            raise from_kube(error) from error
        except ValidationError as error:
            raise Refusal(
                500,
                "SessionUnreadable",
                "The session does not have the shape that this server knows.",
                "Server and CRDs are probably of different versions; install them from one "
                "release.",
            ) from error

    async def _write(self, session: AgentSession, report: Report) -> bool:
        """Store the report; False when the session was changed since it was read.

        The resourceVersion is sent so that two replicas cannot make a report go back, and the uid
        so that a report is never written to another session of the same name.
        """
        metadata = session.metadata
        applied = {
            "apiVersion": SESSIONS.api_version,
            "kind": SESSIONS.kind,
            "metadata": {
                "namespace": metadata.namespace,
                "name": metadata.name,
                "uid": metadata.uid,
                "resourceVersion": metadata.resource_version,
            },
            "status": {"report": report.dump()},
        }
        try:
            await self._client.apply(
                SESSIONS,
                applied,
                field_manager=FIELD_MANAGER,
                force=True,
                subresource="status",
            )
        except Conflict:
            return False
        except NotFound as error:
            raise _no_session(metadata.namespace, metadata.name) from error
        except KubeError as error:
            raise from_kube(error) from error
        return True


def _check(session: AgentSession, caller: Caller) -> None:
    pod = session.status.pod
    if pod is None:
        raise Refusal(
            403,
            "PodNotRecorded",
            "The operator has not recorded this session's pod yet.",
            "Send it again with the next heartbeat.",
            retry_after=5,
        )
    if pod.uid != caller.pod_uid:
        raise _wrong_pod("The token belongs to another pod than this session's.")
    if session.status.state is SessionState.DEAD:
        raise Refusal(
            409,
            SESSION_OVER,
            "This session has ended.",
            "Stop; its result is taken from the pod.",
        )


def _wrong_pod(message: str) -> Refusal:
    return Refusal(
        403, "WrongPod", message, "Only the pod in the session's status.pod may report for it."
    )


def _no_session(namespace: str, name: str) -> Refusal:
    return Refusal(
        404,
        "SessionNotFound",
        f"There is no AgentSession {namespace}/{name}.",
        "Stop; the session was deleted.",
    )
