"""What is said of a commit that lands, by what is known of its verification.

All of it comes from statuses that the operator writes, and from the Project: no word of an agent's,
of a repository's or of a command's output is in it. The same status says the same, so that a Job
that is made once more says it, too. The commit and its tree are put in by the program that has
landed them.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

from bernstein.api.approvals.approval import APPROVE
from bernstein.api.integration import Integration
from bernstein.api.meta import Metadata
from bernstein.api.plan import PlanStatus
from bernstein.api.project import Project
from bernstein.api.projects.workplace import Workplace
from bernstein.api.task import TaskStatus
from bernstein.api.verification import CheckResult, Verification
from bernstein.attestation.statement import EXTENSION, POLICY, POLICY_URI, VERIFIER, dump
from bernstein.core.snapshot import RepositorySnapshot, TaskSnapshot
from bernstein.core.verification.candidate import is_of_people, origin_of
from bernstein.core.verification.expected import plan as verification

Object = dict[str, Any]

_BYPASS_BYTES = 12_000
"""Of all that is said of bypasses: a Job is told in an argument, which holds no more than that
beside the largest set of checks."""
_WORD = re.compile(r"[A-Za-z]{1,64}")
"""A reason: what a program of a pod has said may be anything."""


def of_task(snapshot: TaskSnapshot, status: TaskStatus) -> str:
    """The predicate, as JSON, for the work of a Task that may land. "": nothing is known to say."""
    judged, project = status.verification, snapshot.project
    if judged is None or project is None:
        return ""
    extension = _named("Task", snapshot.task.metadata, project, judged)
    extension |= _work(status, judged)
    if snapshot.plan is not None:
        extension["plan"] = _identity(snapshot.plan.metadata)
    if is_signed(snapshot):
        extension["signedFrom"] = judged.sha
    return _predicate(judged, project, snapshot.target_ref, extension)


def is_signed(snapshot: TaskSnapshot) -> bool:
    """Whether the commit that a Task lands is a signed copy. What lands in the integration ref of a
    Plan is not: that commit is no end, and the Plan's own is signed."""
    project = snapshot.project
    return snapshot.delivers and project is not None and project.spec.merge.signing is not None


def _work(status: TaskStatus, judged: Verification) -> Object:
    """Whose work it was, and who has approved it."""
    return {"session": status.session, "attempt": status.attempt, **_approved(status, judged)}


def _approved(status: TaskStatus, judged: Verification) -> Object:
    """Who has said yes to this work; a yes to that of another attempt is none."""
    approval = status.approval
    if approval is None or approval.decision != APPROVE or approval.asks.gate is not None:
        return {}
    asked = (approval.asks.attempt, approval.asks.work)
    if asked != (status.attempt, origin_of(judged).sha):
        return {}
    approved = {"name": approval.name, "by": approval.by, "digest": approval.asks.digest}
    return {"approval": approved}


def of_plan(snapshot: RepositorySnapshot, status: PlanStatus, integration: Integration) -> str:
    """The same for what a Plan delivers. What each of its Tasks landed has an attestation of its
    own: this one names the first and the last commit of them. Where the last Task was deleted while
    nobody knew whether the Plan had landed, nothing is said."""
    last, project = verification.last_task(snapshot, integration), snapshot.project
    judged = status.verification or (last.status.verification if last is not None else None)
    if judged is None or project is None:
        return ""
    extension = _named("Plan", snapshot.plan.metadata, project, judged)
    extension["landings"] = {
        "ref": integration.ref,
        "base": integration.target_sha,
        "tip": integration.tip,
        "count": sum(row.landed is not None for row in status.tasks),
    }
    landed = last.status.verification if last is not None else None
    if last is not None and landed is not None and judged.sha == integration.tip:
        # What was said of the same commit as a Task's is replaced.
        extension["lastTask"] = {**_identity(last.metadata), **_work(last.status, landed)}
    if status.partial is not None:
        extension["partial"] = True
    if project.spec.merge.signing is not None:
        extension["signedFrom"] = judged.sha
    return _predicate(judged, project, integration.target, extension)


def _named(kind: str, meta: Metadata, project: Project, judged: Verification) -> Object:
    bypasses = sum(result.bypass is not None for result in judged.checks)
    room = _BYPASS_BYTES // max(1, bypasses)
    return {
        "kind": kind,
        **_identity(meta),
        "namespace": meta.namespace,
        "project": _identity(project.metadata),
        "base": judged.base,
        **_formatted(judged),
        **_pushed(judged),
        "verdicts": judged.digest,
        "checks": [_check(result, room) for result in judged.checks],
    }


def _formatted(judged: Verification) -> Object:
    """Which commit of a session's the work was before it was formatted."""
    work = judged.formatting.work if judged.formatting is not None else None
    return {"formattedFrom": work.sha} if work is not None else {}


def _pushed(judged: Verification) -> Object:
    """Which commit of people's was judged, or merged for that."""
    if judged.origin is None or not is_of_people(judged):
        return {}
    return {"pushed": {"branch": judged.origin.ref, "sha": judged.origin.sha}}


def _identity(meta: Metadata) -> Object:
    return {"name": meta.name, "uid": meta.uid}


def _check(result: CheckResult, room: int) -> Object:
    """One verdict; what it has not is left out. `room`: see `_bypass`."""
    verdict: Object = {
        "name": result.name,
        "kind": result.kind,
        "required": result.required,
        "verdict": result.verdict,
        "asked": result.asked or None,
        "reason": result.reason if _WORD.fullmatch(result.reason) else None,
        "image": result.image,
        "seconds": result.seconds,
        "endedAt": _time(result.ended_at),
        "excused": result.excused or None,
        "bypass": _bypass(result, room),
        "byModel": result.by_model,
        "cached": result.cached,
    }
    return {key: value for key, value in verdict.items() if value is not None}


def _bypass(result: CheckResult, room: int) -> Object | None:
    """Who has let the commit go on without this gate, and why: in so many bytes."""
    bypass = result.bypass
    if bypass is None:
        return None
    by = _within(bypass.by, room)
    reason = _within(bypass.reason, room - len(json.dumps(by)))
    who = {"by": by, "reason": reason, "approval": bypass.approval}
    return {**who, "verdict": bypass.verdict, "time": _time(bypass.time)}


def _within(text: str, room: int) -> str:
    """Its beginning that has at most so many bytes as JSON; a mark says that it was cut."""
    if len(json.dumps(text)) <= room:
        return text
    sizes = accumulate(len(json.dumps(each)) - len(json.dumps("")) for each in text)
    return text[: sum(size <= room - len(json.dumps("...")) for size in sizes)] + "..."


def _predicate(judged: Verification, project: Workplace, onto: str, extension: Object) -> str:
    predicate: Object = {
        "verifier": {"id": VERIFIER},
        "resourceUri": f"git+{project.spec.repository.url}@{onto}",
        "policy": {"uri": POLICY_URI, **_digest(judged)},
        "timeVerified": _time(judged.verified_at),
        "verificationResult": "PASSED",
        # The format wants a level of SLSA: of how the tree was built nothing is said.
        "verifiedLevels": ["SLSA_BUILD_LEVEL_UNEVALUATED"],
        "slsaVersion": "1.1",
        EXTENSION: extension,
    }
    return dump({key: value for key, value in predicate.items() if value is not None})


def _digest(judged: Verification) -> Object:
    """Of the policy; an older release did not note it."""
    return {"digest": {POLICY: judged.policy}} if judged.policy else {}


def _time(moment: datetime | None) -> str | None:
    """RFC 3339, in whole seconds. None: an older release did not note it."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if moment is not None else None
