"""Whatever crashes, gets lost or comes late: what must always hold, holds, and it ends well."""

from __future__ import annotations

from collections.abc import Callable, Collection
from decimal import Decimal
from functools import partial
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.api.waiting import Cancel
from bernstein.core.conditions import is_true
from tests.unit.core import objects
from tests.unit.core.simulation.apiserver import Crash, Refused
from tests.unit.core.simulation.state import EXAMPLES, TARGET
from tests.unit.core.simulation.world import World, doomed

SETTINGS = settings(
    max_examples=EXAMPLES or 20,
    stateful_step_count=20 if EXAMPLES else 12,
    deadline=None,
    derandomize=not EXAMPLES,
    database=None,
    suppress_health_check=list(HealthCheck),
)

BAD = ("bad", "disrupted", "lost", "deleted", "oom", "empty", "limited", "checkout", "stuck")
FATES = st.sampled_from(["good", "refused", *BAD])
WRITES = st.sampled_from([0, 1, 2, None])
"""That the operator may still do before it crashes."""
GATE = {"name": "extra", "command": "true", "image": "extra:1"}
NO_SCAN = {"name": "pii_scan", "enabled": False}


def steps(*files: str) -> list[dict[str, Any]]:
    return [{"title": f"Do {f} {i}", "files": [f]} for i, f in enumerate(files)]


class Operator(RuleBasedStateMachine):
    """A Plan of two stages, and a Task of its own beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(objects.project())
        self.unseen: dict[str, Task] = {}
        """Tasks as the cache has them: before somebody cancelled them."""

    @initialize(
        project=st.integers(1, 3), plan=st.sampled_from([1, 2, None]), retries=st.integers(0, 2)
    )
    def something_is_applied(self, project: int, plan: int | None, retries: int) -> None:
        stages = [
            {"name": "one", "steps": steps("a.py", "b.py", "a.py")},
            {"name": "two", "steps": steps("c.py")},
        ]
        self.world = World(
            objects.project(limits={"maxAgents": project}, gates={"pipeline": [NO_SCAN]}),
            objects.plan(begun=False, stages=stages, max_agents=plan),
            [objects.task("alone", plan=None, files=["d.py"], maxRetries=retries)],
        )

    # --- things go on -----------------------------------------------------------------------

    @rule(rounds=st.integers(1, 8))
    def things_go_well_for_a_while(self, rounds: int) -> None:
        for _ in range(rounds):
            self.world.settle()
            self._play("good")

    @rule(fate=FATES, rounds=st.integers(1, 4))
    def pods_meet_their_fate(self, fate: str, rounds: int) -> None:
        for _ in range(rounds):
            self.world.settle()
            self._play(fate)

    @rule(fate=FATES)
    def pods_meet_their_fate_unseen(self, fate: str) -> None:
        self._play(fate)

    @rule(data=st.data(), fate=FATES)
    def one_pod_meets_its_fate(self, data: st.DataObject, fate: str) -> None:
        name = self._pick(data, self.world.jobs)
        if name is not None:
            self.world.play(name, fate)

    @rule(seconds=st.sampled_from([1, 15, 70, 301, 601]))
    def time_passes(self, seconds: int) -> None:
        self.world.pass_time(seconds)

    # --- the operator crashes ---------------------------------------------------------------

    @rule(writes=WRITES)
    def each_look_crashes_after_some_writes(self, writes: int | None) -> None:
        for reconcile in self.world.reconciles().values():
            self._until_crash(writes, reconcile)

    @rule(data=st.data(), writes=WRITES)
    def one_task_is_looked_at(self, data: st.DataObject, writes: int | None) -> None:
        name = self._pick(data, self.world.tasks)
        if name is not None:
            self._until_crash(writes, partial(self.world.reconcile_task, name))

    @rule(data=st.data(), writes=WRITES)
    def one_session_is_looked_at(self, data: st.DataObject, writes: int | None) -> None:
        name = self._pick(data, self.world.sessions)
        if name is not None:
            self._until_crash(writes, partial(self.world.reconcile_session, name))

    @rule(writes=WRITES)
    def tasks_are_looked_at_before_their_cancel_is_seen(self, writes: int | None) -> None:
        for name, read in self.unseen.items():
            if self.world.tasks[name].status is not read.status:
                continue  # what it has written itself it has seen
            self._until_crash(writes, partial(self.world.reconcile_task, name, read))
            self._until_crash(writes, partial(self.world.reconcile_project, [read]))
        self.unseen.clear()

    # --- people act -------------------------------------------------------------------------

    @rule(data=st.data())
    def one_task_is_cancelled(self, data: st.DataObject) -> None:
        name = self._pick(data, self.world.tasks)
        if name is not None:
            self._cancel(name)

    @rule()
    def every_task_is_cancelled(self) -> None:
        for name in list(self.world.tasks):
            self._cancel(name)

    @rule(data=st.data(), propagation=st.sampled_from(["Background", "Foreground"]))
    def one_task_is_deleted(self, data: st.DataObject, propagation: str) -> None:
        """One whose work has not begun to land."""
        tasks = self.world.tasks
        name = self._pick(data, [n for n, t in tasks.items() if t.status.delivery is None])
        if name is not None:
            self.unseen.pop(name, None)
            self.world.delete_task(name, propagation)

    @rule()
    def the_garbage_is_collected(self) -> None:
        self.world.collect()

    @precondition(lambda self: self.world.deleted and not self._is_delivering())
    @rule()
    def deleted_tasks_are_applied_again(self) -> None:
        for name in list(self.world.deleted):
            self.world.apply_again(name)

    @rule()
    def the_plan_is_cancelled(self) -> None:
        self.world.change_plan(cancel=Cancel())

    @rule(suspend=st.booleans())
    def the_plan_is_suspended_or_resumed(self, suspend: bool) -> None:
        self.world.change_plan(suspend=suspend)

    @rule(path=st.sampled_from(["human.py", "c.py"]))
    def somebody_pushes_to_the_target(self, path: str) -> None:
        self.world.remote.human_pushes(TARGET, path, f"human {self.world.now}")

    @precondition(lambda self: len(self.world.project.spec.gates.pipeline) == 1)
    @rule()
    def the_project_gains_a_gate(self) -> None:
        limits = self.world.project.spec.limits.dump()
        gates = {"pipeline": [NO_SCAN, GATE]}
        self.world.change_project(objects.project(limits=limits, gates=gates))

    # --- what must hold ---------------------------------------------------------------------

    @invariant()
    def all_invariants_hold(self) -> None:
        self.world.check()

    def teardown(self) -> None:
        plan = self.world.plan
        if plan is None:
            return
        if plan.spec.suspend:
            self.world.change_plan(suspend=False)
        self.world.change_project()
        self.world.run_on()
        self._ends_well()

    def _ends_well(self) -> None:
        plan = self.world.plan
        assert plan is not None
        for subject in self.world.tasks.values():
            closed = subject.status.state is TaskState.CLOSED
            assert closed or doomed(subject) or self._waits_for_doomed(subject), subject.status
        mine = [t for t in self.world.tasks.values() if t.metadata.labels]
        stalled = is_true(plan.status.conditions, "Stalled")
        if plan.spec.cancel is not None:
            assert plan.status.phase in ("Cancelled", "Succeeded") or stalled, plan.status
        elif any(map(doomed, mine)):
            assert stalled, plan.status
        else:
            assert plan.status.phase == "Succeeded" or stalled, plan.status
        assert Decimal(plan.status.spend_usd) == self.world.spend_of_plan()
        before = self.world.seen.writes
        self.world.settle()
        assert self.world.seen.writes == before, "a settled world is written to"

    def _waits_for_doomed(self, subject: Task) -> bool:
        """A person must look at what it depends on; then it may still go on."""
        tasks = self.world.tasks
        upstream = (tasks[name] for name in subject.spec.depends_on if name in tasks)
        return subject.status.state is TaskState.OPEN and any(map(doomed, upstream))

    def _is_delivering(self) -> bool:
        """Or over: then it takes no more Tasks."""
        plan = self.world.plan
        if plan is None or plan.status.ended_at is not None:
            return True
        return plan.status.delivery is not None or plan.status.verification is not None

    # --- how --------------------------------------------------------------------------------

    def _play(self, fate: str) -> None:
        for name in sorted(self.world.jobs):
            self.world.play(name, fate)
        self.world.check()

    def _until_crash(self, writes: int | None, reconcile: Callable[[], bool]) -> None:
        self.world.budget = writes
        try:
            reconcile()
        except (Crash, Refused):
            pass
        finally:
            self.world.budget = None

    def _cancel(self, name: str) -> None:
        if self.world.tasks[name].spec.cancel is None:
            self.unseen[name] = self.world.tasks[name]
            self.world.cancel(name)

    @staticmethod
    def _pick(data: st.DataObject, names: Collection[str]) -> str | None:
        return data.draw(st.sampled_from(sorted(names))) if names else None


TestOperator = Operator.TestCase
TestOperator.settings = SETTINGS
