"""One run from its first second to its end, and what was found."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

import structlog

from bernstein.controllers.traces.collector import Collector as TakesSpans
from tests.model import endings
from tests.model.approvals.approvers import Approvers
from tests.model.approvals.oracle import OraclesOfDecisions
from tests.model.approvals.policies import Policies
from tests.model.checks import known
from tests.model.client import Process
from tests.model.cluster.collector import Collector
from tests.model.cluster.job_controller import JobController
from tests.model.cluster.kubelet import Kubelets
from tests.model.cluster.programs import Programs
from tests.model.cluster.store import Store
from tests.model.dice import Dice
from tests.model.loop import Standstill, run
from tests.model.oracles import Oracles
from tests.model.people import TARGET, People
from tests.model.pins.oracle import PRICE, OracleOfPins
from tests.model.pins.projects import Projects
from tests.model.replicas import Replica
from tests.model.scenario import RATES, Event, Scenario
from tests.model.trouble import Troubles
from tests.model.violation import Violation
from tests.unit.core.simulation.remote import Remote

REFUSALS = (400, 403, 403, 418, 422, 451)
"""What quotas, policies and webhooks answer; a webhook that chooses no status is told of as 400."""
LONGEST_REST = 2 * 3600.0
"""So long after people and trouble have stopped everything has ended, or says why not."""
PROBED_SECONDS = 2400.0
"""So long after that what is held has been tried again several times, if the clocks are right."""
LOOK_SECONDS = 60.0
QUIET_SECONDS = 120.0
ON_ITS_WAY_SECONDS = 5.0
"""Longer than a change takes to a cache, once nobody holds a watch back."""
LAST_LOOKS = 10
"""What is found at the end is found at all of so many looks: else it was only on its way."""


@dataclass(frozen=True)
class Outcome:
    scenario: Scenario
    violations: tuple[Violation, ...]
    seconds: float
    """Virtual ones."""

    @property
    def what(self) -> str | None:
        """The first rule that was broken."""
        return self.violations[0].what if self.violations else None


class World:
    def __init__(self, scenario: Scenario, collector: TakesSpans | None = None) -> None:
        """`collector`: who takes spans; None: the operator makes none."""
        dice = Dice(scenario.seed)
        self.scenario = scenario
        self.dice = dice
        self.store = Store()
        self.remote = Remote(TARGET)
        self.people = People(self.store, self.remote)
        self.approvers = Approvers(self.store, dice)
        self.policies = Policies(self.store, dice)
        self.oracles = OraclesOfDecisions(self.store, self.people, self.approvers, self.policies)
        self.projects = Projects(self.store, self.people)
        self.pins = OracleOfPins(self.store, self.oracles.must)
        self.programs = Programs(self.store, self.remote, dice, RATES[scenario.rates].fates)
        self.programs.repeats = known.repeats(scenario.project)
        self.oracles.steady = _is_steady(scenario)
        self.programs.witness = self.oracles
        self.kubelets = Kubelets(self.store, self.programs, dice, self.oracles)
        self.jobs = JobController(self.store, dice)
        self.collector = Collector(self.store, dice)
        self.troubles = Troubles(self.store)
        self.replicas = [
            Replica(n, self.store, self.troubles, scenario.seed, collector)
            for n in range(scenario.replicas)
        ]
        self.troubles.happen = self.happen
        self.violated = asyncio.Event()
        self.oracles.on_violation = self.violated.set

    async def play(self) -> Outcome:
        self.people.make_project(self.scenario.project)
        self.policies.begin()
        loop, begun = asyncio.get_running_loop(), self.store.seconds
        for event in self.scenario.events:
            loop.call_later(event["at"], self.happen, event)
        working = [asyncio.create_task(r.run()) for r in self.replicas]
        working.append(asyncio.create_task(self.collector.pods()))
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.violated.wait(), self.scenario.seconds)
            if not self.violated.is_set():
                self._calm()
                await self._rest()
        finally:
            self.kubelets.stop()
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)
        return Outcome(self.scenario, tuple(self.oracles.found), self.store.seconds - begun)

    # --- events -----------------------------------------------------------------------------------

    def happen(self, event: Event) -> None:
        if self.violated.is_set():
            return
        act = getattr(self, "_" + event["do"].replace(" ", "_"), self.people.act)
        act(event)

    def _decide(self, event: Event) -> None:
        self.approvers.decide(event)

    def _decide_all(self, _: Event) -> None:
        self.approvers.look()

    def _policy(self, event: Event) -> None:
        self.policies.change(event)

    def _protect(self, event: Event) -> None:
        self.policies.protect(event)

    def _allow_bypass(self, event: Event) -> None:
        self.policies.allow_bypass(event)

    def _project(self, event: Event) -> None:
        self.projects.change(event)

    def _fault(self, event: Event) -> None:
        self.troubles.arm(dict(event))

    def _lag(self, event: Event) -> None:
        self.troubles.lag(event["resource"], event["seconds"])

    def _gone(self, event: Event) -> None:
        self.troubles.end_watches(event["resource"], "gone")

    def _broken(self, event: Event) -> None:
        self.troubles.end_watches(event["resource"], "broken")

    def _doubles(self, event: Event) -> None:
        self.troubles.double(event["resource"], event["seconds"])

    def _crash(self, event: Event) -> None:
        self._replica(event).kill()

    def _crash_at_write(self, event: Event) -> None:
        what = "crash_after" if event.get("after") else "crash"
        self.troubles.arm({"what": what, "verb": "write"})

    def _stop(self, event: Event) -> None:
        self._replica(event).stop()

    def _cut_off(self, event: Event) -> None:
        self._replica(event).cut_off(event["seconds"])

    def _clock(self, event: Event) -> None:
        self._replica(event).jumped += event["seconds"]

    def _dead(self, event: Event) -> None:
        node = event.get("node") or self.kubelets.node_of(event["job"])
        self.kubelets.fail(node, event["do"], noticed=event.get("noticed", True))
        if event["seconds"] is not None:
            self._later(event["seconds"], self.kubelets.mend, node)

    _cut = _removed = _dead

    def _drain(self, event: Event) -> None:
        self.kubelets.drain(event["node"])

    def _quota(self, event: Event) -> None:
        self.jobs.refuses_pods_until = self.store.seconds + event["seconds"]

    def _forbid(self, event: Event) -> None:
        """A quota answers with 403, a webhook with whatever it chooses."""
        kind, name = event.get("resource", "jobs"), event["name"]
        status = event.get("status") or self.dice.pick(REFUSALS, "refuses", kind, name)
        rule = (kind, name, status)
        self.store.forbidden.append(rule)
        if event.get("seconds") is not None:
            self._later(event["seconds"], self.store.forbidden.remove, rule)

    def _image(self, event: Event) -> None:
        self.kubelets.bad_images.add(event["role"])
        self._later(event["seconds"], self.kubelets.bad_images.discard, event["role"])

    def _secret(self, event: Event) -> None:
        self.kubelets.missing_secrets += 1
        self._later(event["seconds"], self._secret_again, event)

    def _secret_again(self, _: Event) -> None:
        self.kubelets.missing_secrets -= 1

    def _slow_starts(self, event: Event) -> None:
        self.kubelets.slow_starts = 20.0

    def _fate(self, event: Event) -> None:
        self.programs.forced.append(dict(event))

    @staticmethod
    def _later(seconds: float, act: Callable[[Any], None], what: object) -> None:
        asyncio.get_running_loop().call_later(seconds, act, what)

    def _replica(self, event: Event) -> Replica:
        """Of the number that is named, or whoever leads."""
        if "replica" in event:
            return self.replicas[int(event["replica"]) % len(self.replicas)]
        return next((r for r in self.replicas if r.leading), self.replicas[0])

    # --- afterwards -------------------------------------------------------------------------------

    def _calm(self) -> None:
        """People go home, and nothing more goes wrong; a node that is dead for ever stays so."""
        self.troubles.stop()
        self.people.go_home()
        self.jobs.refuses_pods_until = 0.0
        self.kubelets.bad_images.clear()
        self.kubelets.slow_starts = 0.0
        self.programs.all_good = True
        for node in self.kubelets.nodes.values():
            if node.state == "cut":
                self.kubelets.mend(node.name)

    async def _rest(self) -> None:
        begun = self.store.seconds
        dead = {n.name for n in self.kubelets.nodes.values() if n.state == "dead"}
        late = any(event["do"] == "clock" for event in self.scenario.events)
        while self.store.seconds < begun + LONGEST_REST and not self.violated.is_set():
            await asyncio.sleep(LOOK_SECONDS)
            quiet = self.store.seconds - self.oracles.last_write > QUIET_SECONDS
            if quiet and not endings.unfinished(self.store):
                break
            probed = not late and self.store.seconds - begun > PROBED_SECONDS
            if probed and not endings.without_reason(self.store, dead):
                break
        if self.violated.is_set():
            return
        for text in await self._lasting(dead):
            self.oracles.fail("it ends, or says why it waits", text)
        self._final(late)
        for text in await self.ghosts():
            self.oracles.fail("a cache shows what there is", text)

    def _final(self, late: bool) -> None:
        """What must hold at the end. `late`: the time of day has jumped."""
        for text in () if late else endings.kept_too_long(self.store):
            self.oracles.fail("what has ended is kept for its time", text)
        for text in () if self.store.forbidden else endings.unsound(self.store):
            self.oracles.fail("a Project whose credentials are sound is Ready and at rest", text)
        for text in endings.miscounted(self.store, self.oracles):
            self.oracles.fail("spend is counted once", text)
        for text in self.pins.miscounted():
            self.oracles.fail(PRICE, text)
        for text in endings.parts(self.store, self.oracles):
            self.oracles.fail("what is delivered is the chain of the ledger", text)

    async def ghosts(self) -> list[str]:
        """What a leader's caches show, and go on to show, instead of what there is."""
        found = self._shown_instead()
        if found:
            await asyncio.sleep(ON_ITS_WAY_SECONDS)
            now = self._shown_instead()
            found = [each for each in found if each in now]
        return [text for _, text, _ in found]

    def _shown_instead(self) -> list[tuple[Process, str, str | None]]:
        return [
            (replica.process, text, version)
            for replica in self.replicas
            if replica.leading
            for text, version in endings.ghosts(self.store, replica).items()
        ]

    async def _lasting(self, dead: set[str]) -> list[str]:
        found = endings.without_reason(self.store, dead)
        for _ in range(LAST_LOOKS):
            if not found:
                break
            await asyncio.sleep(LOOK_SECONDS)
            now = endings.without_reason(self.store, dead)
            found = [text for text in found if text in now]
        return found


def _is_steady(scenario: Scenario) -> bool:
    """Whether the operator's only process lives from the beginning to the end, and is heard of."""
    breaks = {"crash", "crash at write", "stop", "cut off"}
    whole = not any(
        event["do"] in breaks or str(event.get("what")).startswith("crash")
        for first in scenario.events
        for event in (first, *first.get("then", ()))
    )
    return scenario.replicas == 1 and whole


def lived(scenario: Scenario, collector: TakesSpans | None = None) -> tuple[World, Outcome]:
    """The world at the end of a scenario, too. Raises Standstill."""

    async def main() -> tuple[World, Outcome]:
        world = World(scenario, collector)
        with _listening(world.oracles):
            return world, await world.play()

    return run(main())


def play(scenario: Scenario) -> Outcome:
    """Plays a scenario; what the operator logs of its own defects counts as found."""
    try:
        return lived(scenario)[1]
    except Standstill:
        return Outcome(scenario, (Violation(0.0, "it goes on", "nothing is scheduled"),), 0.0)


@contextlib.contextmanager
def _listening(oracles: Oracles) -> Iterator[None]:
    """The log is silent, but for what a developer must see: an exception that nobody foresaw."""

    def hear(_: Any, method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
        if method in ("error", "exception") and event.get("exc_info"):
            error = event["exc_info"]
            oracles.fail("no defects", f"{event.get('event')}: {error!r}")
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[hear], cache_logger_on_first_use=False)
    try:
        yield
    finally:
        structlog.configure(**before)
