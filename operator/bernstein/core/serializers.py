"""Plans and Tasks as the command line and the HTTP API show them: lower snake case, for scripts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from itertools import chain
from typing import Any

from pydantic.alias_generators import to_snake

from bernstein.api.approvals.approval import Approval, ApprovalState, Shown, ShownCheck
from bernstein.api.delivery import Delivery, PullRequest
from bernstein.api.meta import LONGEST_PATH, PLAN_KIND, TASK_KIND, ConditionType
from bernstein.api.plan import Estimate, Plan
from bernstein.api.plans.workflow import (
    Decided,
    Edge,
    Node,
    NodeStatus,
    Workflow,
    WorkflowStatus,
)
from bernstein.api.requests import Answer
from bernstein.api.signals import STEP_MINUTES
from bernstein.api.states import TaskState
from bernstein.api.task import Attempt, Task
from bernstein.api.verification import Bypass, CheckResult, Verification
from bernstein.api.waiting import Waiting
from bernstein.core import labels, owners
from bernstein.core.conditions import find
from bernstein.core.fsm import may_retry
from bernstein.core.sanitise import line, text
from bernstein.core.scheduling.dependencies import awaited, groups_named, groups_of_task

Document = dict[str, Any]

STATUSES = tuple(to_snake(state) for state in TaskState if state is not TaskState.PENDING_APPROVAL)
"""All words of a Task's `status`; PendingApproval is `done` with `approval: pending`."""


def task_status(task: Task) -> str:
    """`failed` only when no retry will follow, else `open`: a script may stop at `failed`."""
    state = task.status.state
    if state is TaskState.PENDING_APPROVAL:
        return "done"
    if state is None or (
        state is TaskState.FAILED and may_retry(task.status, task.spec.max_retries)
    ):
        return "open"
    return to_snake(state)


def is_blocked(task: Task) -> bool:
    """Whether it is Blocked, or Open and waits for other Tasks, which scripts count as the same."""
    if task.status.state is TaskState.BLOCKED:
        return True
    met = find(task.status.conditions, ConditionType.DEPENDENCIES_MET)
    return task_status(task) == "open" and met is not None and met.status == "False"


Blockers = Mapping[str, tuple[str, ...]]
"""By uid of a Task: names of those that it waits for."""


def blockers(tasks: Collection[Task]) -> Blockers:
    """Of each that is blocked, the Tasks that it depends on and that are not Closed."""
    closed = {
        (task.metadata.namespace, task.metadata.name)
        for task in tasks
        if task.status.state is TaskState.CLOSED
    }
    of_group: dict[tuple[str, str], list[str]] = {}
    for task in tasks:
        plan = owners.plan_of(task)
        if plan is not None and task.status.state is not TaskState.CLOSED:
            for group in groups_of_task(task.spec):
                of_group.setdefault((plan.uid, group), []).append(task.metadata.name)
    return {
        task.metadata.uid: _blocking(task, closed, of_group) for task in tasks if is_blocked(task)
    }


def _blocking(
    task: Task,
    closed: Collection[tuple[str, str]],
    of_group: Mapping[tuple[str, str], list[str]],
) -> tuple[str, ...]:
    spec, plan = task.spec, owners.plan_of(task)
    waits_for = (*spec.depends_on, *awaited(task))
    named = [n for n in waits_for if (task.metadata.namespace, n) not in closed]
    groups = [of_group.get((plan.uid, g), []) for g in groups_named(spec)] if plan else []
    return tuple(dict.fromkeys((*named, *chain.from_iterable(groups))))


def task_record(task: Task, blocked_by: Blockers | None = None) -> Document:
    """Everything about a Task that scripts may want, with what `blockers` tells of all."""
    spec, status, plan = task.spec, task.status, owners.plan_of(task)
    record: Document = {
        "id": task.metadata.name,
        "title": spec.title,
        "description": spec.description or spec.title,
        "role": spec.role,
        "status": task_status(task),
        "priority": spec.priority,
        "scope": spec.scope,
        "complexity": spec.complexity,
        "estimated_minutes": spec.estimated_minutes or STEP_MINUTES,
        "depends_on": list(spec.depends_on),
        "depends_on_stages": list(spec.depends_on_stages),
        "depends_on_repo": spec.depends_on_repo,
        "repo": spec.repo,
        "blocked_by": list((blocked_by or {}).get(task.metadata.uid, ())),
        "files": list(spec.files),
        "completion_signals": [s.model_dump(exclude_none=True) for s in spec.completion_signals],
        "plan": None if plan is None else plan.name,
        "produced_plan": None if status.produced is None else status.produced.plan,
        "stage": spec.stage,
        "project": status.project or spec.project_ref,
        "cli": spec.cli,
        "model": status.model or spec.model,
        "effort": spec.effort,
        "attempt": status.attempt,
        "max_retries": spec.max_retries,
        "session": status.session,
        "parent": task.metadata.labels.get(labels.SUBTASK_OF) if plan is not None else None,
        "subtasks": [row.name for row in status.subtasks or ()],
        **_why(task),
        "verification": _verification(status.verification),
        "delivery": _delivery(status.delivery),
        "attempts": [_attempt(task, attempt) for attempt in status.attempts],
        "round": 1 + (status.round.number if status.round is not None else 0),
        "requests": _answers(status.requests),
        "cost_usd": _dollars(status.spend_usd),
        "spend_source": _word(status.spend_source),
        "tokens": status.usage.model_dump(),
        "created_at": _time(task.metadata.creation_timestamp),
        "started_at": _time(status.started_at),
        "ended_at": _time(status.ended_at),
    }
    if status.state is TaskState.PENDING_APPROVAL:
        record["approval"] = "pending"
    return record


def approval_record(approval: Approval) -> Document:
    """What a person is asked, and what became of it."""
    spec, status, shown = approval.spec, approval.status, approval.status.shown
    about = spec.subject
    return {
        "id": approval.metadata.name,
        "task_id": about.name if about.kind == TASK_KIND else None,
        "plan_id": about.name if about.kind == PLAN_KIND else None,
        "status": to_snake(status.state or ApprovalState.PENDING),
        "title": line(shown.title, 300) if shown is not None else None,
        "because": [line(why, 300) for why in shown.because] if shown is not None else [],
        "author": shown.author if shown is not None else None,
        "attempt": spec.asks.attempt,
        "sha": spec.asks.sha,
        "base": spec.asks.base,
        "ref": shown.ref if shown is not None else None,
        "files_changed": shown.files_changed if shown is not None else None,
        "files": _shown_files(shown),
        "diff": shown.diff if shown is not None else None,
        "checks": [_shown_check(check) for check in shown.checks] if shown is not None else [],
        "gate": spec.asks.gate,
        "phase": line(spec.asks.phase, 300) if spec.asks.phase is not None else None,
        "excerpt": text(shown.excerpt, 2048) if shown is not None and shown.excerpt else None,
        "cost_usd": _dollars(shown.cost_usd) if shown is not None and shown.cost_usd else None,
        "decision": to_snake(spec.decision) if spec.decision is not None else None,
        "decided_by": spec.decided_by,
        "reason": line(spec.reason, 1024) if spec.reason is not None else None,
        "created_at": _time(approval.metadata.creation_timestamp),
        "expires_at": _time(status.expires_at),
    }


def _shown_files(shown: Shown | None) -> list[Document]:
    """Some of those that differ, those with the most changed lines first."""
    files = shown.most_changed if shown is not None else None
    return [
        {"path": line(file.path, LONGEST_PATH), "added": file.added, "deleted": file.deleted}
        for file in files or ()
    ]


def _shown_check(check: ShownCheck) -> Document:
    title = line(check.title, 120)
    return {
        "name": check.name,
        "title": title,
        "required": check.required,
        "verdict": to_snake(check.verdict),
        "reason": check.reason,
    }


def _answers(answers: Iterable[Answer] | None) -> list[Document]:
    """Requests that were answered; who asked, why, and what came of it."""
    return [answer.model_dump(mode="json") for answer in answers or ()]


def plan_record(plan: Plan, tasks: list[Task] | None = None) -> Document:
    """Everything about a Plan that scripts may want; with `tasks`, their records are in it."""
    spec, status = plan.spec, plan.status
    reason, message = plan_standing(plan)
    record: Document = {
        "id": plan.metadata.name,
        "name": spec.name,
        "description": spec.description,
        "status": to_snake(status.phase or "Pending"),
        "reason": reason or None,
        "message": text(message, 4096) if reason else None,
        "waiting": waiting_record(status.waiting),
        "project": status.project or spec.project_ref,
        "stage": status.current_stage,
        "suspended": spec.suspend,
        "cancel": spec.cancel.reason if spec.cancel else None,
        "requests": _answers(status.requests),
        "counts": status.counts.model_dump(),
        "max_agents": spec.max_agents,
        "budget_usd": None if spec.budget is None else _dollars(spec.budget),
        "cost_usd": _dollars(status.spend_usd),
        "spend_source": _word(status.spend_source),
        "tokens": status.usage.model_dump(),
        "estimate": estimate_record(status.estimate),
        "delivery": _delivery(status.delivery),
        "target": status.integration.target if status.integration else None,
        "repositories": [
            {
                "name": row.name,
                "delivery": _delivery(row.delivery),
                "target": row.integration.target if row.integration else None,
                "verification": _verification(row.verification),
                "waiting": waiting_record(row.waiting),
            }
            for row in status.repositories
        ],
        "verification": _verification(status.verification),
        "created_at": _time(plan.metadata.creation_timestamp),
        "started_at": _time(status.started_at),
        "ended_at": _time(status.ended_at),
    }
    if spec.workflow is not None:
        record["workflow"] = _workflow(spec.workflow, status.workflow)
    if tasks is not None:
        waiting = blockers(tasks)
        record["tasks"] = [task_record(task, waiting) for task in tasks]
    return record


def _workflow(workflow: Workflow, course: WorkflowStatus | None) -> Document:
    """How far each node is, and what people have said of phases."""
    known = {each.name: each for each in course.nodes} if course is not None else {}
    asked = {each.name: each.approval for each in course.phases} if course is not None else {}
    return {
        "version": workflow.version,
        "phases": [
            {
                "name": phase.name,
                "allowed_roles": list(phase.allowed_roles),
                "requires_approval": phase.requires_approval,
                "approval": asked[phase.name].name if phase.name in asked else None,
                "decision": _word(asked[phase.name].decision) if phase.name in asked else None,
            }
            for phase in workflow.phases
        ],
        "nodes": [_node(n, known.get(n.name) or NodeStatus(name=n.name)) for n in workflow.nodes],
    }


def _node(node: Node, standing: NodeStatus) -> Document:
    return {
        "name": node.name,
        "phase": node.phase,
        "title": line(node.heading, 300),
        "role": node.role,
        "state": to_snake(standing.state),
        "run": standing.run,
        "task": standing.task,
        "exhausted": standing.exhausted is True,
        "edges": [edge_record(edge, found) for edge, found in decided(node, standing)],
    }


def edge_record(edge: Edge, found: Decided | None) -> Document:
    """What must hold, and what it came to; null where that is not decided."""
    return {
        "source": edge.source,
        "condition": edge.condition,
        "satisfied": found.satisfied if found is not None else None,
        "run": found.run if found is not None else None,
        "values": line(found.on, 300) if found is not None else None,
    }


def decided(node: Node, standing: NodeStatus | None) -> Iterator[tuple[Edge, Decided | None]]:
    """Each of its edges with what that came to; None: it is not decided."""
    left = list(standing.edges) if standing is not None else []
    for edge in node.depends_on:
        found = next((each for each in left if each.source == edge.source), None)
        if found is not None:
            left.remove(found)
        yield edge, found


def estimate_record(estimate: Estimate | None) -> Document | None:
    if estimate is None:
        return None
    cost = None if estimate.cost_usd is None else _dollars(estimate.cost_usd)
    return {"minutes": estimate.minutes, "cost_usd": cost, "basis": estimate.basis}


def plan_standing(plan: Plan) -> tuple[str, str]:
    """(reason, message): what the Plan waits for, how it ended, or what it does; both may be ""."""
    waiting, conditions = plan.status.waiting, plan.status.conditions
    if waiting is not None:
        return waiting.reason, waiting.message
    condition = find(conditions, ConditionType.SUCCEEDED) or find(
        conditions, ConditionType.RECONCILING
    )
    return (condition.reason, condition.message) if condition is not None else ("", "")


def waiting_record(waiting: Waiting | None) -> Document | None:
    if waiting is None:
        return None
    return {
        "reason": waiting.reason,
        "message": text(waiting.message, 4096),
        "since": _time(waiting.since),
        "until": _time(waiting.until),
        "scope": waiting.scope.lower(),
        "needs_person": waiting.needs_person,
    }


def _why(task: Task) -> Document:
    """What the Task waits for, or why it stopped."""
    waiting = waiting_record(task.status.waiting)
    if waiting is None:
        return {"reason": None, "message": None, "waiting": None}
    return {"reason": waiting["reason"], "message": waiting["message"], "waiting": waiting}


def _verification(verification: Verification | None) -> Document | None:
    if verification is None:
        return None
    return {
        "sha": verification.sha,
        "tree": verification.tree,
        "passed": verification.passed,
        "quality_score": verification.quality_score,
        "checks": [_check(check) for check in verification.checks],
    }


def _bypass(bypass: Bypass | None) -> Document | None:
    """Who has let work go on without a gate."""
    if bypass is None:
        return None
    who = {"by": line(bypass.by, 300), "reason": line(bypass.reason, 1024)}
    return {**who, "approval": bypass.approval, "verdict": to_snake(bypass.verdict)}


def _check(check: CheckResult) -> Document:
    return {
        "name": check.name,
        "kind": check.kind,
        "title": line(check.title, 300),
        "required": check.required,
        "verdict": to_snake(check.verdict),
        "reason": check.reason,
        "excerpt": text(check.excerpt, 2048),
        "seconds": check.seconds,
        "bypass": _bypass(check.bypass),
        "cached": check.cached is True,
    }


def _delivery(delivery: Delivery | None) -> Document | None:
    if delivery is None:
        return None
    return {
        "state": to_snake(delivery.state),
        "onto": delivery.onto,
        "pull_request": _pull_request(delivery.pull_request),
        "sha": delivery.sha,
        "reason": delivery.reason,
        "message": None if delivery.message is None else text(delivery.message, 2048),
    }


def _pull_request(pull: PullRequest | None) -> Document | None:
    if pull is None:
        return None
    return {
        "number": pull.number,
        "url": line(pull.url, 2048),
        "state": to_snake(pull.state),
        "sha": pull.sha,
        "ci": _word(pull.ci),
    }


def rejection(task: Task, attempt: Attempt) -> str | None:
    """Why the work of a session that reported success was refused, if it was."""
    if attempt.reason != "Succeeded":
        return None
    moves = (m for m in task.status.history if m.to_state == TaskState.FAILED)
    return next((m.reason for m in moves if m.attempt == attempt.attempt), None)


def _attempt(task: Task, attempt: Attempt) -> Document:
    return {
        "session": attempt.session,
        "attempt": attempt.attempt,
        "counted": attempt.counted,
        "times": attempt.times or 1,
        "reason": rejection(task, attempt) or attempt.reason,
        "message": text(attempt.message, 512),
        "model": attempt.model,
        "cost_usd": _dollars(attempt.spend_usd),
    }


def _word(word: str | None) -> str | None:
    return None if word is None else to_snake(word)


def _dollars(amount: str) -> float:
    return float(Decimal(amount))


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
