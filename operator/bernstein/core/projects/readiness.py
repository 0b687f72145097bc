"""Whether a Project is sound, as its conditions say it, and whether it may be used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bernstein.api.meta import Condition, ConditionType
from bernstein.api.project import Probe, ProbeFinding, Project, ProjectStatus
from bernstein.core import conditions
from bernstein.core.conditions import Truth
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.projects.probing import FINDINGS
from bernstein.core.remedies import remedy_of, with_remedy
from bernstein.core.sanitise import quoted, without_quotes

_TOLD = 3
"""Findings that the condition quotes; the others stand in `status.probe`."""
PROBING = "Probing"
"""Why `Ready` is Unknown at first."""
_PROBES = "a Job tries its credentials; Plans may use it meanwhile"


def not_ready(project: Project) -> str | None:
    """Why the Project cannot be used, in plain words; None: it can.

    What a probe has found keeps nobody back: it may be over by now, and concerns one credential of
    several. Who needs that meets the same, and is held for it.
    """
    ready = conditions.find(project.status.conditions, ConditionType.READY)
    if ready is None or ready.status != "False" or ready.reason in FINDINGS:
        return None
    return f"Project '{project.metadata.name}' is not ready: {ready.message}"


def status(
    project: Project,
    running: int,
    problem: Diagnosis | None,
    probe: Probe | None,
    now: datetime,
) -> ProjectStatus:
    """The Project's status; with a problem nothing may be started for it."""
    generation = project.metadata.generation
    truth, reason, text = _readiness(project, problem, probe)
    updated = conditions.put(
        project.status.conditions,
        ConditionType.READY,
        truth,
        reason,
        text,
        generation=generation,
        now=now,
    )
    return project.status.model_copy(
        update={
            "observed_generation": generation,
            "conditions": _strength(project, updated, probe, now),
            "probe": probe,
            "running": running,
        }
    )


def _readiness(
    project: Project, problem: Diagnosis | None, probe: Probe | None
) -> tuple[Truth, str, str]:
    if problem is not None:
        return "False", problem.reason, with_remedy(problem.message, problem.reason)
    if probe is None or probe.generation != project.metadata.generation:
        return "Unknown", PROBING, _PROBES
    if probe.findings:
        return "False", probe.findings[0].reason, _findings(project, probe.findings)
    if not probe.settled and probe.silent is None:
        return "Unknown", PROBING, _PROBES
    if not probe.settled and (why := probe.silent) is not None:
        cause = without_quotes(why.message, "status.probe")
        text = f"its credentials could not be tried: {cause}"
        return "Unknown", why.reason, with_remedy(text, why.reason)
    return "True", "Accepted", _usable(project, probe)


def _usable(project: Project, probe: Probe) -> str:
    """That it may be used, and whether there is something to be known before."""
    text = "Plans of this namespace may use it"
    if _why_too_strong(project, probe) is None:
        return text
    kind = ConditionType.WORK_CREDENTIAL_TOO_STRONG
    return f"{text}; its work account is too strong, see the condition {kind}"


def _findings(project: Project, findings: Sequence[ProbeFinding]) -> str:
    told = [f"{f.subject}: {without_quotes(f.message).rstrip('.')}" for f in findings[:_TOLD]]
    if any(map(quoted, (f.message for f in findings[:_TOLD]))):
        told[-1] = f"{told[-1]}; status.probe has its words"
    if len(findings) > _TOLD:
        told.append(f"and {len(findings) - _TOLD} more")
    reasons = dict.fromkeys(f.reason for f in findings[:_TOLD])
    text = "; ".join(told)
    remedies = (remedy_of(reason, text, project) for reason in reasons)
    return f"{text}. Remedy: {' '.join(remedies)}"


def _strength(
    project: Project, before: tuple[Condition, ...], probe: Probe | None, now: datetime
) -> tuple[Condition, ...]:
    """The conditions with the warning of a work account that can do what `deliver` does."""
    kind, why = ConditionType.WORK_CREDENTIAL_TOO_STRONG, _why_too_strong(project, probe)
    if why is None:
        return conditions.drop(before, kind)
    reason, what = why
    text = (
        f"{what}: the pusher beside every agent could deliver. "
        "Give work an account that may push to refs/bernstein/ only."
    )
    return conditions.put(
        before, kind, "True", reason, text, generation=project.metadata.generation, now=now
    )


def _why_too_strong(project: Project, probe: Probe | None) -> tuple[str, str] | None:
    """(reason, words) of a work account that can do what `deliver` does; None: it cannot."""
    repository = project.spec.repository
    work, deliver = repository.credentials.work, repository.credentials.deliver
    if work.secret_name == deliver.secret_name:
        return "SameSecret", "work and deliver name the same Secret"
    if probe is None or not probe.too_strong:
        return None
    return "MayPush", f"the git server would let the work account push to '{repository.branch}'"
