"""What is pinned at the start does not change for what runs: the Project, the price, what judges.

Every Project has a repository of its own: by its URL a Job tells under which it was made.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from decimal import Decimal

import orjson

from bernstein.api import plan, project, session
from bernstein.api.meta import UsageCounts
from bernstein.api.pod import AGENT
from bernstein.api.project import CopiedPrice, Price
from bernstein.api.states import SessionState, TaskState
from bernstein.core import labels
from bernstein.core.money.pricing import cost, price_of
from bernstein.kube.resource import JOBS, Object, Resource, uid_of
from bernstein.resources import PLANS, PROJECTS, SESSIONS, TASKS
from tests.model.cluster.store import Store

PROJECT = "the Project is pinned at the start"
PRICE = "the price is pinned at the start"
JUDGES = "what judges is pinned at the start"
MODEL = "an agent is what its session says"

CACHE_SECONDS = 180.0
"""Longer than any watch is held back: a session is made by what its Project has said since."""
ROUNDED = Decimal("0.0001")
_URL = re.compile(rb"https://[\w./-]+\.git")
_WITH_SESSION = (TaskState.CLAIMED, TaskState.IN_PROGRESS)

Must = Callable[[bool, str, str], None]


class OracleOfPins:
    def __init__(self, store: Store, must: Must) -> None:
        """`must(holds, what, text)` is told of everything that must hold."""
        self._store = store
        self._must = must
        self._began: dict[str, str] = {}
        """The uid of the Project of each Task and Plan, by its own, from its start on."""
        self._urls: dict[str, bytes] = {}
        """By uid of the Project."""
        self._prices: dict[str, list[tuple[float, tuple[Price, ...]]]] = defaultdict(list)
        """What each Project has said of prices, and since when, by its uid."""
        self._sessions: dict[str, session.AgentSession] = {}
        """As they were made, by uid."""
        self._cost: dict[tuple[str, int], Decimal] = {}
        """US dollars of each session that has ended, by the uid of its Task and its number."""
        self._spent: dict[str, list[Decimal]] = defaultdict(list)
        """The same by the uid of its Plan."""
        store.hooks.append(self.seen)

    def seen(self, resource: Resource, old: Object | None, new: Object | None) -> None:
        """What was written: an object as it was before, and as it is."""
        if new is None:
            return
        if resource == PROJECTS:
            self._project(new)
        elif resource in (PLANS, TASKS):
            self._pinned(new)
            if old is not None:
                self._judged(old, new)
            if old is not None and resource == TASKS:
                self._settled(old, new)
        elif resource == SESSIONS:
            self._session(old, new)
        elif resource == JOBS and old is None:
            self._job(new)

    # --- the Project ------------------------------------------------------------------------------

    def _project(self, new: Object) -> None:
        uid, prices = uid_of(new), project.parse(new).spec.budget.prices
        self._urls[uid] = new["spec"]["repositories"][0]["url"].encode()
        said = self._prices[uid]
        if not said or said[-1][1] != prices:
            said.append((self._store.seconds, prices))

    def _pinned(self, new: Object) -> None:
        uid, now = uid_of(new), new.get("status", {}).get("projectUid")
        before = self._began.get(uid)
        name = new["metadata"]["name"]
        self._must(before is None or now == before, PROJECT, f"{name}: {before} -> {now}")
        if now is not None:
            self._began[uid] = now

    def _job(self, new: Object) -> None:
        """A Job is of the Project under which its owner began, whatever has its name now."""
        owner, name = new["metadata"]["labels"].get(labels.OWNER_UID, ""), new["metadata"]["name"]
        made = self._sessions.get(owner)
        began = self._began.get(made.spec.task_ref.uid if made is not None else owner)
        expected = self._urls.get(began or "")
        found = set(_URL.findall(orjson.dumps(new["spec"])))
        if expected is not None:
            self._must(found <= {expected}, PROJECT, f"{name}: {found}, not {expected!r}")
        if made is not None and new["metadata"]["labels"].get(labels.JOB) == AGENT:
            (agent,) = new["spec"]["template"]["spec"]["containers"]
            self._must(made.spec.model in agent["command"], MODEL, f"{name}: {made.spec.model}")

    # --- prices -----------------------------------------------------------------------------------

    def _session(self, old: Object | None, new: Object) -> None:
        name, uid = new["metadata"]["name"], uid_of(new)
        if old is None:
            self._sessions[uid] = made = session.parse(new)
            began = self._began.get(made.spec.task_ref.uid)
            known = {_copied(made.spec.model, p) for p in self._said_lately(began)}
            self._must(made.spec.price in known, PRICE, f"{name}: {made.spec.price}, not {known}")
            return
        dead = [obj.get("status", {}).get("state") == SessionState.DEAD for obj in (old, new)]
        if dead == [False, True]:
            self._ended(session.parse(new))

    def _said_lately(self, began: str | None) -> Iterable[tuple[Price, ...]]:
        since = self._store.seconds - CACHE_SECONDS
        said = self._prices[began or ""]
        older = [prices for at, prices in said if at <= since]
        return [*older[-1:], *(prices for at, prices in said if at > since)]

    def _ended(self, ended: session.AgentSession) -> None:
        spec, price = ended.spec, self._sessions[ended.metadata.uid].spec.price
        used = ended.status.usage or UsageCounts()
        dollars = cost(used, price) if price is not None else Decimal(0)
        self._cost[spec.task_ref.uid, spec.number] = dollars
        if spec.plan_ref is not None:
            self._spent[spec.plan_ref.uid].append(dollars)

    def _settled(self, old: Object, new: Object) -> None:
        """What a session has cost is added once it is over, by its own price."""
        before, after = (_settled_sessions(obj) for obj in (old, new))
        costs = [self._cost.get((uid_of(new), n)) for n in range(before + 1, after + 1)]
        known = [dollars for dollars in costs if dollars is not None]
        if len(known) < len(costs):
            return  # it has left nothing to count
        added = _spend(new) - _spend(old)
        text = f"{new['metadata']['name']}: {added} for {sum(known)}"
        self._must(abs(added - sum(known)) <= ROUNDED * len(known), PRICE, text)

    def miscounted(self) -> list[str]:
        """Plans whose spend is not that of their sessions, each by its own price; at the end."""
        found = map(plan.parse, self._store.all(PLANS))
        spent = [(p, self._spent[p.metadata.uid]) for p in found]
        return [
            f"Plan {p.metadata.name}: {p.status.spend_usd}, not {sum(costs)}"
            for p, costs in spent
            if abs(Decimal(p.status.spend_usd) - sum(costs)) > ROUNDED * (len(costs) + 1)
        ]

    # --- what judges ------------------------------------------------------------------------------

    def _judged(self, old: Object, new: Object) -> None:
        """All verdicts of a round are under one policy."""
        before, after = (obj.get("status", {}).get("verification") or {} for obj in (old, new))
        if not before.get("policy") or not after:
            return
        same = all(before.get(field) == after.get(field) for field in ("round", "sha", "ref"))
        policies = f"{before['policy'][:8]} -> {str(after.get('policy'))[:8]}"
        kept = not same or after.get("policy") == before["policy"]
        self._must(kept, JUDGES, f"{new['metadata']['name']}: {policies}")


def _settled_sessions(obj: Object) -> int:
    status = obj.get("status", {})
    return int(status.get("sessions", 0)) - (status.get("state") in _WITH_SESSION)


def _spend(obj: Object) -> Decimal:
    return Decimal(obj.get("status", {}).get("spendUsd", "0"))


def _copied(model: str, prices: Iterable[Price]) -> CopiedPrice | None:
    """The price of the model, as a session has it."""
    price = price_of(model, prices)
    return None if price is None else CopiedPrice.model_validate(price.dump())
