"""From the Jobs of checks to verdicts: which may start, and what the end of each pod means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TypeVar

from bernstein.api.pod import CHECK, CHECKOUT, EXCERPT_CHARACTERS, INSPECT, InspectResult, load
from bernstein.api.project import Gates
from bernstein.api.reasons import Reason
from bernstein.api.verification import AbandonedCheck, CheckResult, VerdictReason
from bernstein.api.waiting import Abandoned
from bernstein.checks.spec import SIGNAL, CheckSpec
from bernstein.core import diagnosis, pods, runs
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.pods import Object
from bernstein.core.sanitise import ELLIPSIS, within
from bernstein.core.sanitise import text as sanitise
from bernstein.core.verification.inspections import inspections, is_inspection
from bernstein.core.verification.summary import passed

EXCERPT_BYTES = 24_000
"""Of all excerpts of a status together: where many checks have something to say, each says less."""
_PRINTED = 1400
"""Characters of the excerpt for what a command printed; the rest is for our own words."""
_SLACK = 1
"""Seconds; the kubelet tells times in whole ones."""

Asked = TypeVar("Asked")
Abandonments = tuple[AbandonedCheck, ...] | None


def to_start(
    asked: Mapping[str, Asked],
    jobs: Mapping[str, JobView],
    now: datetime,
    gates: Gates,
) -> tuple[Asked, ...]:
    """Those of `asked`, by check and in order, whose Jobs may be made now."""
    missing = [check for check in asked if check not in jobs]
    running = sum(not runs.is_over(job, now) or runs.is_fence(job) for job in jobs.values())
    if gates.execution == "Sequential":
        janitors = [check for check in missing if _is_janitors(check)]
        missing = janitors or missing[: 0 if running else 1]
    return tuple(asked[check] for check in missing[: max(0, gates.max_parallel - running)])


def _is_janitors(check: str) -> bool:
    """Whether it is a completion signal, or a Job that reads for the signals, too."""
    return is_inspection(check) or check.startswith(SIGNAL)


def abandon(
    checks: Iterable[CheckSpec],
    before: Abandonments,
    jobs: Mapping[str, JobView],
    now: datetime,
) -> Abandonments:
    """Every check that is not to be waited for any more, and why; None: there is none.

    `jobs`: by name of the check. Their pods are to be ended; how each ended is read afterwards.
    """
    known, limits = {a.check for a in before or ()}, {c.name: c.timeout for c in checks}
    room = _room(len(limits))
    new = []
    for check, job in jobs.items():
        problem = _to_abandon(job, limits.get(check), now) if check not in known else None
        if problem is not None:
            text = within(sanitise(problem.message, EXCERPT_CHARACTERS), room)
            new.append(AbandonedCheck(check=check, reason=problem.reason, message=text))
    return (*(before or ()), *new) or None


def _to_abandon(job: JobView, limit: float | None, now: datetime) -> Diagnosis | None:
    if job.refused is not None:
        return Diagnosis(Reason.POD_REJECTED, job.refused)
    if runs.state(job, now) not in (runs.State.SEEN, runs.State.RUNNING):
        return None
    since = job.running_since
    if limit is not None and since is not None and (now - since).total_seconds() > limit + _SLACK:
        return Diagnosis(Reason.TIMEOUT, f"not done after {limit} s")
    return diagnosis.to_abandon(job, now)


def unable(
    checks: Iterable[CheckSpec],
    jobs: Mapping[str, JobView],
    now: datetime,
    abandoned: Abandonments = None,
) -> tuple[str, Diagnosis] | None:
    """A required check that could not begin, and why. None: there is none."""
    checks = tuple(checks)
    required = {c.name for c in checks if c.required and c.command is not None}
    for called, together in inspections(checks).items():
        if any(check.required for check in together):
            required.add(called)
    for check, job in jobs.items():
        if check in required and runs.is_over(job, now):
            problem = _unstarted(_find(abandoned, check))
            if problem is not None:
                return check, problem
    return None


def _unstarted(abandoned: Abandoned | None) -> Diagnosis | None:
    """Why the check could not begin, where it could not."""
    if abandoned is None or abandoned.reason == Reason.TIMEOUT:
        return None
    return Diagnosis(abandoned.reason, abandoned.message)


def _find(abandoned: Abandonments, check: str) -> Abandoned | None:
    return next((a for a in abandoned or () if a.check == check), None)


def verdicts(
    checks: Iterable[CheckSpec],
    jobs: Mapping[str, JobView],
    now: datetime,
    gates: Gates,
    abandoned: Abandonments = None,
) -> tuple[CheckResult, ...] | None:
    """All verdicts, once every run is over; None before. `jobs`: by name of the check."""
    in_turn = gates.execution == "Sequential"
    results: list[CheckResult] = []
    checks = tuple(checks)
    inspected: dict[str, Judge | None] = {}
    for called, together in inspections(checks).items():
        judge = _inspected(jobs.get(called), _find(abandoned, called), now)
        inspected |= dict.fromkeys((check.name for check in together), judge)
    for check in checks:
        if check.skipped is not None:
            results.append(_result(check, "Skipped", check.skipped))
        elif check.command is not None:
            job = jobs.get(check.name)
            if job is None and in_turn and not passed(results):
                results.append(_result(check, "Skipped", VerdictReason.NOT_REACHED))
            elif job is None or not runs.is_over(job, now):
                return None
            else:
                results.append(_executed(check, job, _find(abandoned, check.name), now))
        elif (judge := inspected[check.name]) is None:
            return None
        else:
            results.append(judge(check))
    room = _room(sum(bool(result.excerpt) for result in results))
    return tuple(
        result.model_copy(update={"excerpt": within(result.excerpt, room)}) for result in results
    )


def _room(texts: int) -> int:
    """Bytes for each of so many texts of checks in a status."""
    return EXCERPT_BYTES // max(1, texts)


def _result(check: CheckSpec, verdict: str, reason: str = "", excerpt: str = "") -> CheckResult:
    return CheckResult.model_validate(
        {
            "name": check.name,
            "kind": check.kind,
            "title": check.title,
            "required": check.required,
            "asked": check.digest,
            "verdict": verdict,
            "reason": reason,
            "excerpt": sanitise(excerpt, EXCERPT_CHARACTERS),
        }
    )


Judge = Callable[[CheckSpec], CheckResult]


def _inspected(job: JobView | None, abandoned: Abandoned | None, now: datetime) -> Judge | None:
    """What gives each check its verdict from its inspect Job; None until that run is over."""
    if job is None or not runs.is_over(job, now):
        return None
    problem = _unstarted(abandoned) or _inspect_problem(job, now)
    if problem is not None:
        return lambda check: _result(check, "Errored", problem.reason, problem.message)
    ended = pods.terminated(job.pod or {}, INSPECT) or {}
    try:
        answers = {v.name: v for v in load(InspectResult, ended.get("message") or "").verdicts}
    except ValueError as error:
        text = str(error)
        return lambda check: _result(check, "Errored", VerdictReason.NO_VERDICT, text)

    def judge(check: CheckSpec) -> CheckResult:
        answer = answers.get(check.name)
        if answer is None:
            return _result(
                check, "Errored", VerdictReason.NO_VERDICT, "the inspect Job said nothing of it"
            )
        return _result(check, answer.verdict, answer.reason, answer.excerpt)

    return judge


def _inspect_problem(job: JobView, now: datetime) -> Diagnosis | None:
    without_end = diagnosis.without_end(job, now)
    if without_end is not None:
        return without_end
    assert job.pod is not None
    problem = diagnosis.failure_of(job.pod, CHECKOUT) or diagnosis.failure_of(job.pod, INSPECT)
    if problem is None and pods.reason(job.pod):
        return Diagnosis(pods.reason(job.pod), "the inspect pod did not finish")
    return problem


def _executed(
    check: CheckSpec, job: JobView, abandoned: Abandoned | None, now: datetime
) -> CheckResult:
    """The verdict of a check that ran a command, with the seconds that it took."""
    problem = _unstarted(abandoned) or diagnosis.without_end(job, now)
    if problem is not None:
        return _result(check, "Errored", problem.reason, problem.message)
    assert job.pod is not None
    result = _verdict(check, job, job.pod, hurried=abandoned is not None)
    took = _seconds(pods.terminated(job.pod, CHECK) or {})
    return result if took is None else result.model_copy(update={"seconds": round(took)})


def _timed_out(check: CheckSpec, excerpt: str = "") -> CheckResult:
    return _result(
        check, "TimedOut", Reason.TIMEOUT, f"not done after {check.timeout} s\n{excerpt}"
    )


def _printed(ended: Object) -> str:
    """The last lines that the command printed: its summary stands at the end."""
    shown = sanitise(str(ended.get("message") or ""), 4096)
    if len(shown) <= _PRINTED:
        return shown
    cut = shown[-_PRINTED:]
    return f"{ELLIPSIS}\n{cut.partition(chr(10))[2] or cut}"


def _seconds(ended: Object) -> float | None:
    """How long the container ran; None: it is not known."""
    begun, end = ended.get("startedAt"), ended.get("finishedAt")
    if not begun or not end:
        return None
    return max(0, (pods.parse_time(end) - pods.parse_time(begun)).total_seconds())


def _verdict(check: CheckSpec, job: JobView, pod: Object, *, hurried: bool) -> CheckResult:
    """What the end of a pod that ran a command means; `hurried`: it was ended for its slowness.

    Times are the kubelet's own. Exit codes are read last: a command that was stopped may catch
    SIGTERM and exit with 0.
    """
    ended = pods.terminated(pod, CHECK) or {}
    excerpt = _printed(ended)
    took, code = _seconds(ended), ended.get("exitCode")
    cut_off = _cut_off(check, pod, ended, hurried=hurried)
    if cut_off is not None:
        return cut_off
    problem = diagnosis.failure_of(pod, CHECKOUT)
    if problem is not None:
        return _result(check, "Errored", problem.reason, problem.message)
    if not ended:
        return _result(
            check, "Errored", job.failed or VerdictReason.NO_VERDICT, "the check did not run"
        )
    if ended.get("reason") == "OOMKilled":
        return _result(check, "Failed", VerdictReason.OUT_OF_MEMORY, "the check ran out of memory")
    if took is not None and took > check.timeout + _SLACK:
        return _timed_out(check, excerpt)
    if pods.could_not_start(ended) or code in (127, 128):
        return _result(
            check, "Errored", Reason.TOOL_MISSING, excerpt or "the command was not found"
        )
    if code == 0:
        return _result(check, "Passed")
    return _result(check, "Failed", VerdictReason.EXIT_CODE, f"exit code {code}\n{excerpt}")


def _cut_off(check: CheckSpec, pod: Object, ended: Object, *, hurried: bool) -> CheckResult | None:
    """The verdict where something from outside ended the pod.

    A disruption is asked for first: our own deletion of a slow check is none.
    """
    disrupted = _result(check, "Errored", Reason.DISRUPTED, "the pod was disrupted")
    if pods.is_disrupted(pod):
        return disrupted
    took = _seconds(ended)
    if hurried and took is not None and took >= check.timeout:
        return _timed_out(check, _printed(ended))
    if pods.reason(pod) == "DeadlineExceeded" and pods.has_started(pod, CHECK):
        if took is not None and took < check.timeout - _SLACK:
            text = f"its pod took so long to start that only {took:.0f} s were left for it"
            return _result(check, "Errored", VerdictReason.STARTED_LATE, text)
        return _timed_out(check, _printed(ended))
    if pods.is_deleting(pod):
        return disrupted
    if pods.reason(pod) == "Evicted":
        return _result(
            check, "Failed", VerdictReason.RESOURCE_LIMIT, str(pod["status"].get("message", ""))
        )
    return None
