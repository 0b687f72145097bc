"""What `/metrics` of an operator and of a server say while they work: the engine plays in the
model's cluster, in virtual time, and a recorder reports to a server over HTTP."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import structlog

from bernstein.observe.metrics import ServerMetrics
from bernstein.observe.registry import Registry
from bernstein.server.app import create_app
from bernstein.server.service import Service
from tests.model.loop import run
from tests.model.scenario import Event, Scenario
from tests.model.world import World
from tests.monitoring import LEASE
from tests.unit.server.conftest import Callback, Clock
from tests.unit.server.session_api import NOW, SessionApi, token

STEP = 30
"""Seconds between two looks at `/metrics`."""
SECONDS = 3600
ROLES = ("backend", "qa", "security", "docs")
_SAMPLE = re.compile(r"^([^#\s{]+(?:\{.*\})?) (\S+)$")


@dataclass
class Target:
    """One process: what each look at its `/metrics` said, by the second."""

    job: str
    instance: str
    looks: dict[int, str] = field(default_factory=dict)

    def text(self, ends: float) -> str:
        """All looks in one text, as though the last one were at `ends` (seconds since 1970)."""
        return "".join(
            f"{sample[1]} {sample[2]} {round((ends - SECONDS + second) * 1000)}\n"
            for second, said in self.looks.items()
            for line in said.splitlines()
            if (sample := _SAMPLE.match(line))
        )


# --- the operator ---------------------------------------------------------------------------------


def scenario() -> Scenario:
    """An hour of a team: a Plan every few minutes, decisions, and what usually goes wrong."""
    plans = [_plan(n) for n in range(12)]
    decides = [{"at": float(at), "do": "decide all"} for at in range(300, SECONDS, 300)]
    asks: list[Event] = [
        {"at": 700.0, "do": "ask of a task", "verb": "Kill", "looks": 40, "pick": 0.4},
        {"at": 1500.0, "do": "retry", "kind": "tasks", "looks": 30, "pick": 0.5},
        {"at": 2000.0, "do": "cancel", "kind": "plans", "pick": 0.9},
    ]
    return Scenario(
        seed=11,
        rates="usual",
        events=tuple(sorted((*plans, *decides, *asks), key=lambda event: event["at"])),
        project={
            "approval": {"plan": "Never", "result": "HighRisk"},
            "gates": {
                "extends": "Default",
                "pipeline": [
                    {"name": "lint", "enabled": False},
                    {"name": "unit", "command": "make unit", "weight": 3},
                    {"name": "types", "command": "make types", "weight": 1, "required": False},
                ],
                "timeoutSeconds": 60,
            },
            "limits": {
                "maxAgents": 3,
                "timeoutSeconds": {"small": 600, "medium": 600, "large": 600},
            },
        },
        seconds=float(SECONDS),
    )


def _plan(number: int) -> Event:
    steps = [
        {
            "title": f"step {number} {n}",
            "role": ROLES[(number + n) % len(ROLES)],
            "complexity": ("low", "medium", "high")[n % 3],
            "completionSignals": [{"type": "test_passes", "command": "pytest"}],
        }
        for n in range(3)
    ]
    stages = [
        {"name": "build", "steps": steps[:2]},
        {"name": "check", "steps": steps[2:], "dependsOn": ["build"]},
    ]
    name = f"plan-{number}"
    spec: dict[str, Any] = {"name": name, "stages": stages, "budget": ("3", "1", "8")[number % 3]}
    return {"at": 60.0 + number * 270, "do": "apply plan", "name": name, "spec": spec}


def operator() -> Target:
    """Raises AssertionError where the model finds something."""
    target = Target("operator", "operator-0")

    async def main() -> None:
        world = World(scenario())
        looking = asyncio.create_task(_look_at(world, target))
        with _silent(), suppress(TimeoutError):
            await asyncio.wait_for(world.play(), SECONDS + 1)
        looking.cancel()
        assert not world.oracles.found

    run(main())
    return target


async def _look_at(world: World, target: Target) -> None:
    for second in range(0, SECONDS + 1, STEP):
        registry = world.replicas[0].metrics.registry
        said = await _said(registry)
        # The chart calls the Lease so; the model has one of its own.
        target.looks[second] = said.replace('name="operator"', f'name="{LEASE}"')
        await asyncio.sleep(STEP)


async def _said(registry: Registry) -> str:
    body, _ = await registry.scraped()
    return body.decode()


@contextmanager
def _silent() -> Iterator[None]:
    def drop(*_: object) -> Any:
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[drop], cache_logger_on_first_use=False)
    try:
        yield
    finally:
        structlog.configure(**before)


# --- the server -----------------------------------------------------------------------------------


def server() -> Target:
    """A recorder's heartbeats at every look, now and then a result, and what is not taken."""
    with _silent():
        return asyncio.run(_server())


async def _server() -> Target:
    target, clock, metrics = Target("server", "server-0"), Clock(), ServerMetrics()
    metrics.certificate_ends(time.time() + 80 * 86400)
    async with SessionApi.running() as api, api.client(observer=metrics) as client:
        app = create_app(Service(client, metrics, now=clock, clock=clock))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=("10.0.0.9", 4711))
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as http:
            recorder = Callback(http, token(expires=NOW + 2 * SECONDS))
            api.proofs[recorder.token] = api.proofs[token()]
            for number, second in enumerate(range(0, SECONDS + 1, STEP)):
                await _report(api, recorder, number)
                target.looks[second] = (await http.get("/metrics")).text
                clock.seconds += STEP
    return target


async def _report(api: SessionApi, recorder: Callback, number: int) -> None:
    name, beats = f"fix-s{number // 20}", number % 20
    if beats == 0:
        api.session(name)
    if beats == 19:
        await recorder.result(name)
    else:
        await recorder.heartbeat(name, seq=beats + 1)
    if beats == 7:
        await recorder.heartbeat("of-nobody")
        await Callback(recorder.http, "no token").heartbeat(name)
        await recorder.http.get("/healthz")
