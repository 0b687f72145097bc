"""What an Open Task itself waits for: the answer of the first link of a chain that objects.

    project_gone ─ plan_gone ─ held ─ project_not_ready ─ agent_missing ─ operator_too_old
        ─ role_unusable ─ model_unknown ─ judge_missing ─ reviewer_missing ─ pattern_invalid
        ─ author_missing ─ subtasks_refused
        ─ dependencies_open ─ subtasks_open ─ plan_cancelled ─ plan_ended ─ plan_suspended
        ─ plan_starting ─ budget_spent ─ price_unknown ─ tokens_unknown ─ siblings_at_work
        ──▶ ready: `starts` decides who starts

Each link is a function of (snapshot, now) and may rely on those before it: after `project_gone`
there is a Project, after `agent_missing` its agent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from bernstein import agents
from bernstein.api.plan import Plan
from bernstein.api.reasons import Reason
from bernstein.api.task import Task
from bernstein.api.waiting import WaitReason
from bernstein.checks import signals
from bernstein.checks.asks import Asks
from bernstein.core.approvals import plans, policy
from bernstein.core.money import budget, models
from bernstein.core.projects.readiness import not_ready
from bernstein.core.scheduling import dependencies, expressions, siblings
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.verification.expected import required
from bernstein.core.waiting import seconds_left

_REMEDY_NOWHERE = "Make a Plan with this step, without merge.per (or pullRequest.per): Task."
_REMEDY_DEPTH = (
    "Raise limits.subtasks.depth of the Project, or make steps of its subtasks in another Plan."
)
_REMEDY_COUNT = "Raise limits.subtasks.count of the Project, or list fewer in another Plan."


@dataclass(frozen=True)
class Wait:
    """Why an Open Task does not start."""

    reason: str
    message: str
    needs_person: bool = False
    """The Task does not go on by itself."""
    seconds: float | None = None
    """Until it has to be looked at again, whatever happens."""
    remedy: str | None = None
    """For this very case; None: the reason's."""
    detail: str = ""
    """More for the message, in words of others; what changes in it alone is not told again."""
    by: Link | None = field(default=None, compare=False)
    """The link that says so; None: the chain let the Task pass."""


Link = Callable[[TaskSnapshot, datetime], Wait | None]


def project_gone(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    if snapshot.project is not None:
        return None
    problem = snapshot.project_problem
    assert problem is not None
    return Wait(problem.reason, problem.message, needs_person=True)


def plan_gone(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    if not snapshot.plan_missing:
        return None
    return Wait(Reason.PLAN_GONE, "its Plan is gone or being deleted", needs_person=True)


def project_not_ready(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    assert snapshot.project is not None
    problem = not_ready(snapshot.project)
    return (
        Wait(Reason.PROJECT_NOT_READY, problem, needs_person=True) if problem is not None else None
    )


def agent_missing(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    assert snapshot.project is not None
    name, spec = snapshot.task.spec.cli, snapshot.project.spec
    if spec.agent(name) is not None:
        return None
    several = spec.agents_of(name or "")
    offered = ", ".join(a.name for a in several or spec.agents)
    text = f"the Project has no agent '{name}', it has: {offered}"
    if several:
        text = f"'{name}' is the adapter of several agents of the Project: {offered}"
    return Wait(Reason.AGENT_NOT_FOUND, text, needs_person=True)


def role_unusable(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    """No agent is paid for work that it would do otherwise than its role says."""
    name, roles = snapshot.task.spec.role, snapshot.roles
    if name not in roles:
        offered = ", ".join(roles)
        text = f"there is no role '{name}' in this namespace, it has: {offered}"
        return Wait(Reason.ROLE_NOT_FOUND, text, needs_person=True)
    problem = roles.problem(name)
    return Wait(Reason.ROLE_INVALID, problem, needs_person=True) if problem else None


def model_unknown(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    """A word that nobody knows is most likely a slip, which the provider would refuse later."""
    assert snapshot.project is not None
    work, spec = snapshot.task.spec, snapshot.project.spec
    model = snapshot.roles.with_defaults(work).model
    if models.is_known(model, spec):
        return None
    offered, of_role = ", ".join(models.known(spec)), ""
    if model != work.model:
        of_role = f" of AgentRole '{work.role}'"
    which = f"the model '{model}'{of_role}"
    text = f"neither the Project nor a table of prices knows {which}, but: {offered}"
    return Wait(Reason.MODEL_NOT_FOUND, text, needs_person=True)


def judge_missing(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    """No agent is paid for work that nobody could be asked about."""
    assert snapshot.project is not None
    project = snapshot.project.spec
    kinds = (signals.of(signal.type) for signal in snapshot.task.spec.completion_signals)
    asks = next((kind.type for kind in kinds if isinstance(kind.runs, Asks)), None)
    gate = required.unanswerable(project)
    if asks is not None and not project.models:
        text = f"the completion signal {asks} asks a model, and the Project has none"
    elif gate is not None:
        text = models.without_model(gate)
    else:
        return None
    return Wait(Reason.NO_MODEL, text, needs_person=True)


def reviewer_missing(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    """No agent is paid for work that nobody could review."""
    assert snapshot.project is not None
    project = snapshot.project.spec
    agent = project.agent(snapshot.task.spec.cli)
    assert agent is not None
    work = snapshot.roles.with_defaults(snapshot.task.spec)
    problem = models.unreviewed(work, agent, project)
    return Wait(Reason.NO_REVIEWER, problem, needs_person=True) if problem is not None else None


def operator_too_old(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    """The CRDs, newer than this operator, let through words that it does not know.

    No agent is paid for work that cannot be judged.
    """
    assert snapshot.project is not None
    agent = snapshot.project.spec.agent(snapshot.task.spec.cli)
    assert agent is not None
    if agent.adapter not in agents.names():
        known = ", ".join(agents.names())
        text = f"agent '{agent.name}' has the adapter '{agent.adapter}', known here are: {known}"
        return Wait(Reason.OPERATOR_TOO_OLD, text, needs_person=True)
    for signal in snapshot.task.spec.completion_signals:
        if signal.type not in signals.types():
            known = ", ".join(signals.types())
            text = f"a completion signal has the type '{signal.type}', known here are: {known}"
            return Wait(Reason.OPERATOR_TOO_OLD, text, needs_person=True)
    return None


def pattern_invalid(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    """No agent is paid for work that no check can judge."""
    problem = expressions.problem_of(snapshot.status)
    return Wait(Reason.INVALID_PATTERN, problem, needs_person=True) if problem is not None else None


def author_missing(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    """No agent is paid for work that nobody could approve."""
    assert snapshot.project is not None
    plan = snapshot.plan
    rules = policy.effective(snapshot.project.spec, plan.spec if plan is not None else None)
    produces = snapshot.task.spec.produces
    if produces is not None:
        # The Plan has the author of the Task.
        rules = policy.stricter(rules, produces.plan.policy)
    if not policy.lacks_author(rules, policy.author_of(snapshot.task, plan)):
        return None
    return Wait(Reason.AUTHOR_MISSING, policy.MISSING_AUTHOR, needs_person=True)


def dependencies_open(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    unmet = dependencies.unmet(snapshot)
    if unmet is None:
        return None
    return Wait(
        unmet.reason,
        unmet.message,
        needs_person=unmet.needs_person,
        remedy=unmet.remedy,
        detail=unmet.detail,
    )


def subtasks_refused(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    """What its spec says it is split into would land nowhere, or is more than its Project lets."""
    asked, project = len(snapshot.task.spec.subtasks), snapshot.project
    if not asked:
        return None
    assert project is not None
    limits, remedy = project.spec.limits.subtasks, _REMEDY_NOWHERE
    if not _gathers(snapshot):
        text = "what it is split into would have nowhere to gather: it is no step of a Plan that "
        text += "delivers all of its work together"
    elif not limits.depth:
        text, remedy = "the Project lets no Task be split", _REMEDY_DEPTH
    elif asked > limits.count:
        text = f"it is split into {asked}, and the Project lets a Task be split into {limits.count}"
        remedy = _REMEDY_COUNT
    else:
        return None
    return Wait(Reason.SUBTASKS_INVALID, text, needs_person=True, remedy=remedy)


def _gathers(snapshot: TaskSnapshot) -> bool:
    """Whether it is a step's own Task of a Plan whose work gathers before it is delivered."""
    plan, project = snapshot.plan, snapshot.project
    if plan is None or project is None or plan.spec.workflow is not None:
        return False
    name, rows = snapshot.task.metadata.name, plan.status.tasks
    if plan.status.expanded and not any(r.name == name and r.step is not None for r in rows):
        return False
    if plan.status.integration is None:
        return project.spec.merge.delivers(plan.spec.merge) == "Plan"
    return not snapshot.delivers


def subtasks_open(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    """It was split, and is on its way back to waiting for its subtasks."""
    split = snapshot.status.split
    if split is None or split.over:
        return None
    return Wait(WaitReason.SUBTASKS_PENDING, "it waits for its subtasks")


def plan_cancelled(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    if snapshot.plan is None or snapshot.plan.spec.cancel is None:
        return None
    return Wait(WaitReason.PLAN_CANCELLED, "its Plan was cancelled")


def plan_ended(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    """An end is an end: what a Task waited for may come later, by a Task of no Plan."""
    if snapshot.plan is None:
        return None
    status = snapshot.plan.status
    if status.partial is not None and status.ended_at is None:
        return Wait(WaitReason.PLAN_CANCELLED, "its Plan is delivered without it")
    if status.ended_at is None:
        return None
    if _goes_on_again(snapshot.task, snapshot.plan):
        return Wait(WaitReason.PLAN_STARTING, "its Plan goes on again with it")
    return Wait(Reason.PLAN_ENDED, "its Plan has ended", needs_person=True)


def _goes_on_again(task: Task, plan: Plan) -> bool:
    """The Task was granted another round, of which its Plan, which had failed, knows not yet."""
    granted = task.status.round
    if granted is None or plan.status.phase != "Failed":
        return False
    name = task.metadata.name
    return any(row.name == name and (row.rounds or 0) < granted.number for row in plan.status.tasks)


def plan_suspended(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    if snapshot.plan is None or not snapshot.plan.spec.suspend:
        return None
    return Wait(WaitReason.PLAN_SUSPENDED, "its Plan is suspended")


def plan_starting(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    if snapshot.plan is None or snapshot.plan.status.integration is not None:
        return None
    if plans.pending(snapshot.plan.status) is not None:
        # It was made, or approved, before there was this to ask.
        return Wait(WaitReason.AWAITING_APPROVAL, "its Plan waits for a person to decide")
    return Wait(WaitReason.PLAN_STARTING, "its Plan has not begun yet")


def budget_spent(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    problem = budget.spent(snapshot)
    return Wait(Reason.BUDGET_EXCEEDED, problem, needs_person=True) if problem is not None else None


def price_unknown(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    problem = budget.unpriced(snapshot)
    return Wait(Reason.NO_PRICING, problem, needs_person=True) if problem is not None else None


def tokens_unknown(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    problem = budget.unreported(snapshot)
    if problem is None:
        return None
    return Wait(Reason.TOKENS_NOT_REPORTED, problem, needs_person=True)


def siblings_at_work(snapshot: TaskSnapshot, _: datetime) -> Wait | None:
    names = siblings.awaited(snapshot)
    if names is None:
        return None
    text = f"its work may lack what ran beside it: tried again when {names} landed or ended"
    return Wait(WaitReason.SIBLINGS_AT_WORK, text)


def held(snapshot: TaskSnapshot, now: datetime) -> Wait | None:
    """What it has tried itself is not to be tried again yet; its status says why already.

    It is asked before all that passes: a Task that waits for a day shall not forget that because
    its Plan was suspended for an hour.
    """
    waiting = snapshot.task.status.waiting
    seconds = seconds_left(waiting, snapshot.project, now)
    if waiting is None or seconds is None:
        return None
    return Wait(waiting.reason, waiting.message, waiting.needs_person, seconds)


CHAIN: tuple[Link, ...] = (
    project_gone,
    plan_gone,
    held,
    project_not_ready,
    agent_missing,
    operator_too_old,
    role_unusable,
    model_unknown,
    judge_missing,
    reviewer_missing,
    pattern_invalid,
    author_missing,
    subtasks_refused,
    dependencies_open,
    subtasks_open,
    plan_cancelled,
    plan_ended,
    plan_suspended,
    plan_starting,
    budget_spent,
    price_unknown,
    tokens_unknown,
    siblings_at_work,
)
OWNERS = CHAIN[: CHAIN.index(held)]
"""What every Task needs to its end: without Project and Plan nothing says where its work goes."""
OTHERS = CHAIN[CHAIN.index(held) + 1 :]
"""What is asked of a Task that holds nothing itself back."""
LAUNCH: tuple[Link, ...] = (
    *OWNERS,
    project_not_ready,
    agent_missing,
    operator_too_old,
    role_unusable,
    model_unknown,
    judge_missing,
    reviewer_missing,
    pattern_invalid,
    plan_ended,
)
"""What a session needs: without one of these none can be made."""


def first(links: tuple[Link, ...], snapshot: TaskSnapshot, now: datetime) -> Wait | None:
    """The answer of the first of these links that objects; None: none does."""
    for link in links:
        wait = link(snapshot, now)
        if wait is not None:
            return replace(wait, by=link)
    return None


def dependencies_met(wait: Wait | None) -> bool | None:
    """What the answer of CHAIN tells of the Tasks that this one depends on: whether all are Closed.

    None: it did not get that far.
    """
    if wait is None or wait.by is None:
        return True
    if wait.by is dependencies_open:
        return False
    return True if CHAIN.index(wait.by) > CHAIN.index(dependencies_open) else None
