"""What happens in one run: a seed becomes a list of events, which can be kept and shrunk."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from bernstein.api.pod import AGENT, BEGIN, CHECK, INSPECT, LAND, PREPARE, PROBE
from tests.model.approvals.approvers import WHO
from tests.model.checks import known
from tests.model.cluster.kubelet import NODES
from tests.model.dice import Dice
from tests.model.keepers.events import keepers
from tests.model.pins.changes import changes

Event = dict[str, Any]
Fates = Mapping[str, Mapping[str, float]]

REFUSED = ("jobs", "jobs", "jobs", "agentsessions", "configmaps", "networkpolicies", "tasks")
"""What quotas and webhooks may refuse."""
ROLES = (AGENT, AGENT, CHECK, CHECK, INSPECT, BEGIN, PREPARE, LAND, LAND)
"""Whose image cannot be pulled for a while."""
DOLLARS = ("0.5", "2", "5")
"""Above which estimate of a Plan people are asked."""
PROTECTED: tuple[list[str], ...] = ([], [".github"], [".github/workflows", "a.py"])
"""What a Project may protect, beside the paths that every one does at first."""
PEOPLE_SECONDS = 900.0
"""People and trouble stop after so long."""


@dataclass(frozen=True)
class Rates:
    """How much goes wrong in a run, on average, and how pods end."""

    requests: float
    watches: float
    replicas: float
    nodes: float
    fates: Fates


def _fates(good: float) -> Fates:
    bad = 1 - good
    return {
        AGENT: {
            "good": good,
            "bad": bad / 3,
            "limited": bad / 9,
            "empty": bad / 6,
            "oom": bad / 9,
            "refused": bad / 9,
            "hangs": bad / 6,
        },
        CHECK: {"good": good, "bad": bad / 2, "tool": bad / 6, "oom": bad / 6, "hangs": bad / 6},
        INSPECT: {"good": 1},
        PROBE: {
            "good": good,
            "bad": bad / 3,
            "strong": bad / 3,
            "silent": bad / 6,
            "hangs": bad / 6,
        },
        "merge": {"good": good, "bad": bad / 4, "silent": bad / 2, "hangs": bad / 4},
    }


RATES = {
    "calm": Rates(1, 1, 0.2, 0.1, _fates(0.95)),
    "usual": Rates(6, 4, 1, 0.5, _fates(0.8)),
    "rough": Rates(20, 10, 3, 1.5, _fates(0.65)),
}


@dataclass(frozen=True)
class Scenario:
    """One run. `events` are in order of `at`, in seconds from its start."""

    seed: int
    rates: str = "usual"
    events: tuple[Event, ...] = ()
    replicas: int = 1
    project: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = PEOPLE_SECONDS

    def without(self, events: list[Event]) -> Scenario:
        return replace(self, events=tuple(e for e in self.events if e not in events))

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=1, sort_keys=True) + "\n")


def load(path: Path) -> Scenario:
    found = json.loads(path.read_text())
    return Scenario(**{**found, "events": tuple(found["events"])})


def generate(seed: int, rates: str = "usual") -> Scenario:
    dice = Dice(seed)
    made = _Maker(dice, RATES[rates])
    others = [each(dice, PEOPLE_SECONDS) for each in (changes, keepers, known.changes)]
    events = [*made.work(), *made.people(), *made.trouble(), *chain.from_iterable(others)]
    return Scenario(
        seed=seed,
        rates=rates,
        events=tuple(sorted(events, key=lambda event: event["at"])),
        replicas=2 if dice.chance(0.35, "replicas") else 1,
        project=_project(dice),
    )


def _project(dice: Dice) -> dict[str, Any]:
    """Fields of the Project's spec, apart from those that every Project has."""
    reading = dice.chance(0.3, "reads")
    pipeline: list[dict[str, Any]] = [
        {"name": name, "enabled": reading} for name in ("pii_scan", "merge_conflict")
    ]
    pipeline.append({"name": "lint", "enabled": False})
    for n in range(int(dice.between(0, 3, "gates"))):
        required = dice.chance(0.8, "required", n)
        pipeline.append({"name": f"gate_{n}", "command": f"make check-{n}", "required": required})
    if dice.chance(0.25, "formats"):
        pipeline.append({"name": "auto_format"})
    execution = dice.pick(("Parallel", "Sequential"), "execution")
    soon = int(dice.between(10, 1200, "kept"))
    return {
        "approval": _policy(dice, "asks") if dice.chance(0.5, "asks") else {},
        "retention": {"tasksSeconds": soon if dice.chance(0.4, "retention") else 604800},
        "gates": {
            "extends": "Default",
            "pipeline": pipeline,
            "timeoutSeconds": 60,
            "execution": execution,
            "cacheEnabled": known.keeps(dice),
            **({"allowBypass": True} if dice.chance(0.4, "bypass") else {}),
        },
        "network": {"git": [known.GIT]} if known.keeps(dice) else {},
        "limits": {
            "maxAgents": int(dice.between(1, 4, "agents")),
            "timeoutSeconds": {"small": 600, "medium": 600, "large": 600},
        },
    }


def _policy(dice: Dice, *which: object) -> dict[str, Any]:
    """When people decide, if they do."""
    policy: dict[str, Any] = {
        "plan": dice.pick(("Never", "AboveCost", "Always"), *which, "plan"),
        "result": dice.pick(("Never", "HighRisk", "Always"), *which, "result"),
        "movedBase": dice.pick(("Ask", "Keep"), *which, "moved"),
    }
    if policy["plan"] == "AboveCost":
        policy["aboveUsd"] = dice.pick(DOLLARS, *which, "above")
    if dice.chance(0.3, *which, "expires"):
        policy["expiresAfterSeconds"] = int(dice.between(60, 900, *which, "seconds"))
    if dice.chance(0.3, *which, "authors"):
        policy["approverIsNotAuthor"] = True
    return policy


class _Maker:
    def __init__(self, dice: Dice, rates: Rates) -> None:
        self._dice = dice
        self._rates = rates

    def _times(self, average: float, what: str) -> list[tuple[int, float]]:
        """So many moments, each with its number."""
        count = int(self._dice.between(0, 2 * average + 1, "how many", what))
        return [(n, self._at(what, n)) for n in range(count)]

    def _at(self, *what: object, latest: float = PEOPLE_SECONDS) -> float:
        return round(self._dice.between(0, latest, "at", *what), 2)

    # --- work -------------------------------------------------------------------------------------

    def work(self) -> list[Event]:
        plans = int(self._dice.between(0, 2.2, "plans"))
        tasks = int(self._dice.between(0 if plans else 1, 4, "tasks"))
        return [
            *(self._plan(n) for n in range(plans)),
            *(
                {
                    "at": self._at("task", n, latest=240),
                    "do": "apply task",
                    "name": f"task-{n}",
                    "spec": self._task(f"task {n}") | self._depends(n),
                }
                for n in range(tasks)
            ),
        ]

    def _depends(self, number: int) -> dict[str, Any]:
        """A Task without a Plan may wait for the one before it, which may be gone by then."""
        if number == 0 or not self._dice.chance(0.3, "depends", number):
            return {}
        return {"dependsOn": [f"task-{number - 1}"]}

    def _plan(self, number: int) -> Event:
        dice, name = self._dice, f"plan-{number}"
        stages = [
            {
                "name": f"stage {s}",
                "steps": [
                    self._step(f"step {number} {s} {n}")
                    for n in range(int(dice.between(1, 3, "steps", number, s)))
                ],
            }
            for s in range(int(dice.between(1, 3, "stages", number)))
        ]
        spec: dict[str, Any] = {"name": name, "stages": stages}
        if dice.chance(0.3, "plan agents", number):
            spec["maxAgents"] = 1
        if dice.chance(0.3, "budget", number):
            spec["budget"] = dice.pick(("0.02", "0.5", "5"), "budget", number)
        if dice.chance(0.3, "plan asks", number):
            spec["approval"] = _policy(dice, "plan asks", number)
        if spec.get("approval", {}).get("approverIsNotAuthor"):
            spec["author"] = dice.pick((WHO, "carl"), "author", number)
        at = self._at("plan", number, latest=240)
        return {"at": at, "do": "apply plan", "name": name, "spec": spec}

    def _step(self, title: str) -> dict[str, Any]:
        dice = self._dice
        step: dict[str, Any] = {"title": title}
        if dice.chance(0.5, title, "files"):
            step["files"] = [dice.pick(("a.py", "b.py", "lib/*.py", "lib/c.py"), title, "file")]
        if dice.chance(0.3, title, "signal"):
            step["completionSignals"] = [{"type": "test_passes", "command": "pytest"}]
        if dice.chance(0.2, title, "batch"):
            step["mode"] = "batch"
        if dice.chance(0.08, title, "role"):
            step["role"] = "security"
        if dice.chance(0.08, title, "complexity"):
            step["complexity"] = "high"
        if dice.chance(0.3, title, "priority"):
            step["priority"] = 1
        return step

    def _task(self, title: str) -> dict[str, Any]:
        step = self._step(title)
        if self._dice.chance(0.4, title, "retries"):
            step["maxRetries"] = 0
        return step

    # --- people -----------------------------------------------------------------------------------

    def people(self) -> list[Event]:
        patient = [
            {"at": 0.0, "do": "retry", "kind": kind, "looks": 60, "pick": 0.5}
            for kind in ("plans", "tasks")
            if self._dice.chance(0.5, "patient", kind)
        ]
        if self._dice.chance(0.5, "patient", "part"):
            patient.append({"at": 0.0, "do": "deliver partial", "looks": 60, "pick": 0.5})
        asks = (self._ask(n, at) for n, at in self._times(2.0, "requests of tasks"))
        decides = [{"at": self._at("decides", latest=120), "do": "decide all"}]
        acts = [self._act(n, at) for n, at in self._times(3.0, "people")]
        return [*acts, *patient, *asks, *decides, *self._decisions(), *self._changes()]

    def _ask(self, number: int, at: float) -> Event:
        """Somebody asks for something of a Task: most wait until it makes sense."""
        dice = self._dice
        verbs = {"Kill": 4.0, "Unclaim": 2, "Unblock": 3, "Verify": 4, "Remerge": 2}
        return {
            "at": at,
            "do": "ask of a task",
            "verb": dice.weighed(verbs, "verb", number),
            "looks": 40 if dice.chance(0.7, "looks", number) else 0,
            "pick": round(dice.draw("whose request", number), 3),
            "twice": dice.chance(0.2, "twice", number),
        }

    def _decisions(self) -> list[Event]:
        """Of people who decide at any moment, whatever became of it; where nobody is asked, nothing
        comes of them."""
        dice, made = self._dice, []
        for n, at in self._times(2.0, "decisions"):
            pick = round(dice.draw("about", n), 3)
            decision = dice.pick(("Approve", "Reject", "Retry"), "decision", n)
            made.append({"at": at, "do": "decide", "pick": pick, "decision": decision})
            if dice.chance(0.5, "deletes", n):
                event = {"do": "delete", "kind": "approvals", "propagation": "Background"}
                made.append(event | {"at": self._at("deletes", n), "pick": pick})
        return made

    def _changes(self) -> list[Event]:
        """Of what people are asked about: other policies, protected paths, and budgets of Plans."""
        dice = self._dice
        policies = [
            {"at": at, "do": "policy", "policy": _policy(dice, "policy", n)}
            for n, at in self._times(1.0, "policies")
        ]
        budgets = [
            {"at": at, "do": "budget", "pick": round(dice.draw("whose budget", n), 3)}
            | {"figure": dice.pick(("5", "100", None), "figure", n)}
            for n, at in self._times(1.0, "budgets")
        ]
        bypasses = [
            {"at": at, "do": "allow bypass", "allow": dice.chance(0.6, "allows", n)}
            for n, at in self._times(0.7, "bypasses")
        ]
        protects = [
            {"at": at, "do": "protect", "paths": dice.pick(PROTECTED, "protects", n)}
            for n, at in self._times(0.5, "protects")
        ]
        return [*policies, *budgets, *bypasses, *protects]

    def _act(self, number: int, at: float) -> Event:
        dice = self._dice
        acts: dict[str, float] = {
            "cancel": 4,
            "delete": 4,
            "suspend": 1,
            "edit project": 2,
            "push": 2,
            "apply again": 1,
            "budget": 1,
            "meddle": 1,
            "retry": 3,
            "deliver partial": 2,
        }
        act = dice.weighed(acts, "act", number)
        event: Event = {"at": at, "do": act, "pick": round(dice.draw("which", number), 3)}
        if act in ("cancel", "retry"):
            event["kind"] = dice.pick(("plans", "tasks"), "kind", number)
        if act in ("retry", "deliver partial"):
            event["looks"] = 0
        if act == "delete":
            kinds = ("plans", "tasks", "tasks", "agentsessions", "jobs", "pods")
            event["kind"] = dice.pick(kinds, "kind", number)
            ways = ("Background", "Foreground")  # the chart refuses to leave anything behind
            event["propagation"] = dice.pick(ways, "way", number)
        if act == "edit project":
            event["change"] = dice.pick(
                ("agents", "gates off", "gates on", "gate"), "change", number
            )
        if act == "meddle":
            back = round(dice.between(1, 600, "meddled", number), 1)
            event["seconds"] = back if dice.chance(0.7, "put back", number) else None
        if act == "suspend":
            event["seconds"] = round(dice.between(10, 600, "suspended", number), 1)
        return event

    # --- trouble ----------------------------------------------------------------------------------

    def trouble(self) -> list[Event]:
        rates = self._rates
        return [
            *(self._request(n, at) for n, at in self._times(rates.requests, "requests")),
            *(self._watch(n, at) for n, at in self._times(rates.watches, "watches")),
            *(self._replica(n, at) for n, at in self._times(rates.replicas, "replicas")),
            *(self._node(n, at) for n, at in self._times(rates.nodes, "nodes")),
            *(self._secret(n, at) for n, at in self._times(rates.nodes / 2, "secrets")),
        ]

    def _request(self, number: int, at: float) -> Event:
        dice = self._dice
        ways: dict[str, float] = {
            "late": 4,
            "timeout": 3,
            "error_after": 3,
            "dropped": 1,
            "error": 1,
            "conflict": 1,
            "busy": 1,
            "slow": 2,
            "forbidden": 1,
        }
        what = dice.weighed(ways, "fault", number)
        event: Event = {"at": at, "do": "fault", "what": what}
        match what:
            case "late" | "forbidden":
                kinds = ("jobs", "agentsessions", "tasks", "approvals")
                event["verb"] = dice.pick(("POST", "POST", "PATCH", "DELETE"), "late verb", number)
                if event["verb"] == "PATCH":
                    kinds = ("tasks", "plans", "agentsessions", "approvals")
                event["resource"] = dice.pick(kinds, "kind", number)
                if event["verb"] == "DELETE":
                    event["resource"] = "jobs"
                if what == "forbidden":
                    event |= {"verb": "POST", "resource": dice.pick(REFUSED, "refused", number)}
                event["seconds"] = round(dice.between(0, 60, "late", number), 1)
            case "slow":
                event["verb"] = "LIST"
                event["seconds"] = round(dice.between(1, 25, "slow", number), 1)
            case "conflict":
                event["verb"] = "PATCH"
            case "busy":
                event["seconds"] = int(dice.between(1, 20, "busy", number))
            case _:
                event["verb"] = dice.pick(("POST", "PATCH", "DELETE", "write"), "verb", number)
        return event

    def _watch(self, number: int, at: float) -> Event:
        dice = self._dice
        what = dice.weighed({"lag": 5.0, "gone": 1, "broken": 1, "doubles": 1}, "watch", number)
        kinds = ("jobs", "pods", "tasks", "agentsessions", "plans", "projects", "approvals")
        seconds = round(dice.pick((2, 10, 30, 60, 120), "lag", number) * dice.draw("s", number), 1)
        kind = dice.pick(kinds, "lags", number)
        return {"at": at, "do": what, "resource": kind, "seconds": seconds}

    def _replica(self, number: int, at: float) -> Event:
        dice = self._dice
        ways = {"crash": 4.0, "crash at write": 4, "cut off": 2, "stop": 1, "clock": 2}
        what = dice.weighed(ways, "replica", number)
        event: Event = {"at": at, "do": what, "replica": int(dice.between(0, 2, "whose", number))}
        if what == "cut off":
            event["seconds"] = round(dice.between(5, 120, "cut", number), 1)
        if what == "clock":
            event["seconds"] = round(dice.between(-3600, 3600, "jump", number))
        if what == "crash at write":
            event["after"] = dice.chance(0.5, "after", number)
        return event

    def _secret(self, number: int, at: float) -> Event:
        """Somebody deletes the Secret of the work account, and makes it again."""
        seconds = round(self._dice.between(5, 900, "secret seconds", number), 1)
        return {"at": at, "do": "secret", "seconds": seconds}

    def _node(self, number: int, at: float) -> Event:
        dice = self._dice
        ways = {
            "dead": 2.0,
            "cut": 2,
            "removed": 2,
            "drain": 3,
            "quota": 2,
            "forbid": 2,
            "image": 2,
            "slow starts": 1,
        }
        what = dice.weighed(ways, "node", number)
        seconds = round(dice.between(10, 900, "node seconds", number), 1)
        event: Event = {"at": at, "do": what, "seconds": seconds}
        if what in ("dead", "cut", "removed", "drain"):
            event["node"] = dice.pick(NODES[:2], "which node", number)
        if what in ("dead", "removed") and dice.chance(0.5, "for ever", number):
            event["seconds"] = None
        if what == "dead" and dice.chance(0.3, "noticed", number):
            event["noticed"] = False
        if what == "forbid":
            event |= {"resource": dice.pick(REFUSED, "refused kind", number), "name": ""}
        if what == "image":
            event["role"] = dice.pick(ROLES, "image of", number)
        return event
