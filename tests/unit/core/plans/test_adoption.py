"""A Plan that an older release began goes on with what it has."""

from __future__ import annotations

from bernstein.api.plan import Plan
from bernstein.api.programs.merge import BeginResult
from bernstein.api.task import Task
from bernstein.core.actions import CreateTasks
from bernstein.core.plans import decide as plan_decide
from bernstein.core.plans.expansion import expand
from tests.unit.core import objects
from tests.unit.core.objects import BASE, NOW, plan_snapshot, result_job

NEW = objects.plan("web-app", begun=False)


def begun(subject: Plan) -> Plan:
    status = plan_decide.decide(plan_snapshot(subject), NOW).status
    return subject.model_copy(update={"status": status})


def test_it_goes_on_with_the_integration_ref_that_its_job_made() -> None:
    made_then = result_job("web-app-begin-0", "begin", BeginResult(BASE, BASE))
    decision = plan_decide.decide(plan_snapshot(begun(NEW), jobs=(made_then,)), NOW)
    integration = decision.status.integration

    assert integration is not None
    assert integration.ref == f"refs/bernstein/{NEW.metadata.uid[:8]}/integration"


def test_a_step_keeps_the_task_that_was_made_for_it() -> None:
    (wanted,) = expand(NEW, "default")
    older = {**wanted["metadata"], "name": "web-app-build-do-work"}
    made_then = Task.model_validate({**wanted, "metadata": older})
    decision = plan_decide.decide(plan_snapshot(NEW, made_then), NOW)

    assert CreateTasks(()) in decision.actions
    assert [row.name for row in decision.status.tasks] == [made_then.metadata.name]
