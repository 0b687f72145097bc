"""A required gate that does not pass: does the commit before the work pass it?

What was there before is not the work's to answer for. Where findings can be listed, only those that
the base does not have count. Where they cannot and the base fails as well, nobody can tell what the
work has done: then the gate is Skipped(BaseFails), which excuses it only if the Project says so. To
excuse, the commit that is asked is the one that the Plan started from, which no agent has made.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bernstein.api.encoding import load
from bernstein.api.pod import CHECK, CHECKOUT, LISTERS, CheckVerdict
from bernstein.api.reasons import Reason
from bernstein.api.verification import CheckResult, VerdictReason
from bernstein.api.waiting import Abandoned
from bernstein.checks.spec import CheckSpec
from bernstein.core import diagnosis, pods
from bernstein.core.jobs import JobView
from bernstein.core.verification.executed import cut_off, errored, executed, result_of, without_pod

_TO_BLAME = (VerdictReason.EXIT_CODE, Reason.TIMEOUT)
"""Why a gate did not pass, where the base may be to blame; memory and disk are the Project's."""


def is_asked(check: CheckSpec, result: CheckResult) -> bool:
    """Whether the base is to be judged by the same gate before this verdict counts."""
    gate = check.kind == "gate" and check.required
    if not gate or check.against_base:
        return False
    return result.verdict in ("Failed", "TimedOut") and result.reason in _TO_BLAME


def compares(check: CheckSpec, result: CheckResult) -> bool:
    """Whether that Job lists what is found in both trees, instead of running the gate once more."""
    return check.findings is not None and result.verdict == "Failed"


def judged_by_base(
    check: CheckSpec,
    result: CheckResult,
    job: JobView,
    abandoned: Abandoned | None,
    now: datetime,
) -> CheckResult:
    """The verdict that counts, once the Job on the base is over; `result` is the work's own."""
    if compares(check, result):
        return _compared(check, result, job, abandoned, now)
    base = executed(check, job, abandoned, now)
    if base.verdict == "Errored" and base.reason != Reason.TOOL_MISSING:
        return base
    if check.excused and base.verdict != result.verdict:
        return result  # work that no longer ends would pass where something else failed before
    # A base that lacks the command does not fail: it cannot tell.
    return _fails_too(check, result) if is_asked(check, base) else result


def told_of_both(
    check: CheckSpec, job: JobView, abandoned: Abandoned | None, now: datetime
) -> CheckResult:
    """The verdict of a check that is always asked of both trees, once its Job is over."""
    found = _comparison(check, job, abandoned, now)
    if isinstance(found, CheckResult):
        return found
    if found is None:
        return _unfinished(check, job.pod or {})
    if found.verdict == "Skipped" and found.reason == VerdictReason.BASE_FAILS:
        return _fails_too(check, result_of(check, "Failed", excerpt=found.excerpt))
    return result_of(check, found.verdict, found.reason, found.excerpt)


def _unfinished(check: CheckSpec, pod: pods.Object) -> CheckResult:
    """The verdict where its pod ended before anything was compared."""
    if pods.reason(pod) == "DeadlineExceeded":
        text = f"not done on both trees after {2 * check.timeout} s"
        return result_of(check, "TimedOut", Reason.TIMEOUT, text)
    if any(pods.ran_out_of_memory(pod, name) for name in LISTERS):
        return result_of(check, "Failed", VerdictReason.OUT_OF_MEMORY, "it ran out of memory")
    if any(pods.could_not_start(pods.terminated(pod, name) or {}) for name in LISTERS):
        return result_of(check, "Errored", Reason.TOOL_MISSING, "its image has no shell")
    return result_of(check, "Errored", VerdictReason.NO_VERDICT, "the check did not run")


def _compared(
    check: CheckSpec,
    result: CheckResult,
    job: JobView,
    abandoned: Abandoned | None,
    now: datetime,
) -> CheckResult:
    found = _comparison(check, job, abandoned, now, only_errors=True)
    if isinstance(found, CheckResult):
        return found
    # Without an answer the linter was ended before it had listed anything: it counts as it is.
    return result if found is None else _answered(check, result, found)


def _comparison(
    check: CheckSpec,
    job: JobView,
    abandoned: Abandoned | None,
    now: datetime,
    *,
    only_errors: bool = False,
) -> CheckVerdict | CheckResult | None:
    """What was found in the comparison; else the verdict where something else ended it; None: its
    container has said nothing. `only_errors`: what else ended it counts only as an error."""
    nothing = without_pod(check, job, abandoned, now)
    if nothing is not None:
        return nothing
    assert job.pod is not None
    outside = cut_off(check, job.pod, {})
    if outside is not None and (outside.verdict == "Errored" or not only_errors):
        return outside
    for program in (CHECKOUT, CHECK):
        problem = diagnosis.failure_of(job.pod, program)
        if problem is not None:
            return errored(check, problem)
    message = (pods.terminated(job.pod, CHECK) or {}).get("message") or ""
    try:
        return load(CheckVerdict, message)
    except ValueError:
        return None


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
    """How the command ran on the work, which stays whatever the verdict becomes."""
    return {"seconds": result.seconds, "image": result.image}
