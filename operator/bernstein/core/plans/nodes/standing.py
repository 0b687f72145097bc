"""What a workflow has come to as a whole, in words, and which of its Tasks still matter."""

from __future__ import annotations

from collections import Counter

from bernstein.api.plan import Plan, PlanStatus
from bernstein.api.plans.workflow import NodeStatus, Workflow, WorkflowStatus
from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.core.plans.workflows import course, definition, reopening
from bernstein.core.plans.workflows.course import Standing
from bernstein.core.sanitise import count, some

_GOING = Standing("Going")


def is_whole(plan: Plan, status: PlanStatus) -> bool:
    """Whether all of its nodes have ended, and nothing of it keeps it back."""
    return standing_of(plan, status).kind == "Whole"


def standing_of(plan: Plan, status: PlanStatus) -> Standing:
    workflow, said = plan.spec.workflow, status.workflow
    if workflow is None or said is None:
        return _GOING
    return course.standing(definition.of(workflow), said)


def begins(status: PlanStatus) -> bool:
    """Whether the Task of a node is about to be made."""
    running = _running(status)
    return any(row.uid is None and row.name in running for row in status.tasks if running)


def may_retry(plan: Plan, status: PlanStatus, task: str) -> bool:
    """Whether another round of the Task of this name is one of its node: its run goes on, or has
    failed in a workflow of which nothing else goes on."""
    workflow, said = plan.spec.workflow, status.workflow
    if workflow is None or said is None:
        return True
    node = next((node for node in said.nodes if node.task == task), None)
    if node is None:
        return not any(row.name == task and row.node is not None for row in status.tasks)
    if node.state == "Running":
        return True
    return node.name in reopening.retryable(definition.of(workflow), said)


def matters(plan: Plan, status: PlanStatus) -> frozenset[str] | None:
    """Names of the Tasks for whose ends the whole has failed; None: it is no workflow, and each
    counts."""
    if plan.spec.workflow is None or status.workflow is None:
        return None
    return frozenset(node.task for node in _broken(plan, status) if node.task is not None)


def of_the_past(status: PlanStatus) -> frozenset[str]:
    """Names of the Tasks of runs that have ended, and that are not looked at any more."""
    if status.workflow is None:
        return frozenset()
    running = _running(status)
    return frozenset(row.name for row in status.tasks if row.node and row.name not in running)


def stopped(plan: Plan, status: PlanStatus) -> tuple[Reason, str] | None:
    """(reason, message) of a workflow that has come to no good end; None: it goes on, or has."""
    stands, broken = standing_of(plan, status), _broken(plan, status)
    if not broken:
        return None
    which = some((_told(node) for node in broken), len(broken))
    if stands.kind == "Exhausted":
        verb = "has" if len(broken) == 1 else "have"
        return Reason.RETRY_EXHAUSTED, f"{_nodes(broken)} {verb} no run left: {which}."
    return Reason.TASK_FAILED, f"{_nodes(broken)} ended without result: {which}."


def current_phase(workflow: Workflow, said: WorkflowStatus | None) -> str | None:
    """The phase of the first node that has not ended."""
    states = {node.name: node.state for node in said.nodes} if said is not None else {}
    return next((n.phase for n in workflow.nodes if states.get(n.name) not in course.ENDED), None)


def last_runs(workflow: WorkflowStatus) -> frozenset[str]:
    """Names of the Tasks that say how a node is: of its last run, unless another one may follow."""
    its = (node.task for node in workflow.nodes if node.state != "Looping")
    return frozenset(task for task in its if task is not None)


def without_run(workflow: WorkflowStatus) -> Counter[str]:
    """How many nodes are in which state of Tasks, of those of which no Task says how they are. Who
    was skipped has nothing to do."""
    rest = [n.state for n in workflow.nodes if n.task is None or n.state == "Looping"]
    cancelled, skipped = rest.count("Cancelled"), rest.count("Skipped")
    waiting = len(rest) - cancelled - skipped
    return Counter({str(TaskState.CANCELLED): cancelled, str(TaskState.OPEN): waiting})


def is_run(plan: Plan | None, task: str) -> bool:
    """Whether the Task of this name is a run of a node."""
    rows = plan.status.tasks if plan is not None and plan.spec.workflow is not None else ()
    return any(row.name == task and row.node is not None for row in rows)


def _running(status: PlanStatus) -> set[str | None]:
    """Names of the Tasks of the nodes that run."""
    nodes = status.workflow.nodes if status.workflow is not None else ()
    return {node.task for node in nodes if node.state == "Running"}


def _broken(plan: Plan, status: PlanStatus) -> list[NodeStatus]:
    names = standing_of(plan, status).nodes
    every = status.workflow.nodes if status.workflow is not None else ()
    return [node for node in every if node.name in names]


def _nodes(nodes: list[NodeStatus]) -> str:
    return count(len(nodes), "node")


def _told(node: NodeStatus) -> str:
    """The node, with the Task that people can look at."""
    of = f", Task '{node.task}'" if node.task is not None else ""
    return f"'{node.name}' ({node.state} at run {node.run}{of})"
