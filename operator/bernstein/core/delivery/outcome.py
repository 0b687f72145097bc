"""What a delivery says of the Job that has ended."""

from __future__ import annotations

from datetime import datetime
from typing import get_args

from bernstein.api.delivery import AttestationState, Delivery
from bernstein.api.programs.merge import LandResult
from bernstein.api.reasons import Reason
from bernstein.core.delivery.way import Landing
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.sanitise import text as sanitise
from bernstein.core.waiting import MESSAGE


def merged(delivery: Delivery, landing: Landing, result: LandResult, now: datetime) -> Delivery:
    """It has landed; or it is at the branch of a pull request, which is opened next."""
    known, commit = result.attestation in get_args(AttestationState), landing.commit
    update: dict[str, object] = {
        "state": "Merged",
        "step": None,
        "may_have_landed": None,
        "sha": result.sha or commit.sha,
        "verified_sha": commit.sha if result.sha else None,
        "tree": commit.tree,
        "tip": result.tip,
        "attestation": result.attestation if known else None,
        "landed_at": now,
        "failures": None,
    }
    if landing.branch is not None:
        update |= {"state": "Pending", "step": "Proposing", "landed_at": None}
        update |= {"tip": commit.base, "round": landing.number}
        update["work"] = landing.source.origin.sha
        if delivery.pull_request is not None and delivery.sha != update["sha"]:
            update["earlier"] = delivery.sha
        update |= _with_others(delivery, update["sha"])
    if result.refused:
        why = {"message": sanitise(result.refused, MESSAGE)}
        update |= {"reason": Reason.ATTESTATION_REFUSED, **why}
    return delivery.model_copy(update=update)


def _with_others(delivery: Delivery, sha: object) -> dict[str, object]:
    """The same, where what somebody else had pushed was verified: that is proposed from now on."""
    pushed = delivery.pushed
    if pushed is None or pushed.taken is None:
        return {}
    replaced = pushed.taken if pushed.taken != sha else None
    new = {"taken": None, "holds": True, "replaced": replaced, "refused": None, "message": None}
    return {"earlier": None, "pushed": pushed.model_copy(update=new)}


def why_not(
    delivery: Delivery, landing: Landing, problem: Diagnosis, *, unsure: bool
) -> dict[str, object]:
    """What the delivery says of a Job that failed; after one that leaves it `unsure`, the next one,
    which reads the remote, has a number of its own."""
    refused = problem.reason in (Reason.CREDENTIAL_REFUSED, Reason.BRANCH_PROTECTED)
    return {
        "state": "CredentialRefused" if refused else "Pending",
        "step": "Landing" if unsure else None,
        "round": landing.number if unsure else delivery.round,
        "reason": problem.reason,
        "message": sanitise(problem.message, MESSAGE),
        "may_have_landed": True if unsure else None,
        "abandoned": None,
    }
