"""A Plan's tally of its Tasks, kept between two looks: rows, counts, stage, cost, landings.

    put ──▶ names that are to be looked at again ──▶ the row of each, and what its Task is
                                                             │ sums change by the difference
                                                             ▼
                                                          Tallied

A look does as much as has changed. However long a Tally was kept, it says what a new one would that
is made of the same objects; without one at hand, `tallied` makes it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from typing import Literal

from bernstein.api.integration import Integration, RepositoryStatus
from bernstein.api.meta import UsageCounts
from bernstein.api.plan import Counts, Plan, PlanStatus
from bernstein.api.plans.rows import MAX_ROWS, PlanTask, Settled
from bernstein.api.project import Project
from bernstein.api.session import AgentSession
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.delivery.ledger import Landings, Ledger, changed_rows, is_step_of
from bernstein.core.fsm import ACTIVE, VERIFYING
from bernstein.core.money import spend
from bernstein.core.money.pricing import NOTHING, money, total
from bernstein.core.plans import member
from bernstein.core.plans.nodes import standing
from bernstein.core.plans.rows import placed
from bernstein.core.snapshot import PlanSnapshot, Tallied

_UNKNOWN: tuple[Literal["Unreported", "Unpriced"], ...] = ("Unreported", "Unpriced")
"""What hides more comes first."""


def tallied(snapshot: PlanSnapshot) -> Tallied:
    """What the Tasks of the Plan come to."""
    if snapshot.tallied is not None:
        return snapshot.tallied
    tally = Tally.of(snapshot.plan, snapshot.owned.values(), snapshot.sessions)
    return tally.look(snapshot.project)


def tally(snapshot: PlanSnapshot) -> PlanStatus:
    """The status brought up to date, from the Tasks and from the rows of deleted ones."""
    return tallied(snapshot).status


class _Sums:
    """What rows come to."""

    def __init__(self) -> None:
        self.states: Counter[str] = Counter()
        self.unfinished: Counter[str] = Counter()
        """Rows that are not Closed, by stage."""
        self._tokens = [0, 0, 0, 0]
        self.spent = Decimal(0)

    def add(self, row: PlanTask, state: str, times: Literal[1, -1]) -> None:
        self.states[state] += times
        if row.state != TaskState.CLOSED:
            self.unfinished[row.stage] += times
        if row.usage != NOTHING:
            for kind, number in enumerate(_tokens(row.usage)):
                self._tokens[kind] += times * number
        if row.spend_usd != "0":
            self.spent += times * Decimal(row.spend_usd)

    @property
    def usage(self) -> UsageCounts:
        """As many as there were, however many a status can hold."""
        read, written, cached, kept = self._tokens
        return UsageCounts.model_construct(
            input=read, output=written, cache_read=cached, cache_write=kept
        )


class _Facts:
    """What Tasks are to their Plan."""

    def __init__(self) -> None:
        self.failed: set[str] = set()
        self.sources: Counter[str | None] = Counter()
        """How their spend is known."""
        self.behind: set[str] = set()
        """Those whose row knows of a round that they do not show."""
        self.ahead: set[str] = set()
        """Those that were granted a round that their row does not know of."""
        self.moving: set[str] = set()
        self.waiting: list[member.Order] = []
        """Those of them that only wait, in order."""
        self._known: dict[str, tuple[object, member.Order | None]] = {}

    def put(self, name: str, task: Task | None, row: PlanTask | None) -> None:
        """The Task of this name is this now, with this row; None: it is of no step."""
        source, place = self._known.pop(name, (None, None))
        for names in (self.failed, self.behind, self.ahead, self.moving):
            names.discard(name)
        if source is not None:
            self.sources[str(source)] -= 1
        if place is not None:
            del self.waiting[bisect_left(self.waiting, place)]
        if task is None:
            return
        if member.failed_for_good(task):
            self.failed.add(name)
        if row is not None and row.uid == task.metadata.uid:
            known, shown = row.rounds or 0, member.rounds(task)
            (self.behind if known > shown else self.ahead if known < shown else set()).add(name)
        place = None
        if member.moves(task):
            self.moving.add(name)
            if member.only_waits(task):
                place = member.order(task)
                insort(self.waiting, place)
        source = task.status.spend_source
        if source is not None:
            self.sources[source] += 1
        self._known[name] = source, place


class Tally:
    """Rows, Tasks and sessions of one Plan, and what was found of them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._rows = {row.name: row for row in plan.status.tasks}
        """As the Plan's status has them."""
        self._owned: dict[str, Task] = {}
        """The Tasks that name the Plan as their owner."""
        self._members: dict[str, Task] = {}
        """Those of them that are of a step."""
        self._sessions: defaultdict[str, dict[str, AgentSession]] = defaultdict(dict)
        """By name of the Task, then by their own uid."""
        self._uids: set[str] = set()
        """Those of all sessions."""
        self._after: dict[str, tuple[PlanTask, str]] = {}
        """The rows as they are to be, in the Plan's order, each with the state that counts."""
        self._odd: set[str] = set()
        """Names of rows of which another Task has the name now."""
        self._left: dict[str, list[AgentSession]] = {}
        """Sessions that neither Task nor row counts, by name of the Task."""
        self._sums, self._facts = _Sums(), _Facts()
        self._landings = {name: Landings(its.ref) for name, its in _begun(plan.status).items()}
        """By name of the repository; None: the Plan works in one."""
        self._again: dict[str, None] = dict.fromkeys(self._rows)
        """Names that are to be looked at again, in order."""

    @staticmethod
    def of(plan: Plan, owned: Iterable[Task], sessions: Iterable[AgentSession]) -> Tally:
        """A new one, of all objects as they are now."""
        tally = Tally(plan)
        for task in owned:
            tally.put_task(task.metadata.name, task)
        for session in sessions:
            tally.put_session(None, session)
        return tally

    def goes_on_with(self, plan: Plan) -> bool:
        """Whether it may be kept for this state of the Plan: it has a row for each step, and they
        are the same."""
        before, after = self._plan.status, plan.status
        old, new = before.tasks, after.tasks
        if not (before.is_mapped and after.is_mapped and len(old) == len(new) <= MAX_ROWS):
            return False
        if self._plan.metadata.uid != plan.metadata.uid or _refs(before) != _refs(after):
            return False
        return all(was.name == row.name for was, row in changed_rows(old, new))

    def put_plan(self, plan: Plan) -> None:
        """The Plan is this now."""
        for _, row in changed_rows(self._plan.status.tasks, plan.status.tasks):
            self._rows[row.name] = row
            self._again[row.name] = None
        self._plan = plan

    def put_task(self, name: str, task: Task | None) -> None:
        """The Task of this name that the Plan owns is this now; None: there is none."""
        if task is None:
            self._owned.pop(name, None)
        else:
            self._owned[name] = task
        self._again[name] = None

    def put_session(self, before: AgentSession | None, after: AgentSession | None) -> None:
        """A session of the Plan was `before` what it is now; None: it was not, or is not, there."""
        if before is not None:
            self._uids.discard(before.metadata.uid)
            of = before.spec.task_ref.name
            self._sessions[of].pop(before.metadata.uid, None)
            if not self._sessions[of]:
                del self._sessions[of]
            self._again[of] = None
        if after is not None:
            self._uids.add(after.metadata.uid)
            self._sessions[after.spec.task_ref.name][after.metadata.uid] = after
            self._again[after.spec.task_ref.name] = None

    @property
    def members(self) -> dict[str, Task]:
        """The Tasks of the Plan's steps, as of the last look."""
        return dict(self._members)

    @property
    def strangers(self) -> dict[str, Task]:
        """Those that the Plan owns, but that are of none of its steps."""
        if len(self._owned) == len(self._members):
            return {}
        return {name: task for name, task in self._owned.items() if name not in self._members}

    @property
    def sessions(self) -> list[AgentSession]:
        return [s for sessions in self._sessions.values() for s in sessions.values()]

    def ledger(self, ref: str) -> Ledger | None:
        """What has landed in this ref; None: the Plan has not begun there."""
        self._look_again()
        read = self._read()
        begun = _begun(self._plan.status)
        return next((read[name] for name, its in begun.items() if its.ref == ref), None)

    def _read(self) -> dict[str | None, Ledger]:
        begun = _begun(self._plan.status)
        return {name: self._landings[name].read(its) for name, its in begun.items()}

    def look(self, project: Project | None) -> Tallied:
        """What they come to; `project` says prices."""
        self._look_again()
        settled = spend.without_gone(self._plan.status.settled or Settled(), self._uids)
        settled = self._settle_rows(settled)
        left = (session for sessions in self._left.values() for session in sessions)
        settled = spend.with_sessions(settled, left, project)
        if not self._plan.status.is_mapped:
            self._arrange()
        if len(self._after) > MAX_ROWS:
            settled = self._make_room(settled)
        return self._tallied(settled)

    def _look_again(self) -> None:
        for name in self._again:
            self._look_at(name)
        self._again.clear()

    def _look_at(self, name: str) -> None:
        row, task = self._rows.get(name), self._owned.get(name)
        if task is not None and not is_step_of(self._plan.status, row, task):
            task = None
        if task is None:
            self._members.pop(name, None)
        else:
            self._members[name] = task
        for where, landings in self._landings.items():
            owned, of_it = self._owned.get(name), row is not None and row.repository == where
            is_its = of_it or where is None
            there = row if is_its else None
            landings.put(name, there, owned, member=is_its and task is not None)
        self._facts.put(name, task, row)
        is_odd = row is not None and task is not None and row.uid not in (None, task.metadata.uid)
        (self._odd.add if is_odd else self._odd.discard)(name)
        after = row if task is None or is_odd else spend.row_of(task, row)
        self._put_row(name, after)

    def _put_row(self, name: str, row: PlanTask | None) -> None:
        """The row of this name is to be this; None: there is none."""
        before = self._after.get(name)
        if before is not None:
            self._sums.add(*before, -1)
        task = self._members.get(name)
        if row is not None:
            after = self._after[name] = row, _state(row, task)
            self._sums.add(*after, 1)
        elif before is not None:
            del self._after[name]
        left = spend.left_over(self._sessions.get(name, {}).values(), row, task)
        if left:
            self._left[name] = left
        else:
            self._left.pop(name, None)

    def _settle_rows(self, settled: Settled) -> Settled:
        """With what rows counted of which another Task has the name now: the rows are its own from
        then on. Until that is written it is found again."""
        for name in sorted(self._odd):
            row = self._rows[name]
            counted = spend.with_row(settled, row, self._sessions.get(name, {}).values())
            if counted is None:
                continue
            settled = counted
            self._put_row(name, spend.row_of(self._members[name], row))
            self._again[name] = None
        return settled

    def _arrange(self) -> None:
        """The rows in place, where an older release had them in any order."""
        rows = tuple(row for row, _ in self._after.values())
        for row in placed(self._plan, rows, self._members.values()):
            self._put_row(row.name, None)
            self._put_row(row.name, row)

    def _make_room(self, settled: Settled) -> Settled:
        rows = tuple(row for row, _ in self._after.values())
        kept, counted = spend.in_room(rows, settled, self.sessions)
        for name in {row.name for row in rows} - {row.name for row in kept}:
            self._put_row(name, None)
        return counted or Settled()

    def _tallied(self, settled: Settled) -> Tallied:
        status, sums, facts = self._plan.status, self._sums, self._facts
        ledgers = self._read()
        rows = self._booked({k: new for each in ledgers.values() for k, new in each.new.items()})
        update = {
            "tasks": status.tasks if rows == status.tasks else rows,
            "counts": self._counts(),
            "current_stage": self._current_stage(),
            "usage": total((settled.usage, sums.usage)),
            **_followed(status, ledgers),
            "spend_usd": money(sums.spent + Decimal(settled.spend_usd)),
            "spend_source": _missing(status, facts.sources),
            "settled": settled if settled != Settled() else None,
        }
        return Tallied(
            status.model_copy(update=update),
            is_behind=bool(facts.behind),
            has_new_round=bool(facts.ahead),
            outside=tuple(name for each in ledgers.values() for name in each.outside),
            moving=len(facts.moving),
            waiting=len(facts.waiting),
            first=self._members[facts.waiting[0][-1]] if facts.waiting else None,
        )

    def _counts(self) -> Counts:
        workflow, failed = self._plan.status.workflow, self._facts.failed
        if workflow is None:
            return _counts(self._sums.states, len(failed))
        runs = standing.last_runs(workflow)
        counted = {n: s for n, (row, s) in self._after.items() if row.node is None or n in runs}
        states = Counter(counted.values()) + standing.without_run(workflow)
        return _counts(states, len(failed & counted.keys()))

    def _current_stage(self) -> str | None:
        spec, status = self._plan.spec, self._plan.status
        if spec.workflow is not None:
            return standing.current_phase(spec.workflow, status.workflow)
        stages = (stage.name for stage in spec.stages)
        return next((name for name in stages if self._sums.unfinished[name] > 0), None)

    def _booked(self, new: Mapping[str, object]) -> tuple[PlanTask, ...]:
        """The rows with what their Tasks have landed."""
        rows = dict(self._after)
        for name in new.keys() & rows.keys():
            row, state = rows[name]
            if row.landed is None:
                rows[name] = row.model_copy(update={"landed": new[name]}), state
        return tuple([row for row, _ in rows.values()])


def _begun(status: PlanStatus) -> dict[str | None, Integration]:
    """Where work of the Plan gathers, by name of the repository; None: it works in one alone."""
    if not status.repositories:
        return {} if status.integration is None else {None: status.integration}
    rows = status.repositories
    return {row.name: row.integration for row in rows if row.integration is not None}


def _refs(status: PlanStatus) -> list[tuple[str | None, str]]:
    return [(name, its.ref) for name, its in _begun(status).items()]


def _tokens(usage: UsageCounts) -> tuple[int, int, int, int]:
    return usage.input, usage.output, usage.cache_read, usage.cache_write


def _state(row: PlanTask, task: Task | None) -> str:
    """The state that the row counts as. A Task that was deleted has ended as if it was cancelled,
    unless it was Closed: its row keeps the state that it was in, which nothing will move on."""
    is_there = row.uid is None or (task is not None and row.uid == task.metadata.uid)
    return row.state if is_there or row.state == TaskState.CLOSED else TaskState.CANCELLED


def _counts(states: Mapping[str, int], failed: int) -> Counts:
    def number(counted: Collection[TaskState]) -> int:
        return sum(states.get(state, 0) for state in counted)

    rows, running, verifying = sum(states.values()), number(ACTIVE), number(VERIFYING)
    closed, cancelled = number({TaskState.CLOSED}), number({TaskState.CANCELLED})
    return Counts(
        total=rows,
        open=rows - running - verifying - closed - failed - cancelled,
        running=running,
        verifying=verifying,
        closed=closed,
        failed=failed,
        cancelled=cancelled,
    )


def _followed(status: PlanStatus, ledgers: Mapping[str | None, Ledger]) -> dict[str, object]:
    """What the status says of integrations, with what has landed since."""
    if not status.repositories:
        return {"integration": _with_tip(status.integration, ledgers.get(None))}
    rows = tuple(_moved(row, ledgers.get(row.name)) for row in status.repositories)
    same = all(was is row for was, row in zip(status.repositories, rows, strict=True))
    return {"repositories": status.repositories if same else rows}


def _moved(row: RepositoryStatus, ledger: Ledger | None) -> RepositoryStatus:
    after = _with_tip(row.integration, ledger)
    return row if after is row.integration else row.model_copy(update={"integration": after})


def _with_tip(integration: Integration | None, ledger: Ledger | None) -> Integration | None:
    if integration is None or ledger is None or ledger.tip == integration.tip:
        return integration
    return integration.model_copy(update={"sha": ledger.tip, "tree": ledger.tree})


def _missing(
    status: PlanStatus, sources: Mapping[str | None, int]
) -> Literal["Unpriced", "Unreported"] | None:
    """Why the spend is not all of it; of a Task that is gone it stays."""
    unknown = (s for s in _UNKNOWN if status.spend_source == s or sources.get(s, 0) > 0)
    return next(unknown, None)
