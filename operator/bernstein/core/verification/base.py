"""A required gate that does not pass: does the commit before the work pass it?

What was there before is not the work's to answer for. Where findings can be listed, only those that
the base does not have count. Where they cannot and the base fails as well, nobody can tell what the
work has done: then the gate is Skipped(BaseFails), which excuses it only if the Project says so. To
excuse, the commit that is asked is the one that the Plan started from, which no agent has made. A
gate that always compares does so with the commit before the work: where others of the Plan have
landed by then and it fails there, it is asked a second time, of the start.

What the run on the base takes (time, memory, disk) says nothing of the work either. A base that is
too slow stays so: BaseFails, which excuses nothing, as the work was not judged in the same way.
Memory and disk are the Project's to give, or a node's fault: Errored, which is tried again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from bernstein.api.encoding import load
from bernstein.api.pod import CHECK, CHECKOUT, LISTERS, CheckVerdict
from bernstein.api.programs.setup import SETUP, SETUP_ON_BASE
from bernstein.api.reasons import Reason, VerdictReason
from bernstein.api.verification import CheckResult
from bernstein.api.waiting import Abandoned
from bernstein.checks.spec import CheckSpec
from bernstein.core import diagnosis, labels, pods
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.verification.executed import (
    SLACK,
    cut_off,
    errored,
    executed,
    ran,
    result_of,
    setup_failure,
    without_pod,
)

CANNOT_TELL = (Reason.TOOL_MISSING, Reason.SETUP_FAILED, VerdictReason.PLUGIN_FAILED)
"""Why a check is Errored, where the work may have made it end so."""
_TO_BLAME = (VerdictReason.EXIT_CODE, VerdictReason.PLUGIN_SAYS_NO, Reason.TIMEOUT)
"""Why a gate did not pass, where the base may be to blame; memory and disk are the Project's."""
_OF_BASE = {
    "Skipped": (VerdictReason.BASE_FAILS,),
    "Errored": (VerdictReason.OUT_OF_MEMORY, VerdictReason.RESOURCE_LIMIT, Reason.TOOL_MISSING),
}
"""Verdicts, with their reasons, of a check that compares, where it could not run on the base."""
_ON_BASE, _ON_WORK = LISTERS
_DIGEST = 16
"""Characters: it is compared with one other."""
_IT_IS_THE_BASE = "on the commit before this work"
_ONLY_THE_WORK = f"it does not end so {_IT_IS_THE_BASE}"


def is_asked(check: CheckSpec, result: CheckResult, *, again: bool = False) -> bool:
    """Whether the base is to be judged by the same check before this verdict counts.

    `again`: it is run again because it could not judge this tree. A command that is not found, or
    a class that raises, may do so for what the work holds, and that would cost it nothing.
    """
    if check.against_base:
        return result.excused is False
    # What a model has written for the work says nothing of the base.
    if check.test is not None or not result.required:
        return False
    if result.reason in CANNOT_TELL:
        return again
    is_to_blame = result.verdict in ("Failed", "TimedOut") and result.reason in _TO_BLAME
    return check.kind == "gate" and is_to_blame


def compares(check: CheckSpec, result: CheckResult) -> bool:
    """Whether that Job lists what is found in both trees, instead of running the gate once more."""
    return check.against_base or (check.findings is not None and result.verdict == "Failed")


def of_others(work: CheckResult) -> CheckResult:
    """What a check says of the work alone, where others have made its base: that this one fails,
    too, excuses nothing (False) until the start of the Plan is asked."""
    if not work.excused:
        return work
    return work.model_copy(update={"excused": False if work.required else None})


def judged_by_base(
    check: CheckSpec,
    result: CheckResult,
    job: JobView,
    abandoned: Abandoned | None,
    now: datetime,
) -> CheckResult:
    """The verdict that counts, once the Job on the base is over; `result` is the work's own."""
    if check.against_base:
        start = _told_of_both(check, job, abandoned, now)
        excused = {"excused": start.excused}
        return start if start.verdict == "Errored" else result.model_copy(update=excused)
    if compares(check, result):
        return _compared(check, result, job, abandoned, now)
    base = executed(check, job, abandoned, now)
    if base.verdict == "Errored" and base.reason not in CANNOT_TELL:
        return base
    if base.reason in (VerdictReason.OUT_OF_MEMORY, VerdictReason.RESOURCE_LIMIT):
        return _without_means(check, base.reason, base.excerpt)
    if result.reason in CANNOT_TELL and base.verdict != "Errored":
        text = f"{_ONLY_THE_WORK}: {result.excerpt}"
        is_plugin = result.reason == VerdictReason.PLUGIN_FAILED
        reason = VerdictReason.PLUGIN_FAILED if is_plugin else VerdictReason.EXIT_CODE
        return result_of(check, "Failed", reason, text)
    if check.excused and base.verdict != result.verdict:
        if base.verdict == "TimedOut":
            return _too_slow(check)
        return result  # work that no longer ends would pass where something else failed before
    # A base that lacks the command does not fail: it cannot tell.
    return _fails_too(check, result) if is_asked(check, base) else result


def told_of_both(
    check: CheckSpec, job: JobView, abandoned: Abandoned | None, now: datetime
) -> CheckResult:
    """The verdict of a check that is always asked of both trees, once its Job is over."""
    result = _told_of_both(check, job, abandoned, now)
    if check.is_hint:
        result = _without_baseline(result)
    # The tool's image says more than ours, which compares.
    return ran(result, job.pod, CHECK, image_of=_ON_WORK) if job.pod is not None else result


def _without_baseline(result: CheckResult) -> CheckResult:
    """The verdict where what the base is to blame for keeps nothing back."""
    is_base = result.reason in _OF_BASE.get(result.verdict, ())
    update = {"verdict": "Skipped", "reason": VerdictReason.NO_BASELINE, "excused": None}
    return result.model_copy(update=update) if is_base else result


def _told_of_both(
    check: CheckSpec, job: JobView, abandoned: Abandoned | None, now: datetime
) -> CheckResult:
    comparison = _comparison(check, job, abandoned, now)
    if isinstance(comparison, CheckResult):
        return comparison
    if comparison is None:
        return _unfinished(check, job.pod or {})
    if comparison.verdict == "Skipped" and comparison.reason == VerdictReason.BASE_FAILS:
        return _fails_too(check, result_of(check, "Failed", excerpt=comparison.excerpt))
    if comparison.verdict == "Skipped" and comparison.reason == Reason.TIMEOUT:
        return result_of(check, "Skipped", VerdictReason.BASE_FAILS, comparison.excerpt)
    return result_of(check, comparison.verdict, comparison.reason, comparison.excerpt)


def _unfinished(check: CheckSpec, pod: pods.Object) -> CheckResult:
    """The verdict where its pod ended before anything was compared."""
    if pods.reason(pod) == "DeadlineExceeded":
        text = f"not done on both trees after {2 * check.timeout} s"
        return result_of(check, "TimedOut", Reason.TIMEOUT, text)
    if pods.ran_out_of_memory(pod, _ON_WORK):
        return result_of(check, "Failed", VerdictReason.OUT_OF_MEMORY, "it ran out of memory")
    if any(pods.could_not_start(pods.terminated(pod, name) or {}) for name in LISTERS):
        return result_of(check, "Errored", Reason.TOOL_MISSING, "its image has no shell")
    before, head = ((pods.terminated(pod, name) or {}).get("exitCode") for name in LISTERS)
    if before == 0 and head:
        text = f"exit code {head} instead of what it finds; {_ONLY_THE_WORK}"
        return result_of(check, "Failed", VerdictReason.EXIT_CODE, text)
    return result_of(check, "Errored", VerdictReason.NO_VERDICT, "the check did not run")


def _compared(
    check: CheckSpec,
    result: CheckResult,
    job: JobView,
    abandoned: Abandoned | None,
    now: datetime,
) -> CheckResult:
    comparison = _comparison(check, job, abandoned, now, only_errors=True)
    if isinstance(comparison, CheckResult):
        return comparison
    # Without an answer the linter was ended before it had listed anything: it counts as it is.
    return result if comparison is None else _answered(check, result, comparison)


def _comparison(
    check: CheckSpec,
    job: JobView,
    abandoned: Abandoned | None,
    now: datetime,
    *,
    only_errors: bool = False,
) -> CheckVerdict | CheckResult | None:
    """What was found in the comparison; else the verdict where something else ended it; None: its
    container has said nothing. `only_errors`: the work that ended it has its verdict already."""
    nothing = without_pod(check, job, abandoned, now)
    if nothing is not None:
        return nothing
    assert job.pod is not None
    outside = _ended_by_base(check, job.pod) or cut_off(check, job.pod, {})
    if outside is not None and not (only_errors and outside.verdict in ("Failed", "TimedOut")):
        return outside
    problem = diagnosis.failure_of(job.pod, CHECKOUT) or setup_failure(job.pod, SETUP_ON_BASE)
    problem = problem or diagnosis.failure_of(job.pod, CHECK)
    if problem is not None:
        return errored(check, problem)
    of_work = setup_failure(job.pod, SETUP)
    if of_work is not None:
        return _without_setup(check, of_work, job.pod)
    message = (pods.terminated(job.pod, CHECK) or {}).get("message") or ""
    try:
        comparison = load(CheckVerdict, message)
    except ValueError:
        return None
    known = job.labels.get(labels.KNOWN_BASE)
    if known is not None and known != images_in(job.pod):
        text = "the base was measured in other images than the work: it is measured anew"
        return result_of(check, "Errored", VerdictReason.NO_VERDICT, text)
    return comparison


def _without_setup(check: CheckSpec, problem: Diagnosis, pod: pods.Object) -> CheckResult:
    """The verdict where the Project's setup did not succeed in the tree of the work."""
    if pods.terminated(pod, SETUP_ON_BASE) is None:
        return errored(check, problem)
    text = f"{_ONLY_THE_WORK}: {problem.message}"
    return result_of(check, "Failed", VerdictReason.EXIT_CODE, text)


def images_in(pod: pods.Object) -> str:
    """A digest of the images that have listed what is in the work, and compared."""
    told = {name: digest or "" for name, _, digest in pods.images(pod)}
    return digest_of_images(told.get(name, "") for name in (_ON_WORK, CHECK))


def digest_of_images(digests: Iterable[str]) -> str:
    """Of the digests of a check's image and of ours."""
    return hashlib.sha256(" ".join(digests).encode()).hexdigest()[:_DIGEST]


def _ended_by_base(check: CheckSpec, pod: pods.Object) -> CheckResult | None:
    """The verdict where the tool's run on the base has ended the pod; None: something else did."""
    if pods.is_disrupted(pod):
        return None
    if pods.ran_out_of_memory(pod, _ON_BASE):
        return _without_means(check, VerdictReason.OUT_OF_MEMORY, "it ran out of memory")
    base, work = (pods.seconds_of(pod, lister) for lister in LISTERS)
    match pods.reason(pod):
        case "Evicted" if base is not None and work is None:
            text = str(pod["status"].get("message", ""))
            return _without_means(check, VerdictReason.RESOURCE_LIMIT, text)
        case "DeadlineExceeded" if (base or 0) > check.timeout + SLACK:
            return _too_slow(check)
        case "DeadlineExceeded" if (work or 0) < check.timeout - SLACK:
            text = "its pod took so long to start that too little time was left for it"
            return result_of(check, "Errored", VerdictReason.STARTED_LATE, text)
    return None


def _without_means(check: CheckSpec, reason: str, text: str) -> CheckResult:
    return result_of(check, "Errored", reason, f"{_IT_IS_THE_BASE}: {text}")


def _too_slow(check: CheckSpec) -> CheckResult:
    text = f"{_IT_IS_THE_BASE}: not done after {check.timeout} s"
    return result_of(check, "Skipped", VerdictReason.BASE_FAILS, text)


def _answered(check: CheckSpec, result: CheckResult, answer: CheckVerdict) -> CheckResult:
    if answer.verdict == "Skipped":
        return _fails_too(check, result)
    if answer.verdict not in ("Passed", "Failed"):
        return result
    reason = VerdictReason.NEW_FINDINGS if answer.verdict == "Failed" else ""
    judged = result_of(check, answer.verdict, reason, answer.excerpt)
    return judged.model_copy(update=_how(result))


def _fails_too(check: CheckSpec, result: CheckResult) -> CheckResult:
    skipped = result_of(check, "Skipped", VerdictReason.BASE_FAILS, result.excerpt)
    return skipped.model_copy(update=_how(result) | {"excused": check.excused or None})


def _how(result: CheckResult) -> dict[str, Any]:
    """How the command ran on the work, and whether that is required, which stays whatever the
    verdict becomes."""
    fields = ("seconds", "image", "ended_at", "required")
    return {field: getattr(result, field) for field in fields}
