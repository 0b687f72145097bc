"""Which Plans, Tasks and sessions are settled: over, and of no use to anything that goes on.

    a Plan that has ended ─┬─▶ one of its Tasks goes on ─────────────────▶ stays as it is
                           └─▶ else it is settled
    a Task that has ended ─┬─▶ its Plan goes on, or another Task of that ──▶ stays as it is
                           ├─▶ a Task that depends on it goes on, or one
                           │   that is Blocked waits for it ───────────────▶ stays as it is
                           └─▶ else it is settled
    a session that is Dead ┬─▶ its Task stays as it is, or its Plan goes on ▶ stays as it is
                           └─▶ else it is settled

The caches have what is settled packed: there are thousands of these, and each is read a few times a
day. To read one costs a tenth of a millisecond, so who looks at many at every event looks at those
that go on. A Plan or Task that is not known, or not yet, does not go on. One with a request of a
person that is not answered does: work that has failed may be judged anew, or be tried again.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Collection, Iterable
from typing import Any

from bernstein.api.plan import Plan
from bernstein.api.session import AgentSession
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Task, TaskSpec, TaskStatus
from bernstein.controllers.caches.indexes import (
    AWAITED,
    PLAN,
    UPSTREAM,
    awaited,
    depends_on,
    plan_named,
    plan_of,
    plan_of_session,
)
from bernstein.controllers.caches.parsed import Parsed
from bernstein.controllers.job_views import OWNER
from bernstein.core.fsm import is_final
from bernstein.core.requests import unanswered
from bernstein.kube.resource import Key, Object, is_deleting, key_of, uid_of

AT_ONCE = 25
"""Objects that are packed in one step of the loop: a Plan that ends may settle thousands."""
_END = ("state", "attempt", "round", "infrastructureFailures")
"""What says of a Failed Task whether it is tried again."""
_RETRIES: int = TaskSpec.model_fields["max_retries"].default


def has_ended(task: Object) -> bool:
    """Whether no move of the Task will follow, see `is_final`, and nobody is to be answered."""
    status = task.get("status") or {}
    state = status.get("state")
    if _is_asked(task):
        return False
    if state != TaskState.FAILED:
        return state in (TaskState.CLOSED, TaskState.CANCELLED)
    read = TaskStatus.model_validate({name: status[name] for name in _END if name in status})
    return is_final(read, task["spec"].get("maxRetries", _RETRIES))


def _is_asked(obj: Object) -> bool:
    """Whether a Task or Plan has requests that are not answered."""
    asked = obj.get("spec", {}).get("requests") or ()
    if not asked:
        return False
    answered = {each["id"] for each in (obj.get("status") or {}).get("requests") or ()}
    return any(each["id"] not in answered for each in asked)


def _is_over(task: Task) -> bool:
    """The same as `has_ended`."""
    asked = unanswered(task.spec.requests, task.status.requests)
    return is_final(task.status, task.spec.max_retries) and not asked


def _goes_on(plan: Object) -> bool:
    """Whether the Plan itself has not ended, or is asked something."""
    return (plan.get("status") or {}).get("endedAt") is None or _is_asked(plan)


def _named(task: Object | None) -> Collection[str]:
    return depends_on(task) if task is not None else ()


def _awaited(task: Object | None) -> Collection[str]:
    return awaited(task) if task is not None else ()


class Settlement:
    """Follows Plans, Tasks and sessions, and has packed what they settle."""

    def __init__(self) -> None:
        self._plans: set[str] = set()
        """Those that go on, as the index PLAN has them."""
        self._going: defaultdict[str, set[Key]] = defaultdict(set)
        """Tasks that go on, by Plan."""
        self._named: dict[str, Key] = {}
        """Each Plan that there is, as the index PLAN has it."""
        self._ended: deque[tuple[Parsed[Any], Key]] = deque()
        """What may be settled by now."""

    def follow(
        self, plans: Parsed[Plan], tasks: Parsed[Task], sessions: Parsed[AgentSession]
    ) -> None:
        """Called once, before any of them is filled."""
        self._of_plans, self._tasks, self._sessions = plans, tasks, sessions
        plans.informer.add_handler(self._plan_changed)
        tasks.informer.add_handler(self._task_changed)

    def of_plan(self, plan: Object) -> bool:
        """Whether the Plan is settled."""
        if is_deleting(plan) or _goes_on(plan):
            return False
        return plan_named(key_of(plan).namespace, uid_of(plan)) not in self._going

    def of_task(self, task: Object) -> bool:
        """Whether the Task is settled."""
        if is_deleting(task) or not has_ended(task) or self._any_goes_on(plan_of(task)):
            return False
        key = key_of(task)
        if self._tasks.going_by_index(key.namespace, AWAITED, key.name):
            return False
        dependants = self._tasks.going_by_index(key.namespace, UPSTREAM, key.name).values()
        return all(_is_over(other) for other in dependants)

    def of_session(self, session: Object) -> bool:
        """Whether the session is settled."""
        state = (session.get("status") or {}).get("state")
        if is_deleting(session) or state != SessionState.DEAD:
            return False
        if self._any_goes_on(plan_of_session(session)):
            return False
        named = session["spec"]["taskRef"]
        task = self._tasks.going(key_of(session).namespace).get(named["name"])
        return task is None or task.metadata.uid != named["uid"]

    def _any_goes_on(self, plans: Iterable[str]) -> bool:
        return any(plan in self._plans or plan in self._going for plan in plans)

    def _plan_changed(self, old: Object | None, new: Object | None) -> None:
        plan = new or old
        assert plan is not None
        named = plan_named(key_of(plan).namespace, uid_of(plan))
        before = self._any_goes_on((named,))
        self._plans.discard(named)
        self._named.pop(named, None)
        if new is not None:
            self._named[named] = key_of(new)
        if new is not None and _goes_on(new):
            self._plans.add(named)
        self._look_at_plan(named, before)

    def _task_changed(self, old: Object | None, new: Object | None) -> None:
        task = new or old
        assert task is not None
        key, goes_on = key_of(task), new is not None and not has_ended(new)
        for named in {*plan_of(task), *(() if old is None else plan_of(old))}:
            before = self._any_goes_on((named,))
            self._note(named, key, goes_on=goes_on and named in plan_of(task))
            self._look_at_plan(named, before)
        for name in {*_awaited(old)} ^ {*_awaited(new)}:
            self._look(self._tasks, Key(key.namespace, name))
        going_on = old is not None and not has_ended(old) and goes_on
        named_before, named_now = {*_named(old)}, {*_named(new)}
        concerned = named_before ^ named_now if going_on else named_before | named_now
        for name in concerned:
            self._look(self._tasks, Key(key.namespace, name))
        if going_on:
            return
        if old is not None or not self._tasks.informer.is_settled(key):
            self._look_at_sessions(uid_of(task))

    def _note(self, plan: str, task: Key, *, goes_on: bool) -> None:
        if goes_on:
            self._going[plan].add(task)
        elif plan in self._going:
            self._going[plan].discard(task)
            if not self._going[plan]:
                del self._going[plan]

    def _look_at_plan(self, named: str, before: bool) -> None:
        if self._any_goes_on((named,)) == before:
            return
        if named in self._named:
            self._look(self._of_plans, self._named[named])
        for parsed in (self._tasks, self._sessions):
            for key in parsed.informer.index_keys(PLAN, named):
                self._look(parsed, key)

    def _look_at_sessions(self, task: str) -> None:
        for key in self._sessions.informer.index_keys(OWNER, task):
            self._look(self._sessions, key)

    def _look(self, parsed: Parsed[Any], key: Key) -> None:
        """Whether the object is settled may have changed. What goes on again does so at once: who
        looks at what goes on must not miss it. What is settled by now only takes less room."""
        if parsed.informer.is_settled(key):
            self._reconsider(parsed, key)
            return
        self._ended.append((parsed, key))
        if len(self._ended) == 1:
            asyncio.get_running_loop().call_soon(self._some)

    def _some(self) -> None:
        for _ in range(min(AT_ONCE, len(self._ended))):
            self._reconsider(*self._ended.popleft())
        if self._ended:
            asyncio.get_running_loop().call_soon(self._some)

    def _reconsider(self, parsed: Parsed[Any], key: Key) -> None:
        if not parsed.reconsider(key) or parsed is not self._tasks:
            return
        task = self._tasks.informer.get(key)
        assert task is not None
        self._look_at_sessions(uid_of(task))
