"""Whatever crashes, gets lost or comes late: what must always hold, holds, and it ends well."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.core.conditions import is_true
from tests.unit.core import objects
from tests.unit.core.world import TARGET, Crash, Refused, World, doomed

EXAMPLES = int(os.environ.get("BERNSTEIN_EXAMPLES", "25"))
SETTINGS = settings(
    max_examples=EXAMPLES,
    stateful_step_count=30,
    deadline=None,
    derandomize=EXAMPLES == 25,
    database=None,
    suppress_health_check=list(HealthCheck),
)

FATES = [*["good"] * 5, "bad", "disrupted", "lost", "deleted", "oom", "empty", "limited"]
FATES += ["checkout", "stuck", "refused"]
CRASHES = st.sampled_from([None, None, None, 0, 1, 2])
GATE = {"name": "extra", "command": "true", "image": "extra:1"}


def steps(*files: str) -> list[dict[str, object]]:
    return [{"title": f"Do {f} {i}", "files": [f]} for i, f in enumerate(files)]


class Operator(RuleBasedStateMachine):
    """A Plan of two stages, and a Task of its own beside it."""

    def __init__(self) -> None:
        super().__init__()
        stages = [
            {"name": "one", "steps": steps("a.py", "b.py", "a.py")},
            {"name": "two", "steps": steps("c.py")},
        ]
        plan = objects.plan(begun=False, stages=stages, max_agents=2)
        alone = objects.task("alone", plan=None, files=["d.py"], maxRetries=1)
        self.world = World(objects.project(), plan, [alone])
        self.before_user: dict[str, Task] = {}

    def _do(self, crash: int | None, reconcile: object, *args: object) -> None:
        self.world.budget = crash
        try:
            reconcile(*args)  # type: ignore[operator]
        except (Crash, Refused):
            pass
        finally:
            self.world.budget = None

    def _pick(self, data: st.DataObject, names: object) -> str | None:
        found = sorted(names)  # type: ignore[call-overload]
        return data.draw(st.sampled_from(found)) if found else None

    @rule(crash=CRASHES)
    def the_plan_is_looked_at(self, crash: int | None) -> None:
        self._do(crash, self.world.reconcile_plan)

    @rule(data=st.data(), crash=CRASHES)
    def a_task_is_looked_at(self, data: st.DataObject, crash: int | None) -> None:
        self._do(crash, self.world.reconcile_task, self._pick(data, self.world.tasks))

    @rule(data=st.data(), crash=CRASHES)
    def a_session_is_looked_at(self, data: st.DataObject, crash: int | None) -> None:
        name = self._pick(data, self.world.sessions)
        if name is not None:
            self._do(crash, self.world.reconcile_session, name)

    @rule()
    def everything_is_looked_at(self) -> None:
        self.world.settle()

    @rule(data=st.data(), fate=st.sampled_from(FATES))
    def a_pod_moves(self, data: st.DataObject, fate: str) -> None:
        name = self._pick(data, self.world.jobs)
        if name is not None:
            self.world.play(name, fate)

    @rule(fate=st.sampled_from(FATES))
    def all_pods_move(self, fate: str) -> None:
        self.world.settle()
        for name in sorted(self.world.jobs):
            self.world.play(name, fate)

    @rule(seconds=st.sampled_from([1, 15, 70, 301, 601]))
    def time_passes(self, seconds: int) -> None:
        self.world.pass_time(seconds)

    @rule(data=st.data())
    def a_task_is_cancelled(self, data: st.DataObject) -> None:
        name = self._pick(data, self.world.tasks)
        assert name is not None
        self.before_user.setdefault(name, self.world.tasks[name])
        self.world.cancel(name)

    @rule(data=st.data(), crash=CRASHES)
    def a_task_is_looked_at_before_its_cancel_is_seen(
        self, data: st.DataObject, crash: int | None
    ) -> None:
        name = self._pick(data, self.before_user)
        if name is not None:
            self._do(crash, self.world.reconcile_task, name, self.before_user.pop(name))

    @rule(suspend=st.booleans())
    def the_plan_is_suspended_or_resumed(self, suspend: bool) -> None:
        self.world.change_plan(suspend=suspend)

    @rule(path=st.sampled_from(["human.py", "c.py"]))
    def somebody_pushes_to_the_target(self, path: str) -> None:
        self.world.remote.human_pushes(TARGET, path, f"human {self.world.now}")

    @rule()
    def the_project_gains_a_gate(self) -> None:
        gates = [{"name": "pii_scan", "enabled": False}, GATE]
        self.world.change_project(objects.project(gates={"pipeline": gates}))

    @invariant()
    def all_invariants_hold(self) -> None:
        self.world.check()

    def teardown(self) -> None:
        plan = self.world.plan
        assert plan is not None
        if plan.spec.suspend:
            self.world.change_plan(suspend=False)
        self.world.change_project()
        self.world.run_on()
        self._ends_well()

    def _ends_well(self) -> None:
        plan = self.world.plan
        assert plan is not None
        for subject in self.world.tasks.values():
            assert subject.status.state is TaskState.CLOSED or doomed(subject), subject
        assert len(self.world.tasks) == 5
        mine = [t for t in self.world.tasks.values() if t.metadata.labels]
        if not any(map(doomed, mine)):
            over = plan.status.phase == "Succeeded" or is_true(plan.status.conditions, "Stalled")
            assert over, plan.status
        else:
            assert is_true(plan.status.conditions, "Stalled"), plan.status
        before = self.world.seen.writes
        self.world.settle()
        assert self.world.seen.writes == before


TestOperator = Operator.TestCase
TestOperator.settings = SETTINGS
