"""What must hold after every single write, and at everything that pods really do."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable
from datetime import timedelta
from decimal import Decimal

from bernstein.api import plan, session, task
from bernstein.api.meta import ConditionType, UsageCounts
from bernstein.api.plan import DELIVERED_PARTIALLY
from bernstein.api.pod import AGENT, BEGIN, LAND, PREPARE, PROBE
from bernstein.api.reasons import Reason
from bernstein.api.states import (
    SESSION_INITIAL,
    SESSION_MOVES,
    TASK_INITIAL,
    TASK_MOVES,
    SessionState,
    TaskState,
)
from bernstein.api.task import Task, TaskStatus
from bernstein.api.verification import Verification
from bernstein.core import labels, pods
from bernstein.core.fsm import ACTIVE, is_final
from bernstein.core.money.pricing import add
from bernstein.core.runs import LOST_SECONDS
from bernstein.core.scheduling.opening import is_new
from bernstein.kube.resource import JOBS, PODS, Object, Resource, is_deleting, uid_of
from bernstein.resources import PLANS, PROJECTS, SESSIONS, TASKS
from tests.model.checks.oracle import Verdicts
from tests.model.cluster.programs import Run
from tests.model.cluster.store import Store
from tests.model.endings import (
    chain_of,
    goes_in_part,
    goes_on,
    goes_too_early,
    is_judged_anew,
    rounds,
    rounds_granted,
    unheard,
    wrongly_moved,
)
from tests.model.people import People
from tests.model.violation import Violation
from tests.unit.core.scheduling.overlap import overlap
from tests.unit.core.simulation.invariants import consistent

DELIVERED = ("Succeeded", DELIVERED_PARTIALLY)
"""Phases of Plans after which nothing lands in their integration refs."""
MOVES_REFS = (BEGIN, PREPARE, LAND)
LATE_SECONDS = 900.0  # a Project's new limit counts for everybody after so long
SOON_SECONDS = 180.0
"""Longer than any watch is held back."""
OVERRUN_SECONDS = 300.0
"""From when a run should have been ended by its node until it is told to end, at most."""
MOST_WRITES = 40
"""Status writes of one object in a minute: more are a loop."""


class Oracles:
    def __init__(self, store: Store, people: People) -> None:
        self.found: list[Violation] = []
        self.on_violation: Callable[[], None] = lambda: None
        self.runs: list[Run] = []
        self.steady = True
        """One process of the operator sees all: another one measures anew how long a run takes."""
        self.last_write = 0.0
        """When a status of ours was written last."""
        self._store = store
        self._people = people
        self._tasks: dict[str, Task] = {}
        """Last state of every Task that ever was, by uid."""
        self._task_of: dict[str, str] = {}
        """Uid of a session's Task, by the session's."""
        self._over: set[str] = set()
        """Uids of sessions, Tasks and Plans that have ended."""
        self._cancelled: set[str] = set()
        self._pushed: Counter[str] = Counter()
        self._delivered: set[str] = set()
        """Integration refs of Plans that were delivered, as a whole or in part."""
        self.landed: dict[str, list[str]] = defaultdict(list)
        """Commits that our Jobs have landed, in order, by ref."""
        self._verdicts = Verdicts(people.remote.tree)
        self._approved: set[str] = set()
        """Commits that statuses call verified."""
        self.spent: dict[str, UsageCounts] = defaultdict(UsageCounts)
        """What ended sessions used, by the uid of their Task and by that of their Plan."""
        self._writes: dict[str, deque[float]] = defaultdict(deque)
        store.hooks.append(self._changed)

    def fail(self, what: str, text: str) -> None:
        self.found.append(Violation(self._store.seconds - 1000, what, text))
        self.on_violation()

    def must(self, holds: bool, what: str, text: str) -> None:
        if not holds:
            self.fail(what, text)

    # --- what pods do -----------------------------------------------------------------------------

    def started(self, run: Run) -> None:
        self.runs.append(run)
        task = self._task_of.get(run.owner)
        if run.role == AGENT:
            same = [r for r in self._beside(run, AGENT) if self._task_of.get(r.owner) == task]
            self._alone(run, same, "one agent per Task")
        if run.role == PROBE:
            same = [r for r in self._beside(run, PROBE) if r.owner == run.owner]
            self._alone(run, same, "one probe per Project")
        if run.role in MOVES_REFS:
            same = [r for r in self._beside(run, *MOVES_REFS) if r.owner == run.owner]
            self._alone(run, same, "refs are moved one by one")
        if {run.owner, task} & self._over and not is_judged_anew(self._tasks.get(run.owner), run):
            self._too_late(run)
        if self.steady:
            spec = run.pod["spec"]
            limit = spec["activeDeadlineSeconds"] + spec.get("terminationGracePeriodSeconds", 0)
            after = limit + LOST_SECONDS + OVERRUN_SECONDS
            asyncio.get_running_loop().call_later(after, self._overrun, run)
        self._verdicts.started(run)

    def _beside(self, run: Run, *roles: str) -> list[Run]:
        return [other for other in self._at_work() if other is not run and other.role in roles]

    def _alone(self, run: Run, others: Iterable[Run], what: str) -> None:
        jobs = [other.job for other in others]
        self.must(not jobs, what, f"{run.job} beside {jobs}")

    def _too_late(self, run: Run) -> None:
        """Its Job was made by a request that nobody waited for any more.

        What cannot change anything for good must end soon; an agent and a push must not begin, and
        of what was cancelled nothing.
        """
        text = f"{run.job} starts, but its owner has ended"
        if run.role in (AGENT, LAND) or run.owner in self._cancelled:
            self.fail("an end is an end", text)

        def look() -> None:
            ends = not run.live or run.shared.get("unheard") or run.told_to_end
            self.must(bool(ends), "an end is an end", f"{text}, and goes on")

        asyncio.get_running_loop().call_later(SOON_SECONDS, look)

    def _overrun(self, run: Run) -> None:
        live = self._store.find(PODS, run.key)
        there = live is not None and uid_of(live) == run.uid
        if live is not None and there and not pods.has_ended(live):
            self.must(is_deleting(live), "time is limited", f"{run.job} is not told to end")

    def _at_work(self) -> list[Run]:
        """Those of whose node everybody hears."""
        self.runs = [run for run in self.runs if run.live]
        return [run for run in self.runs if not run.shared.get("unheard")]

    def judged(self, run: Run, sha: str, verdict: str) -> None:
        self._verdicts.told(run, sha, verdict)

    def pushed(self, run: Run, onto: str, sha: str) -> None:
        owner = run.owner
        self._pushed[owner] += 1
        self.landed[onto].append(sha)
        self.must(onto not in self._delivered, "an end is an end", f"{run.job} lands after all")
        after = self._plan_of(owner) in self._over
        self.must(not after, "an end is an end", f"{run.job} lands, but its Plan has ended")
        self.must(self._pushed[owner] == 1, "it lands once", f"{run.job} pushes {sha[:8]} again")
        self.must(owner not in self._cancelled, "cancelled is cancelled", f"{run.job} pushes")
        self.must(sha in self._approved, "only what was judged lands", f"{run.job}: {sha[:8]}")

    def _plan_of(self, uid: str) -> str | None:
        """Uid of the Plan of a Task that is there, maybe because somebody keeps it."""
        for obj in self._store.all(TASKS):
            if uid_of(obj) == uid:
                return next((o["uid"] for o in obj["metadata"].get("ownerReferences", ())), None)
        return None

    # --- what is written --------------------------------------------------------------------------

    def _changed(self, resource: Resource, old: Object | None, new: Object | None) -> None:
        stood = resource == TASKS and old is not None and not is_deleting(old)
        if old is not None and stood and (new is None or is_deleting(new)):
            self._goes(task.parse(old))
        if resource == JOBS and goes_too_early(self._store, old, new, self._people.deleted):
            self.fail("who has said how it ended may stay", f"{old and old['metadata']['name']}")
        if resource == PROJECTS and old and new and old.get("status") != new.get("status"):
            self._count(new)
        if resource not in (TASKS, PLANS, SESSIONS) or new is None:
            return
        if old is not None and old.get("status") == new.get("status"):
            return
        if old is not None:
            self._count(new)
        if resource != SESSIONS:
            self._waits(new)
        self._held_by_optional(new)
        if resource == TASKS:
            self._task(task.parse(old) if old else None, task.parse(new))
        elif resource == SESSIONS:
            self._session(session.parse(old) if old else None, session.parse(new))
        else:
            self._plan(plan.parse(old) if old else None, plan.parse(new))

    def _goes(self, gone: Task) -> None:
        """A Task is deleted: by people, with its Plan, or because its time is over."""
        meta = gone.metadata
        if meta.uid in self._people.deleted or meta.owner_references:
            return
        what, name = "what goes by its age has ended", meta.name
        self.must(is_final(gone.status, gone.spec.max_retries), what, f"{name} has not")
        # Who was applied a moment ago may not have been seen.
        known = self._store.now() - timedelta(seconds=SOON_SECONDS)
        for other in map(task.parse, self._store.all(TASKS)):
            created = other.metadata.creation_timestamp
            if name in other.spec.depends_on and created is not None and created < known:
                ended = is_final(other.status, other.spec.max_retries)
                over = ended or other.metadata.deletion_timestamp is not None
                self.must(over, what, f"{other.metadata.name} waits for {name}")

    def _waits(self, new: Object) -> None:
        """As it is written: what is read, older releases may have said otherwise."""
        status, kind = new.get("status", {}), ConditionType.STALLED
        told = [(c["type"], c["status"]) for c in status.get("conditions", ())]
        stalled = (kind, "True") in told
        asks = bool((status.get("waiting") or {}).get("needsPerson"))
        self.must(stalled == asks, "who stalls waits for a person", new["metadata"]["name"])
        older = {"hold", "queue"} & status.keys()
        self.must(not older, "one field says why it waits", f"{new['metadata']['name']}: {older}")

    def _held_by_optional(self, new: Object) -> None:
        """A check that is not required keeps nothing back: what it is called, its message says."""
        waiting = new.get("status", {}).get("waiting") or {}
        if waiting.get("reason") != Reason.GATE_ERRORED:
            return
        for gate in self._people.optional:
            text = f"{new['metadata']['name']}: {waiting['message'][:80]}"
            named = waiting["message"].startswith(f"'{gate}' ")
            self.must(not named, "what is not required holds nothing", text)

    def _count(self, new: Object) -> None:
        now, writes = self._store.seconds, self._writes[uid_of(new)]
        self.last_write = now
        writes.append(now)
        while writes[0] < now - 60:
            writes.popleft()
        name = new["metadata"]["name"]
        self.must(len(writes) <= MOST_WRITES, "no write loop", f"{new['kind']} {name}")

    def _task(self, old: Task | None, new: Task) -> None:
        name, status, uid = new.metadata.name, new.status, new.metadata.uid
        self._tasks[uid] = new
        self._conditions(name, status)
        if old is not None:
            self._monotonic(name, old, new)
            self._answers(name, new, old)
        before = old.status.state if old is not None else None
        if status.state is not before:
            legal = {*(TASK_MOVES[before] if before is not None else ())}
            legal |= {*(TASK_INITIAL if old is None or is_new(old.status) else ())}
            self.must(status.state in legal, "legal moves", f"{name}: {before} -> {status.state}")
            wrong = wrongly_moved(old, new, self._tasks.values()) if old is not None else None
            self.must(wrong is None, "who moves a Task has a reason to", f"{name}: {wrong}")
        if self.steady and status.state is TaskState.CLAIMED is not before:
            self._claimed(new)
        if status.verification is not None and (
            old is None or status.verification != old.status.verification
        ):
            self._verified(name, uid, status.verification)
        if status.state is TaskState.CANCELLED:
            self._cancelled.add(uid)
            self.must(not self._pushed[uid], "cancelled is cancelled", f"{name} has landed")
        over = is_final(status, new.spec.max_retries)
        told = over == (status.ended_at is not None)
        self.must(told, "conditions agree", f"{name}: {status.state}, ended {status.ended_at}")
        if over:
            mine = {uid, *(s for s, owner in self._task_of.items() if owner == uid)}
            self._ended(name, mine)
        else:
            self._over.discard(uid)

    def _monotonic(self, name: str, old: Task, new: Task) -> None:
        was, now = old.status, new.status
        grows = (
            now.attempt >= was.attempt
            and now.sessions >= was.sessions
            and Decimal(now.spend_usd) >= Decimal(was.spend_usd)
        )
        self.must(grows, "counts only grow", name)
        before = now.round.since if now.round is not None else 0
        tries = now.attempt - before <= 1 + new.spec.max_retries
        self.must(tries, "attempts are counted", f"{name}: {now.attempt}, {before} of them before")
        began = rounds(now) - rounds(was)
        granted = rounds_granted(now.requests) - rounds_granted(was.requests)
        self.must(began == granted, "a round is what a request was granted", f"{name}: {began}")
        reopened = now.state is not was.state and now.state is not TaskState.CANCELLED
        if is_final(was, old.spec.max_retries) and reopened:
            self.must(began == 1, "an end is an end", f"{name}: {was.state} -> {now.state}")

    def _answers(self, name: str, new: Task | plan.Plan, old: Task | plan.Plan) -> None:
        """Each request has one answer, and keeps it while it stands."""
        was = {answer.id: answer for answer in old.status.requests or ()}
        now = {answer.id: answer for answer in new.status.requests or ()}
        ids = [answer.id for answer in new.status.requests or ()]
        self.must(len(now) == len(ids), "a request is answered once", f"{name}: {ids}")
        kept = all(
            now.get(request.id) == was.get(request.id)
            for request in old.spec.requests
            if request.id in was
        )
        self.must(kept, "a request is answered once", f"{name}: {was} -> {now}")

    def _claimed(self, claimed: Task) -> None:
        """What it takes is its own. Where processes come and go, a claim may be applied late: it
        takes nothing before its session is made."""
        uid = claimed.status.project_uid
        beside = [t for t in self._living() if t.status.project_uid == uid]
        active = [t for t in beside if t.status.state in ACTIVE]
        if not self.steady:
            made = {obj["metadata"]["name"] for obj in self._store.all(SESSIONS)}
            active = [t for t in active if t.status.session in made]
        names = sorted(t.metadata.name for t in active)
        now, limits = self._store.seconds, self._people.limits
        at = [n for n, (since, _) in enumerate(limits) if since < now - LATE_SECONDS]
        limit = max(number for _, number in limits[at[-1] if at else 0 :])
        self.must(len(active) <= limit, "no more agents than allowed", f"{limit}: {names}")
        mine = claimed.metadata.labels.get(labels.PLAN)
        owner = next((p for p in self._store.all(PLANS) if p["metadata"]["name"] == mine), None)
        if owner is not None and (most := owner["spec"].get("maxAgents")) is not None:
            planned = [t for t in active if t.metadata.labels.get(labels.PLAN) == mine]
            self.must(len(planned) <= most, "no more agents than allowed", f"{mine}: {names}")
        for other in active:
            if other.metadata.uid != claimed.metadata.uid:
                apart = not overlap(claimed.spec.files, other.spec.files)
                pair = f"{claimed.metadata.name}, {other.metadata.name}"
                self.must(apart, "files are apart", pair)

    def _living(self) -> list[Task]:
        living = {uid_of(obj) for obj in self._store.all(TASKS)}
        return [t for uid, t in self._tasks.items() if uid in living]

    def _verified(self, name: str, uid: str, judged: Verification) -> None:
        self._verdicts.seen(uid, judged)
        for text in self._verdicts.unsaid(judged):
            self.fail("a verdict is what the check said", f"{name}: {text}")
        for text in self._verdicts.unasked(judged):
            self.fail("what is known is of the same question", f"{name}: {text}")
        for text in self._verdicts.unasked_of_people(uid, judged):
            self.fail("a gate is bypassed that has said no to exactly this", f"{name}: {text}")
        if judged.passed is True:
            required = [r for r in judged.checks if r.required and r.verdict != "Skipped"]
            good = all(r.verdict in ("Passed", "Bypassed") for r in required)
            self.must(good, "only what was judged lands", f"{name}: {judged.sha[:8]}")
            self._approved.add(judged.sha)

    def _session(self, old: session.AgentSession | None, new: session.AgentSession) -> None:
        name, uid, status = new.metadata.name, new.metadata.uid, new.status
        self._task_of[uid] = new.spec.task_ref.uid
        self._conditions(name, status)
        its = self._tasks.get(new.spec.task_ref.uid)
        if old is None and its is not None and its.status.session == name and not self.steady:
            self._claimed(its)
        before = old.status.state if old is not None else None
        if status.state is before:
            return
        legal = SESSION_INITIAL if before is None else SESSION_MOVES[before]
        self.must(status.state in legal, "legal moves", f"{name}: {before} -> {status.state}")
        if status.state is not SessionState.DEAD:
            return
        self._ended(name, {uid})
        used = status.usage or UsageCounts()
        for text in unheard(self._store, new, used):
            self.fail("spend is counted once", text)
        owner = new.spec.plan_ref
        for payer in (new.spec.task_ref.uid, *((owner.uid,) if owner is not None else ())):
            self.spent[payer] = add(self.spent[payer], used)

    def _plan(self, old: plan.Plan | None, new: plan.Plan) -> None:
        name, uid, status = new.metadata.name, new.metadata.uid, new.status
        self._conditions(name, status)
        if old is not None:
            grows = Decimal(status.spend_usd) >= Decimal(old.status.spend_usd)
            self.must(grows, "counts only grow", name)
            self._answers(name, new, old)
            same = old.status.ended_at is None or old.status.phase == status.phase
            self.must(
                same or goes_on(old, new) or goes_in_part(old, new),
                "an end is an end",
                f"{name}: {old.status.phase} -> {status.phase}",
            )
            if goes_in_part(old, new):
                self._cancelled.discard(uid)
        self._ledger(old, new)
        if status.verification is not None:
            self._verified(name, uid, status.verification)
        if status.phase == "Cancelled":
            self._cancelled.add(uid)
            self.must(not self._pushed[uid], "cancelled is cancelled", f"{name} was delivered")
        if status.ended_at is not None:
            self._ended(name, {uid})
        else:
            self._over.discard(uid)

    def _ledger(self, old: plan.Plan | None, new: plan.Plan) -> None:
        """The ledger is what our Jobs have landed, and only grows; the Plan delivers its end."""
        begun, what = new.status.integration, "what is delivered is the chain of the ledger"
        if begun is None:
            return
        name, chain = new.metadata.name, chain_of(new)
        before = chain_of(old) if old is not None else []
        self.must(chain[: len(before)] == before, what, f"{name}: {before} -> {chain}")
        shas, landed = [sha for _, sha in chain], self.landed[begun.ref]
        self.must(shas == landed[: len(shas)], what, f"{name}: {shas}, landed: {landed}")
        self.must(begun.tip == [begun.target_sha, *shas][-1], what, f"{name}: {begun.tip}")
        if new.status.ended_at is None or new.status.phase not in DELIVERED:
            return
        self.must(shas == landed, what, f"{name}: {shas}, landed: {landed}")
        self._delivered.add(begun.ref)

    def _ended(self, name: str, owners: set[str]) -> None:
        """Nothing of what has ended does anything any more."""
        new = owners - self._over
        self._over |= owners
        at_work = [run.job for run in self._at_work() if run.owner in owners]
        if new:
            self.must(not at_work, "an end is an end", f"{name} has ended, at work: {at_work}")

    def _conditions(
        self, name: str, status: TaskStatus | plan.PlanStatus | session.AgentSessionStatus
    ) -> None:
        try:
            consistent(status)
        except AssertionError as error:
            self.fail("conditions agree", f"{name}: {error}")
