"""Rounds of checks with what is kept of verdicts, and pods that tell their images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from bernstein.api.pod import InspectResult
from bernstein.api.projects.workplace import Workplace
from bernstein.api.task import TaskStatus
from bernstein.api.verification import CheckResult
from bernstein.controllers import job_actions
from bernstein.core import labels
from bernstein.core.actions import KeepVerdicts, RunCheck, RunInspect, TaskDecision
from bernstein.core.gate_cache import GateCache, keeping
from bernstein.core.jobs import JobView
from bernstein.core.snapshot import TaskSnapshot
from bernstein.core.tasks.decide import decide
from bernstein.core.verification import look as looks
from bernstein.core.verification.expected.task import question
from tests.unit.controllers.jobs.built import PLAIN_SETTINGS, TASK
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object, done, ended, job, over

OURS, TOOLS, OTHER = (f"sha256:{digit * 64}" for digit in "abc")
NOTHING = GateCache("bernstein:1")


def closed_project(**spec: Any) -> Workplace:
    """Whose checks reach nothing but DNS and a git server whose address is known."""
    server = {"to": [{"ipBlock": {"cidr": "192.0.2.7/32"}}]}
    return objects.project(**{"network": {"git": [server]}, **spec})


def told(name: str, of: str, digest: str, code: int = 0, **more: Any) -> tuple[Object, Object]:
    """A container that has ended, as its pod's spec and status have it."""
    status = ended(name, code, after=7, **more) | {"imageID": f"registry.example/it@{digest}"}
    return {"name": name, "image": of}, status


def pod(*containers: tuple[Object, Object], **more: Any) -> Object:
    """A pod that tells of which images it was made; its first container is that of checkout."""
    made = over(*(status for _, status in containers), **more)
    specs = [spec for spec, _ in containers]
    made["spec"] |= {"initContainers": specs[:1], "containers": specs[1:]}
    return made


def linted(
    name: str = "work-s1-lint-0",
    code: int = 0,
    *,
    tools: str = TOOLS,
    ours: str = OURS,
    image: str = "toolchain:1",
    pod_is: Object | None = None,
    labels: Object | None = None,
    **more: Any,
) -> JobView:
    """The Job of a gate with a command that has ended so; `pod_is`: what its pod says besides."""
    check = told("check", image, tools, code, **more)
    made = pod(told("checkout", "bernstein:1", ours), check, **(pod_is or {}))
    return job(name, made, labels=labels or {})


def read(name: str, *verdicts: Any, ours: str = OURS) -> JobView:
    """The Job of checks that only read."""
    inspect = told("inspect", "bernstein:1", ours, said=InspectResult(verdicts))
    return job(name, pod(told("checkout", "bernstein:1", ours), inspect))


def look(
    *jobs: JobView,
    cache: GateCache | None = NOTHING,
    status: TaskStatus | None = None,
    name: str = "work",
    project: Workplace | None = None,
    made: Workplace | None = None,
    **spec: Any,
) -> TaskDecision:
    """One look at a Task whose work is judged. `made`: the Project as it was when the Jobs were
    made; None: as it is."""
    fields: Object = {"title": "Do work"} | spec
    subject = objects.task(name, status=status or done(), **fields)
    project = project or closed_project()
    then = objects.snapshot(subject, jobs=jobs, project=made or project, gate_cache=cache)
    given = replace(then, project=project, jobs={job.name: job for job in _labelled(then)})
    return decide(given, NOW)


def _labelled(given: TaskSnapshot) -> Iterator[JobView]:
    """Its Jobs, with the label of what they were made with; one that has it keeps its own."""
    judged, project = given.task.status.verification, given.project
    assert judged is not None
    assert project is not None
    runs = looks.look(question(given, judged), judged, given.jobs, NOW).runs.values()
    asked = {run.job: run for run in runs}
    for job_ in given.jobs.values():
        run, said = asked.get(job_.name), dict(job_.labels)
        if run is not None:
            made = job_actions.build(run, project, objects.NAMESPACE, TASK, PLAIN_SETTINGS)
            own = made["metadata"]["labels"]
            said = {k: v for k, v in own.items() if k == labels.MADE_WITH} | said
        yield replace(job_, labels=said)


def kept(decision: TaskDecision, cache: GateCache = NOTHING) -> GateCache:
    """The cache once it has what the decision asks to be kept."""
    for action in decision.actions:
        if isinstance(action, KeepVerdicts):
            cache = keeping(cache, action.verdicts, action.images, NOW)
    return cache


def after(*jobs: JobView, **more: Any) -> GateCache:
    """What is kept of a round that these Jobs have judged."""
    return kept(look(*jobs, **more))


def runs(decision: TaskDecision) -> list[str]:
    """Names of the Jobs that are to judge."""
    return [a.job for a in decision.actions if isinstance(a, RunCheck | RunInspect)]


def results(decision: TaskDecision) -> dict[str, CheckResult]:
    judged = decision.status.verification
    assert judged is not None
    return {result.name: result for result in judged.checks}
