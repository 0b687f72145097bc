"""Tells a story of a workflow in a cluster: runs end one at a time, and a person lets phases
begin."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bernstein.api.pod import LeftDocument
from bernstein.core import labels
from bernstein.core.documents import OUTPUT, handed
from bernstein.core.documents.values import Json
from bernstein.kube.errors import Invalid
from bernstein.kube.resource import Object
from tests.control_plane.controllers.kubelet import Pod
from tests.control_plane.controllers.world import PATIENCE, World, state_of
from tests.control_plane.node_logs import NodeLogs
from tests.control_plane.objects import AGENT_SESSIONS, APPROVALS, PLANS, TASKS
from tests.unit.core.plans.workflows.stories.story import Outcome, Story

PLAN = "flow"


@dataclass
class Teller:
    """Who plays the agents of one story, and its people."""

    world: World
    story: Story
    user: str
    logs: NodeLogs | None = None
    _turns: dict[str, asyncio.Event] = field(default_factory=dict)
    """By Task: its agent may end."""

    async def apply(self, **spec: Any) -> None:
        self.world.kubelet.on("agent", self.agent)
        workflow = self.story.workflow.dump()
        made = {"name": "Flow", "workflow": workflow, **spec}
        meta = {"name": PLAN, "namespace": self.world.namespace}
        body = {"apiVersion": PLANS.api_version, "kind": "Plan", "metadata": meta, "spec": made}
        await self.world.apply(PLANS, body)

    async def tell(self) -> Object:
        """To its end; the Plan as it is then."""
        async with asyncio.timeout(20 * PATIENCE):
            while True:
                plan = await self.world.get(PLANS, PLAN)
                if plan["status"].get("endedAt"):
                    return plan
                if not await self._go_on(plan):
                    await asyncio.sleep(0.05)

    async def _go_on(self, plan: Object) -> bool:
        """The run that has begun first ends; where none runs, a person decides."""
        status = plan["status"]
        nodes = {n["name"]: n for n in (status.get("workflow") or {"nodes": ()})["nodes"]}
        current = {n.get("task"): n for n in nodes.values() if n["state"] == "Running"}
        rows = [row for row in status.get("tasks", ()) if row["name"] in current]
        if not rows:
            return await self._decide(status)
        row = next((row for row in rows if row["node"] not in self.story.slow), rows[0])
        self._turn(row["name"]).set()

        def is_over(now: Object) -> bool:
            found = {n["name"]: n for n in now["status"]["workflow"]["nodes"]}[row["node"]]
            return bool(found["state"] != "Running" or found["run"] != row["run"])

        await self.world.until(PLANS, PLAN, is_over)
        return True

    async def _decide(self, status: Mapping[str, Any]) -> bool:
        phases = (status.get("workflow") or {}).get("phases", ())
        asked = next((p["approval"] for p in phases if "decision" not in p["approval"]), None)
        if asked is None:
            return False
        name = asked["name"]
        await self.world.until(APPROVALS, name, lambda a: state_of(a) == "Pending")
        told = {"decision": "Approve", "decidedBy": self.user}
        await self.world.change(APPROVALS, name, **told)
        await self.world.until(PLANS, PLAN, lambda p: _decided(p, name))
        return True

    def _turn(self, task: str) -> asyncio.Event:
        return self._turns.setdefault(task, asyncio.Event())

    async def agent(self, pod: Pod) -> None:
        """Works until it is its turn, and ends as the story says."""
        await pod.start()
        task = pod.labels[labels.TASK]
        await self._turn(task).wait()
        plan = await self.world.get(PLANS, PLAN)
        row = next(row for row in plan["status"]["tasks"] if row["name"] == task)
        outcome = self.story.outcome(row["node"], row["run"])
        if outcome.status == "cancelled":
            with contextlib.suppress(Invalid):  # its Plan may be cancelled already
                await self.world.change(TASKS, task, cancel={"reason": "not wanted"})
            await self.world.until(AGENT_SESSIONS, pod.job, lambda s: s["spec"].get("stop"))
            await pod.end("Succeeded", await pod.deliver(stopped="Cancelled"))
            return
        await pod.end("Succeeded", await pod.deliver(**self._final(pod, outcome)))

    def _final(self, pod: Pod, outcome: Outcome) -> dict[str, Any]:
        final: dict[str, Any] = {"text": outcome.result or ""}
        if outcome.status == "failed":
            final |= {"outcome": "AgentFailed", "message": "it gave up"}
        if outcome.output is not None:
            assert self.logs is not None
            document, left = written(outcome.output)
            rows = handed.lines(OUTPUT.name, document)
            self.logs.recorded_of[pod.name] = "".join(f"{row}\n" for row in rows).encode()
            final["documents"] = (left,)
        return final


def written(value: Json) -> tuple[bytes, LeftDocument]:
    document = json.dumps(value).encode()
    return document, LeftDocument(OUTPUT.name, len(document), handed.digest(document))


def _decided(plan: Object, name: str) -> bool:
    phases = plan["status"]["workflow"]["phases"]
    return any(p["approval"]["name"] == name and "decision" in p["approval"] for p in phases)


def order(plan: Object) -> str:
    rows = plan["status"].get("tasks", ())
    return " ".join(f"{row['node']}#{row['run']}" for row in rows)


_ENDS = {
    "Whole": ("Succeeded", None),
    "Failed": ("Failed", "TaskFailed"),
    "Exhausted": ("Failed", "RetryExhausted"),
}


async def assert_told(world: World, story: Story, plan: Object) -> None:
    status = plan["status"]
    assert order(plan) == story.order
    found = {node["name"]: node["state"] for node in status["workflow"]["nodes"]}
    assert found == {name: story.states.get(name, "Done") for name in found}
    stalls = (c["reason"] for c in status["conditions"] if c["type"] == "Stalled")
    assert (status["phase"], next(stalls, None)) == _ENDS[story.kind]
    asked = [phase["name"] for phase in status["workflow"].get("phases", ())]
    assert asked == list(story.asked)
    assert len(await world.all(APPROVALS)) == len(story.asked)
    rows = {row["name"] for row in status.get("tasks", ())}
    assert set(await world.all(TASKS)) == rows, "each run has one Task, and no other is there"
    for task in (await world.all(TASKS)).values():
        kinds = {each["type"] for each in task["status"]["conditions"] if each["status"] == "True"}
        assert not kinds & {"Reconciling", "Stalled"}, "what has ended says so, and asks nobody"
    assert await world.sessions() == sorted(f"{name}-s1" for name in rows), "one session each"
