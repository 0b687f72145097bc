"""The calls of a session's recorder: heartbeats, and the result at its end."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel

from bernstein.api.pod import AUDIENCE, SESSION_PATH
from bernstein.observe.logging import bound, logger
from bernstein.server.http.body import read_object
from bernstein.server.http.wire import peer
from bernstein.server.identity import Caller
from bernstein.server.report import Heartbeat, ResultBody, after_heartbeat, after_result, parse
from bernstein.server.routes.route import Route
from bernstein.server.service import service_of

log = logger("bernstein.server")

_NAME = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
Namespace = Annotated[str, Path(pattern=_NAME, max_length=63)]
SessionName = Annotated[str, Path(pattern=_NAME, max_length=253)]
Bearer = Annotated[
    HTTPAuthorizationCredentials | None,
    Depends(HTTPBearer(auto_error=False, description=f"The pod's token for {AUDIENCE}")),
]


async def authenticated(request: Request, bearer: Bearer) -> Caller:
    token = bearer.credentials if bearer is not None else ""
    return await service_of(request).identities.caller(token, peer(request.scope))


FromPod = Annotated[Caller, Depends(authenticated)]


class StopRequest(BaseModel):
    """The agent is to be ended softly."""

    reason: str


class HeartbeatAnswer(BaseModel):
    stop: StopRequest | None


class ResultAnswer(BaseModel):
    """Empty: there is nothing left to say."""


async def heartbeat(
    request: Request, namespace: Namespace, name: SessionName, caller: FromPod
) -> HeartbeatAnswer:
    """The recorder lives; the answer says whether the agent is to stop."""
    service = service_of(request)
    beat: Heartbeat = parse(Heartbeat, await read_object(request))
    session = await service.sessions.report(
        "heartbeat",
        namespace,
        name,
        caller,
        lambda old: after_heartbeat(old, beat, service.now()),
    )
    stop = session.spec.stop
    return HeartbeatAnswer(stop=StopRequest(reason=stop.reason) if stop else None)


async def result(
    request: Request, namespace: Namespace, name: SessionName, caller: FromPod
) -> ResultAnswer:
    """The recorder is done; may be repeated."""
    service = service_of(request)
    final: ResultBody = parse(ResultBody, await read_object(request))
    await service.sessions.report(
        "result", namespace, name, caller, lambda old: after_result(old, final, service.now())
    )
    with bound(namespace=namespace, name=name):
        log.info("result received", sha=final.sha)
    return ResultAnswer()


HEARTBEAT = Route("POST", f"{SESSION_PATH}/heartbeat", heartbeat, body=Heartbeat, frequent=True)
RESULT = Route("POST", f"{SESSION_PATH}/result", result, body=ResultBody)
