"""A Plan with a workflow in the middle of its run, as the API server would serve it."""

from __future__ import annotations

from typing import Any

from bernstein.api import plan as plans
from bernstein.api import task as tasks
from bernstein.api.meta import PLAN_KIND
from bernstein.api.plan import Plan
from bernstein.api.task import Task
from bernstein.core import labels
from bernstein.core.owners import owner_reference
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.workflows import definition as definitions
from bernstein.core.plans.workflows.course import Ending, advance, begun
from tests.unit.cli.scenes import ago
from tests.unit.core.plans.validation.workflow_files import CI_PIPELINE

Object = dict[str, Any]
DONE, FAILED = "done", "failed"
ASKED = {
    "name": "ci-pipeline-a1",
    "asks": {"phase": "implement", "digest": "d"},
    "since": "2030-01-01T00:00:00Z",
}


def plan(*endings: tuple[str, str], text: str = CI_PIPELINE, **status: Any) -> Plan:
    """The Plan once these nodes have ended, one after the other. The phase implement was asked
    about, and a person has said yes."""
    data = plan_file.parse(text)
    assert isinstance(data, dict)
    obj = plan_file.plan_object(data, namespace="team")
    obj["metadata"] |= {"uid": "u", "generation": 1, "creationTimestamp": ago(300)}
    made = plans.parse(obj)
    assert made.spec.workflow is not None
    definition = definitions.of(made.spec.workflow)
    course = advance(
        definition, begun(definition, definitions.digest(made.spec.workflow)), {}, _free
    )
    last: dict[str, Ending] = {}
    for name, word in endings:
        run = next(node.run for node in course.nodes if node.name == name)
        last[name] = Ending(run, "done" if word == DONE else "failed", "All is well.")
        course = advance(definition, course, last, _free)
    told = course.dump()
    for node in told["nodes"]:
        if node["run"]:
            node["task"] = f"ci-pipeline-{node['name']}-i{node['run']}"
    told["phases"] = [{"name": "implement", "approval": ASKED}]
    running = {
        "observedGeneration": 1,
        "phase": "Running",
        "currentStage": "implement",
        "project": "default",
        "startedAt": "2030-01-01T00:00:00Z",
        "spendUsd": "0.42",
        "workflow": told,
    }
    return plans.parse(obj | {"status": running | status})


def _free(_: str) -> bool:
    return True


def mended() -> Plan:
    """Its tests have failed, and an agent mends them."""
    return plan(("decompose", DONE), ("build-api", DONE), ("run-tests", FAILED))


def over() -> Plan:
    """It has run to its end, with one round of mending."""
    return plan(
        *(("decompose", DONE), ("build-api", DONE), ("run-tests", FAILED)),
        *(("fix-bugs", DONE), ("run-tests", DONE), ("deploy", DONE)),
    )


def task(node: str, run: int = 1, **status: Any) -> Task:
    name = f"ci-pipeline-{node}-i{run}"
    metadata = {
        "name": name,
        "namespace": "team",
        "uid": name,
        "creationTimestamp": ago(200),
        "labels": {labels.PLAN: "ci-pipeline"},
        "ownerReferences": [owner_reference(PLAN_KIND, "ci-pipeline", "u")],
    }
    spec = {"title": node, "stage": "implement", "projectRef": "default", "maxRetries": 0}
    return tasks.parse({"metadata": metadata, "spec": spec, "status": status})
