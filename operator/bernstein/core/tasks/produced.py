"""A Plan out of the plan file that the agent of a Task has left.

    the session has ended well ──▶ `problem`: is there a plan file, and may it become a Plan?
             │ no                        │ yes
             ▼                           ▼
    the next attempt is told     verified and delivered, as any work that changes nothing
                                         │
                                         ▼
                                 `closed`: the Plan is made, and the Task says which

The file is the agent's to write. It is judged by what judges every plan. What it says of money,
agents and approvals counts where it is stricter than what the Task says; whose the Plan is, and in
which Project, it does not say.

The Plan follows from Task and file alone: whoever comes after a crash asks for the same object, and
takes the one that is there. Once the Task is Closed nobody asks for it any more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from bernstein.api.meta import API_VERSION, PLAN_KIND
from bernstein.api.plan import Plan, PlanSpec
from bernstein.api.reasons import Reason
from bernstein.api.session import AgentSession, KeptDocument
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import PlanToMake, Produced, Task, TaskStatus
from bernstein.core import labels, names
from bernstein.core.actions import CreatePlan, TaskDecision
from bernstein.core.approvals.policy import stricter
from bernstein.core.documents import PLAN
from bernstein.core.documents.values import Json, Problem
from bernstein.core.fsm import ACTIVE
from bernstein.core.plans.field_errors import listed
from bernstein.core.plans.fields import plan_spec
from bernstein.core.plans.file import content_digest
from bernstein.core.plans.judgement import LISTED, problems_of
from bernstein.core.plans.validation import validate_file
from bernstein.core.sanitise import visible
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.attempts import fail

_LOST = (
    "the plan file that its agent left is lost: its node did not tell it, or somebody deleted it"
)


def awaited(snapshot: TaskSnapshot) -> KeptDocument | None:
    """The plan file that the next decision reads; None: it reads none."""
    status, session = snapshot.status, snapshot.session
    if snapshot.task.spec.produces is None or session is None:
        return None
    if session.status.state is not SessionState.DEAD:
        return None
    return _left(session) if status.state in (*ACTIVE, TaskState.DONE) else None


def _left(session: AgentSession) -> KeptDocument | None:
    return next((d for d in session.status.documents or () if d.name == PLAN.name), None)


def problem(snapshot: TaskSnapshot, session: AgentSession) -> tuple[str, str] | None:
    """(reason, message), where what the session left becomes no Plan; None: it does, or the Task
    asks for none."""
    if snapshot.task.spec.produces is None:
        return None
    if _left(session) is None:
        text = f"the agent reported success, but left no plan file {PLAN.path}"
        return Reason.PLAN_FILE_INVALID, text
    if snapshot.plan_file is None:
        return Reason.POD_LOST, _LOST
    text = _problems(snapshot, snapshot.plan_file)
    if not text:
        return None
    return Reason.PLAN_FILE_INVALID, f"the plan file {PLAN.path} is no valid plan:\n{text}"


def _problems(snapshot: TaskSnapshot, document: bytes) -> str:
    """What is wrong with the plan, a line for each; "": nothing."""
    assert snapshot.project is not None
    data, project = _data(snapshot.task, document), snapshot.project.whole.spec
    if isinstance(data, Problem):
        return data.text
    errors = validate_file(data, project, snapshot.roles).errors
    if errors or not isinstance(data, dict):
        return listed(errors, LISTED)
    return problems_of(_spec(snapshot.task, snapshot.status, data), project, snapshot.roles)


def closed(
    snapshot: TaskSnapshot, status: TaskStatus, decision: TaskDecision, now: datetime
) -> TaskDecision:
    """The decision by which the Task is Closed, with the Plan that it has produced, if any.
    `status`: before it."""
    if snapshot.task.spec.produces is None:
        return decision
    plan = _plan(snapshot)
    if plan is None:
        told = status.model_copy(update={"feedback": f"{Reason.POD_LOST}: {_LOST}"})
        return replace(decision, status=fail(snapshot, told, Reason.POD_LOST, now))
    produced = Produced(plan=plan["metadata"]["name"])
    return replace(
        decision,
        status=decision.status.model_copy(update={"produced": produced}),
        actions=(*decision.actions, CreatePlan(plan)),
    )


def _plan(snapshot: TaskSnapshot) -> dict[str, Any] | None:
    """The object; None: its file is lost since it was judged."""
    if snapshot.plan_file is None:
        return None
    data = _data(snapshot.task, snapshot.plan_file)
    if not isinstance(data, dict):
        return None
    return plan_object(snapshot.task, snapshot.status, data)


def plan_object(task: Task, status: TaskStatus, data: Mapping[str, Any]) -> dict[str, Any]:
    """The Plan of a valid plan file, as the API server takes it."""
    spec, meta = _spec(task, status, data), task.metadata
    asked = _asked(task)
    return {
        "apiVersion": API_VERSION,
        "kind": PLAN_KIND,
        # Without an owner: it stays when the Task is deleted, as one does that people apply.
        "metadata": {
            "name": asked.name or names.produced_plan(spec.name, meta.uid),
            "namespace": meta.namespace,
            "labels": {
                labels.MANAGED_BY: labels.MANAGER,
                labels.TASK: names.bounded(meta.name),
            },
            "annotations": {labels.CONTENT: content_digest(spec.dump())},
        },
        "spec": spec.dump(),
    }


def is_of(plan: Plan, task: Task) -> bool:
    """Whether the plan file of this Plan is the work of the Task's agent.

    The Task's status says so, which the operator alone writes. It does a moment after the Plan is
    there: until then the Plan's name is that which the Task gives it.
    """
    if task.metadata.namespace != plan.metadata.namespace or task.spec.produces is None:
        return False
    if task.status.produced is not None:
        return task.status.produced.plan == plan.metadata.name
    named = _asked(task).name or names.produced_plan(plan.spec.name, task.metadata.uid)
    return task.status.state is TaskState.DONE and named == plan.metadata.name


def _asked(task: Task) -> PlanToMake:
    assert task.spec.produces is not None
    return task.spec.produces.plan


def _data(task: Task, document: bytes) -> Json | Problem:
    """What the file holds, without what nobody sees: a person approves what he reads."""
    value = PLAN.parsed(document)
    if isinstance(value, Problem):
        return value
    data = _shown(value)
    if isinstance(data, dict) and "repos" not in data and task.spec.repo is not None:
        return {**data, "repos": [{"path": task.spec.repo}]}
    return data


def _shown(value: Json) -> Json:
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list):
        return [_shown(each) for each in value]
    if isinstance(value, dict):
        return {visible(key): _shown(each) for key, each in value.items()}
    return value


def _spec(task: Task, status: TaskStatus, data: Mapping[str, Any]) -> PlanSpec:
    """What the file says, with what the Task says of it: of each the stricter."""
    said, asked = PlanSpec.model_validate(plan_spec(data)), _asked(task)
    budgets = [each for each in (said.budget, asked.budget) if each is not None]
    agents = [each for each in (said.max_agents, asked.max_agents) if each is not None]
    return said.model_copy(
        update={
            "project_ref": status.project,
            "author": task.spec.author,
            "budget": min(budgets, key=Decimal, default=None),
            "max_agents": min(agents, default=None),
            "merge": said.merge or asked.merge,
            "approval": stricter(asked.policy, said.approval or asked.policy),
        }
    )
