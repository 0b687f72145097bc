"""A namespace in which anything may change, of what the schedule of a Project reads.

What somebody chooses decides: a test that looks for what goes wrong, or chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from bernstein.api.approvals.approval import AskedApproval, Asks
from bernstein.api.meta import Condition, UsageCounts
from bernstein.api.plan import ASKS, PlanStatus
from bernstein.api.plans.rows import LedgerEntry, PlanTask
from bernstein.api.session import Report
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Attempt, Move, Task, TaskStatus
from bernstein.api.waiting import Tried, Waiting
from bernstein.controllers.caches import Caches
from bernstein.core import owners
from bernstein.kube.answers import WatchEvent
from bernstein.kube.client import Client
from bernstein.kube.informer import Informer
from bernstein.kube.resource import Key, Object
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, at

T = TypeVar("T")
Pick = Callable[[Sequence[T]], T]
"""Chooses one of some."""

PROJECTS = ("default", "other")
PLANS = ("web", "shop")
STAGES = ("build", "test")
TASKS = ("a", "b", "c", "d", "e", "f")
WAITS: tuple[Waiting | None, ...] = (
    *(None,) * 4,
    objects.waits("MaxAgents", "the one agent of the Project is at work"),
    objects.waits("DependencyFailed", "Task 'a' ended as Failed", needs_person=True),
    objects.waits("PatternInvalid", "no", needs_person=True),
    objects.waits("SiblingsAtWork", "its work may lack what ran beside it"),
    *(objects.held("InfrastructureError", at(seconds)) for seconds in (5, 20)),
    objects.held("AuthFailed", at(10), "no. Remedy: another", needs_person=True),
    *(objects.held(reason, None) for reason in ("AuthFailed", "RateLimited", "ImagePullFailed")),
    *(objects.held("UsageLimited", at(5000), since=at(since)) for since in (-290, -100, 0, 100)),
    *(
        objects.waits("FileOverlap", since=at(since), tried=Tried(reason=reason, generation=1))
        for since in (-290, 0)
        for reason in ("UsageLimited", "RepositoryUnreachable")
    ),
)
NEW = (TaskStatus(), *(objects.status(observed_generation=-1, project=None),) * 3)
"""Statuses of Tasks that nobody has looked at: of an older API server, and of one of today."""
PATTERN = {"type": "file_contains", "path": "a.py", "contains": "x+", "regex": True}
REQUEST = {"id": "r-1", "verb": "Retry", "by": "ann", "reason": "once more"}
POLICIES = (
    *(None,) * 4,
    {"plan": "Always"},
    {"result": "Always", "approverIsNotAuthor": True},
    {"approverIsNotAuthor": True},
)
PRICES = [{"model": model, "input": "5", "output": "25"} for model in ("opus", "sonnet")]
FILES = ((), ("src/a.py",), ("src/*.py",), ("src/b.py", "docs/**"), ("**",))
STATES = (*(TaskState.OPEN,) * 12, None, *TaskState)
ONTO = ("refs/heads/main", "refs/bernstein/1111222233334444/integration")


class Changing:
    """The caches of a replica, and whoever changes what is in them."""

    def __init__(self, pick: Pick[Any]) -> None:
        self.caches = Caches(cast("Client", None))
        self.now: datetime = at(0)
        self._pick = pick
        self._revision = 0
        self._made = 0
        self.change_project("default")
        for name in PLANS:
            self.change_plan(name)

    def anything(self) -> None:
        """One change."""
        kinds = (
            *(self.change_task,) * 8,
            *(self.change_plan,) * 3,
            *(self.end,) * 2,
            self.go_on,
            self.change_project,
            self.change_session,
            self.wait,
        )
        self._pick(kinds)()

    def wait(self) -> None:
        """Time passes."""
        self.now = at((self.now - at(0)).total_seconds() + self._pick((1, 7, 30, 150)))

    def _may(self, *often: int) -> bool:
        """Once in so many times."""
        return bool(self._pick((True, *(False,) * (often[0] if often else 4))))

    # --- Tasks --------------------------------------------------------------------------------

    def change_task(self) -> None:
        name = self._pick(TASKS)
        informer = self.caches.tasks.informer
        live = informer.get(Key(NAMESPACE, name))
        if live is not None and self._may(8):
            self.remove(informer, live)
            return
        if live is None or self._may(8):
            self._put(informer, self._new_task(name, live), live)
            return
        status = self._status().dump()
        if self._may(1):
            fields = sorted({*status, *live["status"]})
            chosen = [self._pick(fields) for _ in range(self._pick((1, 2)))]
            left = {field: said for field, said in live["status"].items() if field not in chosen}
            status = left | {field: status[field] for field in chosen if field in status}
        self._put(informer, live | {"status": status}, live)

    def end(self) -> None:
        """Some Tasks end, and with them often their Plan."""
        self._all(self._pick((None, *PLANS)), (TaskState.CLOSED, TaskState.CANCELLED), ended=True)

    def go_on(self) -> None:
        """A Plan that had ended goes on, or Tasks that had."""
        self._all(self._pick((None, *PLANS)), (TaskState.OPEN, None), ended=False)

    def _all(self, plan: str | None, states: Sequence[TaskState | None], *, ended: bool) -> None:
        """The Plan has ended or goes on, and what it owns is in one of these states; without a Plan
        what nobody owns."""
        informer, uid = self.caches.plans.informer, None
        live = informer.get(Key(NAMESPACE, plan)) if plan is not None else None
        if live is not None:
            uid = live["metadata"]["uid"]
            over = {"endedAt": at(-1).isoformat() if ended else None, "phase": "Running"}
            if not self._may(8):
                self._put(informer, live | {"status": live["status"] | over}, live)
        owned = self.caches.tasks.by_name(NAMESPACE).values()
        for name in sorted(t.metadata.name for t in owned if owners.plan_uid(t) == uid):
            state = self._pick((*states, "as it is"))
            task = self.caches.tasks.informer.get(Key(NAMESPACE, name))
            if state != "as it is" and task is not None:
                status = objects.status(state)
                self._put(self.caches.tasks.informer, task | {"status": status.dump()}, task)

    def _new_task(self, name: str, live: Object | None) -> Object:
        pick = self._pick
        plan = pick((None, None, *PLANS))
        spec: Object = {
            "priority": pick((1, 2, 3)),
            "mode": pick(("batch", None, None, None, None)),
            "files": pick(FILES),
            "dependsOn": [other for other in TASKS if self._may(12)],
            "dependsOnStages": [stage for stage in STAGES if self._may(6)] if plan else [],
            "stage": pick(STAGES) if plan else None,
            "cli": pick((*("demo",) * 6, *("second",) * 3, "nobody")),
            "projectRef": pick((*("default",) * 8, "other", None)),
            "cancel": {"reason": "no"} if self._may(12) else None,
            "author": pick((None, None, "ann")),
            "requests": [REQUEST] if self._may(12) else None,
            "completionSignals": [PATTERN] if self._may(12) else None,
        }
        made = objects.task(
            name,
            plan=plan,
            status=pick((*NEW, objects.status())),
            created=at(-60 - pick((0, 1))),
            **{
                field: value
                for field, value in spec.items()
                if value is not None or field == "projectRef"
            },
        ).dump()
        if live is None or self._may(1):
            made["metadata"]["uid"] = self._uid(name)
        else:
            made["metadata"]["uid"] = live["metadata"]["uid"]
            made["status"] = live["status"]
        if plan is not None and (owner := self._plan_uid(plan)) and not self._may(8):
            made["metadata"]["ownerReferences"] = [owners.owner_reference("Plan", plan, owner)]
        if self._may(12):
            made["metadata"]["deletionTimestamp"] = at(0).isoformat()
        return made

    def _plan_uid(self, name: str) -> str | None:
        live = self.caches.plans.get(Key(NAMESPACE, name))
        return live.metadata.uid if live is not None else None

    def _status(self) -> TaskStatus:
        pick = self._pick
        state = pick(STATES)
        more: dict[str, Any] = {"waiting": pick(WAITS), "attempt": pick((0, 1, 9))}
        if state in (TaskState.DONE, TaskState.CLOSED):
            step = pick((None, None, "Next", "Landing"))
            more["delivery"] = {"state": "Pending", "onto": pick(ONTO), "step": step}
            if state is TaskState.DONE and step is None and self._may(1):
                more["waiting"] = objects.waits("MergeQueue")
        if self._may():
            more["verification"] = objects.verification(
                passed=pick((True, False)), checks=[objects.gate("lint", "Failed")]
            )
        if self._may():
            more["project_uid"] = pick((*("uid-default",) * 5, "uid-gone"))
        if self._may():
            more["spend_usd"] = pick(("1", "4"))
        claimed = Move(to_state=TaskState.CLAIMED, actor="o", reason="r", attempt=1, time=at(-9))
        failed = Move(to_state=TaskState.FAILED, actor="o", reason="r", attempt=1, time=at(-8))
        met = Move(
            to_state=TaskState.OPEN, actor="o", reason="UsageLimited", attempt=1, time=at(-9)
        )
        more["history"] = pick(((), (claimed,), (claimed, failed), (claimed, met)))
        more["sessions"] = pick((0, 1))
        if self._may(3):
            failed_so = Attempt(attempt=1, session="s", counted=True, reason="MergeConflict")
            more["attempts"] = [failed_so]
        return objects.status(state, **more)

    def write(self, statuses: Iterable[tuple[Task, TaskStatus]]) -> None:
        """What was decided is written, or some of it."""
        for task, status in statuses:
            informer = self.caches.tasks.informer
            live = informer.get(Key(NAMESPACE, task.metadata.name))
            if live is not None and not self._may():
                self._put(informer, live | {"status": status.dump()}, live)

    # --- Plans --------------------------------------------------------------------------------

    def change_plan(self, chosen: str | None = None) -> None:
        pick, informer = self._pick, self.caches.plans.informer
        name = chosen or pick(PLANS)
        live = informer.get(Key(NAMESPACE, name))
        if live is not None and self._may(1):
            rows = [row.dump() for row in self._rows()]
            self._put(informer, live | {"status": live["status"] | {"tasks": rows}}, live)
            return
        if live is not None and self._may(2):
            asked = self._asked()
            said = {"approval": asked.dump() if asked is not None else None}
            self._put(informer, live | {"status": live["status"] | said}, live)
            return
        if live is not None and self._may(10):
            self.remove(informer, live)
            return
        spec: Object = {
            "suspend": pick((False, False, True)),
            "maxAgents": pick((None, None, 1, 2)),
            "budget": pick((None, None, "3")),
            "cancel": {"reason": "no"} if self._may(10) else None,
            "author": pick((None, "ann")),
            "approval": pick(POLICIES),
        }
        ended = at(-1) if self._may(8) else None
        status = PlanStatus(
            tasks=self._rows(),
            expanded=not self._may(8),
            beginning=pick((None, ASKS)),
            project_uid=pick((*(None,) * 6, "uid-default", "uid-default", "uid-other", "uid-gone")),
            project="default",
            ended_at=ended,
            phase=pick(("Running", "Failed")) if ended else "Running",
            partial={"request": "r", "after": "Stalled"} if self._may(12) else None,
            approval=self._asked(),
        )
        spec = {field: value for field, value in spec.items() if value is not None}
        made = objects.plan(name, status=status, begun=not self._may(8), **spec).dump()
        if live is not None and not self._may(10):
            made["metadata"]["uid"] = live["metadata"]["uid"]
            if self._may(2):
                made["spec"] = live["spec"]
        else:
            made["metadata"]["uid"] = self._uid(name)
        if self._may(12):
            made["metadata"]["deletionTimestamp"] = at(0).isoformat()
        self._put(informer, made, live)

    def _asked(self) -> AskedApproval | None:
        """What a person is asked about a Plan, or was."""
        decision = self._pick(("nobody is asked", "nobody is asked", None, "Approve", "Reject"))
        if decision == "nobody is asked":
            return None
        return AskedApproval(name="a", asks=Asks(digest="d"), since=at(-5), decision=decision)

    def _rows(self) -> tuple[PlanTask, ...]:
        pick = self._pick
        step = pick((None, 0, 0, 0))
        return tuple(
            PlanTask(
                name=name,
                stage=pick(STAGES),
                step=step,
                uid=self._uid_of(name) if self._may(2) else None,
                landed=LedgerEntry(number=1, sha="a" * 40) if self._may(12) else None,
                rounds=pick((None, 1)),
                spend_usd=pick(("0", "2")),
            )
            for name in TASKS
            if not self._may(8)
        )

    def _uid_of(self, name: str) -> str:
        live = self.caches.tasks.get(Key(NAMESPACE, name))
        return live.metadata.uid if live is not None else "uid-of-another"

    # --- Projects and sessions ----------------------------------------------------------------

    def change_project(self, name: str | None = None) -> None:
        pick, informer = self._pick, self.caches.projects.informer
        chosen = name or pick(PROJECTS)
        live = informer.get(Key(NAMESPACE, chosen))
        if name is None and live is not None and self._may(6):
            self.remove(informer, live)
            return
        key = {"name": "key", "key": pick(("one", "two"))} if self._may(1) else None
        agent = {"adapter": "demo", "image": "agent:1", "apiKey": key}
        silent = {"adapter": "generic", "command": ["run"]} if self._may() else {}
        made = objects.project(
            chosen,
            agents=[agent | {"name": "demo"}, agent | silent | {"name": "second"}],
            approval=pick(POLICIES) or {},
            budget={"onUnpriced": pick(("allow", "deny")), "prices": PRICES},
            limits={"maxAgents": pick((1, 2, 5)), "undeclaredFilesExclusive": self._may()},
            appendOnly=pick(FILES),
        )
        if self._may(10):
            ready = Condition(
                type="Ready", status="False", reason="R", message="no", last_transition_time=at(-5)
            )
            status = made.status.model_copy(update={"conditions": (ready,)})
            made = made.model_copy(update={"status": status})
        obj = made.dump()
        if live is not None and self._may(1):
            obj["spec"] = live["spec"]
        elif live is None and name is None and self._may(1):
            obj["metadata"]["uid"] = self._uid(chosen)
        if self._may(12):
            obj["metadata"]["deletionTimestamp"] = at(0).isoformat()
        self._put(informer, obj, live)

    def change_session(self) -> None:
        task, informer = self._pick(TASKS), self.caches.sessions.informer
        live = informer.get(Key(NAMESPACE, f"{task}-s1"))
        if live is not None and self._may(5):
            self.remove(informer, live)
            return
        usage = UsageCounts(output=self._pick((0, 100_000, 300_000)))
        made = objects.session(
            task=task,
            state=self._pick((SessionState.WORKING, SessionState.DEAD)),
            usage=usage.model_dump(),
            started_at=at(-1000),
            report=Report(usage=usage, heartbeat_time=at(0)).model_dump(),
        ).dump()
        made["spec"]["taskRef"]["uid"] = self._uid_of(task)
        plan = self._pick((None, *PLANS))
        made["spec"].pop("planRef")
        if plan is not None:
            made["spec"]["planRef"] = {"name": plan, "uid": self._plan_uid(plan) or "gone"}
        self._put(informer, made, live)

    # --- the API server -----------------------------------------------------------------------

    def _uid(self, name: str) -> str:
        self._made += 1
        return f"uid-{name}-{self._made}"

    def _put(self, informer: Informer, obj: Object, live: Object | None) -> None:
        generation = 1
        if live is not None:
            same = live["spec"] == obj["spec"]
            generation = live["metadata"]["generation"] + (0 if same else 1)
        self._revision += 1
        said = {"generation": generation, "resourceVersion": str(self._revision)}
        event = "ADDED" if live is None else "MODIFIED"
        obj = obj | {"metadata": obj["metadata"] | said}
        informer._apply(None, WatchEvent(event, obj))

    def remove(self, informer: Informer, live: Object) -> None:
        self._revision += 1
        said = live["metadata"] | {"resourceVersion": str(self._revision)}
        informer._apply(None, WatchEvent("DELETED", live | {"metadata": said}))
