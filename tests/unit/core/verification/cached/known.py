"""Rounds of checks with what is kept of verdicts, and pods that tell their images."""

from __future__ import annotations

from typing import Any

from bernstein.api.pod import InspectResult
from bernstein.api.project import Project
from bernstein.api.task import TaskStatus
from bernstein.api.verification import CheckResult
from bernstein.core.actions import KeepVerdicts, RunCheck, RunInspect, TaskDecision
from bernstein.core.gate_cache import GateCache, keeping
from bernstein.core.jobs import JobView
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.objects import NOW, Object, done, ended, job, over

OURS, TOOLS, OTHER = (f"sha256:{digit * 64}" for digit in "abc")
NOTHING = GateCache("bernstein:1")


def closed_project(**spec: Any) -> Project:
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
    **more: Any,
) -> JobView:
    """The Job of a gate with a command that has ended so; `pod_is`: what its pod says besides."""
    check = told("check", image, tools, code, **more)
    return job(name, pod(told("checkout", "bernstein:1", ours), check, **(pod_is or {})))


def read(name: str, *verdicts: Any, ours: str = OURS) -> JobView:
    """The Job of checks that only read."""
    inspect = told("inspect", "bernstein:1", ours, said=InspectResult(verdicts))
    return job(name, pod(told("checkout", "bernstein:1", ours), inspect))


def look(
    *jobs: JobView,
    cache: GateCache | None = NOTHING,
    status: TaskStatus | None = None,
    name: str = "work",
    project: Project | None = None,
    **spec: Any,
) -> TaskDecision:
    """One look at a Task whose work is judged."""
    fields: Object = {"title": "Do work"} | spec
    subject = objects.task(name, status=status or done(), **fields)
    given = objects.snapshot(
        subject, jobs=jobs, project=project or closed_project(), gate_cache=cache
    )
    return decide(given, NOW)


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
