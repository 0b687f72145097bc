"""Who of a Project depends on whom; kept between two looks.

A Task that changes concerns those that depend on it only if it is something else to them than
before: so they are looked at again then, and not at each of its moves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.rows import PlanTask
from bernstein.api.task import Task
from bernstein.core.delivery.ledger import changed_rows
from bernstein.core.graph import rings
from bernstein.core.scheduling.dependencies import (
    Read,
    groups_named,
    groups_of,
    named_alone,
    read_of,
    rows_by_group,
)
from bernstein.core.snapshot import Standing, Upstreams

Stage = tuple[str, str]
"""The uid of a Plan, and one of its groups of Tasks: a stage, or those in one repository."""
_MISSING = read_of(None)


class Edges:
    """What those that wait depend on, and what was found of it."""

    def __init__(self) -> None:
        self.upstreams = Upstreams()
        self._read: dict[str, Read] = {}
        """What others read of each Task."""
        self._naming: defaultdict[str, set[str]] = defaultdict(set)
        """Names of those that wait, by the Tasks that they name."""
        self._after: defaultdict[Stage, set[str]] = defaultdict(set)
        """The same by the stages that they name."""
        self._waits: dict[str, tuple[tuple[str, ...], tuple[Stage, ...]]] = {}
        self._stages: dict[str, dict[str, list[str]]] = {}
        """The groups of each Task in a Plan's rows, by uid of the Plan."""
        self._plans: dict[str, PlanStatus] = {}
        """What these rows were read of."""
        self._graph: dict[str, tuple[str, ...]] = {}
        """What Tasks name that wait and have no Plan."""
        self._named: Counter[str] = Counter()
        """How often that is whom."""
        self.may_be_round = False
        """The graph has changed in a way that may make a circle, or end one."""

    def waits(self, name: str, task: Task | None, plan: str | None) -> None:
        """This Task waits, as one of the Plan of this uid; None: it does not."""
        before = self._waits.get(name, ((), ()))
        spec = task.spec if task is not None else None
        stages = groups_named(spec) if spec is not None and plan is not None else ()
        after = (
            spec.depends_on if spec is not None else (),
            tuple((plan, stage) for stage in stages if plan is not None),
        )
        if before == after:
            return
        for upstream in before[0]:
            self._naming[upstream].discard(name)
            if not self._naming[upstream]:
                del self._naming[upstream]
        for stage in before[1]:
            self._after[stage].discard(name)
            if not self._after[stage]:
                del self._after[stage]
        self._waits.pop(name, None)
        if after == ((), ()):
            return
        self._waits[name] = after
        for upstream in after[0]:
            self._naming[upstream].add(name)
        for stage in after[1]:
            self._after[stage].add(name)

    def put(self, name: str, task: Task | None) -> set[str]:
        """The Task is this now; names of those that wait and are to be looked at again for it."""
        self._note(name, named_alone(task))
        before, after = self._read.get(name, _MISSING), read_of(task)
        if before == after:
            return set()
        self._read.pop(name, None)
        if task is not None:
            self._read[name] = after
        self.upstreams.standings.pop(name, None)
        dependants = set(self._naming.get(name, ()))
        for uid in {before[1], after[1]}:
            of_plan = self._stages.get(uid, {}) if isinstance(uid, str) else {}
            for stage in of_plan.get(name, ()):
                assert isinstance(uid, str)
                self.upstreams.stages.get(uid, {}).pop(stage, None)
                if not self._is_out_anyway(name, before, after, uid, stage):
                    dependants |= self._after.get((uid, stage), set())
        return dependants

    def _is_out_anyway(self, name: str, before: Read, after: Read, uid: str, stage: str) -> bool:
        """Whether a stage is waited for as before, because another Task of it is: those that depend
        on it read no more of it."""
        out = (Standing.WAITED_FOR, uid)
        if not {before, after} <= {out, (Standing.CLOSED, uid)}:
            return False
        others = self.upstreams.rows.get(uid, {}).get(stage, ())
        return any(self._read.get(other) == out for other in others if other != name)

    def put_plan(self, uid: str, plan: Plan | None) -> set[str]:
        """The Plan has these rows now; names of those that wait for a stage of it, if that differs
        from what it had."""
        before = self._plans.pop(uid, None)
        if plan is not None:
            self._plans[uid] = plan.status
            if before is not None and _is_staged_alike(before, plan.status):
                return set()
        rows = rows_by_group(plan) if plan is not None else {}
        if rows == self.upstreams.rows.get(uid, {}):
            return set()
        stages = {stage for uid_of, stage in self._after if uid_of == uid}
        self.upstreams.rows.pop(uid, None)
        self.upstreams.stages.pop(uid, None)
        self._stages.pop(uid, None)
        if plan is not None:
            self.upstreams.rows[uid] = rows
            of_tasks = self._stages[uid] = {}
            for stage, names in rows.items():
                for name in names:
                    of_tasks.setdefault(name, []).append(stage)
        return _all(self._after[uid, stage] for stage in stages)

    def look_for_circles(self) -> Iterable[str]:
        """Names of those that may stand in another circle than before, or in none any more."""
        if not self.may_be_round:
            return ()
        self.may_be_round = False
        before, after = self.upstreams.circles, rings(self._graph)
        self.upstreams.circles = after
        return before.keys() | after.keys()

    def _note(self, name: str, names: tuple[str, ...]) -> None:
        """A new circle leads through a Task that somebody names; while there are circles, whatever
        goes may end one."""
        before = self._graph.get(name, ())
        if names == before:
            return
        for upstream in before:
            self._named[upstream] -= 1
            if not self._named[upstream]:
                del self._named[upstream]
        self._named.update(names)
        self._graph.pop(name, None)
        if names:
            self._graph[name] = names
        round_it = bool(names) and self._named[name] > 0
        self.may_be_round |= round_it or bool(self.upstreams.circles)


def _is_staged_alike(before: PlanStatus, after: PlanStatus) -> bool:
    """Whether rows name the same Tasks in the same stages."""
    old, new = before.tasks, after.tasks
    if before.is_mapped != after.is_mapped or len(old) != len(new):
        return False
    return all(_place(was) == _place(row) for was, row in changed_rows(old, new))


def _place(row: PlanTask) -> tuple[str, tuple[str, ...], bool]:
    return row.name, groups_of(row), row.step is None


def _all(sets: Iterable[set[str]]) -> set[str]:
    return set().union(*sets)
