"""What the end of a pod that ran a check's command means."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache

from bernstein.api.encoding import load
from bernstein.api.pod import CHECK, CHECKOUT, EXCERPT_CHARACTERS
from bernstein.api.programs.plugin import PluginVerdict
from bernstein.api.programs.setup import SETUP
from bernstein.api.reasons import Reason, VerdictReason
from bernstein.api.verification import CheckResult
from bernstein.api.waiting import Abandoned
from bernstein.checks.gate import Plugin
from bernstein.checks.spec import CheckSpec
from bernstein.core import diagnosis, pods
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.jobs import JobView
from bernstein.core.pods import Object
from bernstein.core.sanitise import ELLIPSIS, quoting
from bernstein.core.sanitise import text as sanitise

_PRINTED = 1400
"""Characters of the excerpt for what a command printed; the rest is for our own words."""
_QUOTED = 1200
"""Characters of it below a line of ours; the rest is for the marks of its lines, too."""
_MESSAGE = 4096
"""Bytes that the kubelet takes of a container at most."""
_OF_PLUGINS: Mapping[str, tuple[str, ...]] = {
    "Passed": ("",),
    "Failed": (VerdictReason.PLUGIN_SAYS_NO,),
    "Skipped": (VerdictReason.CONDITION_NOT_MET,),
    "Errored": (
        VerdictReason.PLUGIN_FAILED,
        VerdictReason.PLUGIN_INVALID,
        VerdictReason.PLUGIN_NOT_FOUND,
    ),
}
"""The verdicts that a gate in Python may have, with their reasons."""
_OF_PLUGINS_WITHOUT_ANSWER: Mapping[str, str] = {
    VerdictReason.PLUGIN_FAILED: "the class gave no answer that can be used",
    VerdictReason.PLUGIN_INVALID: "a class of the gates cannot be used",
    VerdictReason.PLUGIN_NOT_FOUND: "no class has its name",
}
"""What we say of it: what the class says may be words of the work that it has read."""
SLACK = 1
"""Seconds; the kubelet tells times in whole ones."""


def unstarted(abandoned: Abandoned | None) -> Diagnosis | None:
    """Why the check could not begin, where it could not."""
    if abandoned is None or abandoned.reason == Reason.TIMEOUT:
        return None
    return Diagnosis(abandoned.reason, abandoned.message)


def result_of(check: CheckSpec, verdict: str, reason: str = "", excerpt: str = "") -> CheckResult:
    return CheckResult.model_validate(
        {
            "name": check.name,
            "kind": check.kind,
            "title": check.title,
            "required": check.required,
            "asked": check.digest,
            "verdict": verdict,
            "reason": reason,
            "by_model": True if check.asks is not None else None,
            "excerpt": sanitise(excerpt, EXCERPT_CHARACTERS),
        }
    )


def executed(
    check: CheckSpec, job: JobView, abandoned: Abandoned | None, now: datetime
) -> CheckResult:
    """The verdict of a check that ran a command, with the seconds that it took."""
    nothing = without_pod(check, job, abandoned, now)
    if nothing is not None:
        return nothing
    assert job.pod is not None
    result = _verdict(check, job, job.pod, hurried=abandoned is not None)
    took = pods.seconds(pods.terminated(job.pod, CHECK) or {})
    known = {"seconds": None if took is None else round(took)}
    return ran(result.model_copy(update=known), job.pod, CHECK)


def ran(
    result: CheckResult, pod: Object, container: str, *, image_of: str | None = None
) -> CheckResult:
    """The verdict with when this container of its pod was over, and of which image it was made.
    `image_of`: another container of the pod, whose image tells more."""
    ended = pods.ended_at(pods.terminated(pod, container) or {})
    image = pods.image_digest(pod, image_of or container)
    return result.model_copy(update={"ended_at": ended, "image": image})


def without_pod(
    check: CheckSpec, job: JobView, abandoned: Abandoned | None, now: datetime
) -> CheckResult | None:
    """The verdict where no pod of the Job tells one; None: there is a pod, and it has ended."""
    problem = unstarted(abandoned) or diagnosis.without_end(job, now)
    return errored(check, problem) if problem is not None else None


def errored(check: CheckSpec, problem: Diagnosis) -> CheckResult:
    """Errored, unless checkout has found that the check is not asked of this change."""
    is_asked = problem.reason != VerdictReason.CONDITION_NOT_MET or not check.paths
    verdict = "Errored" if is_asked else "Skipped"
    return result_of(check, verdict, problem.reason, problem.message)


def _timed_out(check: CheckSpec, excerpt: str = "") -> CheckResult:
    return result_of(
        check, "TimedOut", Reason.TIMEOUT, f"not done after {check.timeout} s\n{excerpt}"
    )


@lru_cache(maxsize=512)
def _without_secrets(text: str) -> str:
    """What the command printed as it is shown, masked before it is cut: as it was printed, where a
    colour ends the word before a secret, and as it is seen, where one stands within. It takes some
    milliseconds, and is asked for with each look at the same pod: so it is worked out once."""
    from bernstein.checks.content import printed  # its patterns take a moment to load

    seen = sanitise(printed.without_secrets(text), _MESSAGE) if text else ""
    return printed.without_secrets(seen) if seen else ""


def _printed(ended: Object) -> str:
    """The last lines that the command printed: its summary stands at the end."""
    return _end(_without_secrets(str(ended.get("message") or "")), _PRINTED)


def _end(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    cut = text[-limit:]
    return f"{ELLIPSIS}\n{cut.partition(chr(10))[2] or cut}"


def _quoting(ours: str, printed: str) -> str:
    """What we say of a check that could not judge, which conditions tell, and what it printed."""
    return quoting(ours, _end(printed, _QUOTED), _PRINTED)


def setup_failure(pod: Object, name: str) -> Diagnosis | None:
    """Why the Project's setup did not succeed in the container of that name; None: nothing speaks
    against it. What its message holds is a quote: the work's own code may have written it."""
    ended = pods.terminated(pod, name)
    if ended is None or ended.get("exitCode") == 0:
        return None
    out_of_memory = ended.get("reason") == "OOMKilled"
    how = "ran out of memory" if out_of_memory else f"ended with exit code {ended.get('exitCode')}"
    text = _quoting(f"the Project's setup {how}", _without_secrets(str(ended.get("message") or "")))
    return Diagnosis(Reason.SETUP_FAILED, text)


def _verdict(check: CheckSpec, job: JobView, pod: Object, *, hurried: bool) -> CheckResult:
    """What the end of a pod that ran a command means; `hurried`: it was ended for its slowness.

    Times are the kubelet's own. Exit codes are read last: a command that was stopped may catch
    SIGTERM and exit with 0.
    """
    ended = pods.terminated(pod, CHECK) or {}
    excerpt = _printed(ended)
    took, code = pods.seconds(ended), ended.get("exitCode")
    from_outside = cut_off(check, pod, ended, hurried=hurried)
    if from_outside is not None:
        return from_outside
    problem = diagnosis.failure_of(pod, CHECKOUT) or setup_failure(pod, SETUP)
    if problem is not None:
        return errored(check, problem)
    if not ended:
        return result_of(
            check, "Errored", job.failed or VerdictReason.NO_VERDICT, "the check did not run"
        )
    if ended.get("reason") == "OOMKilled":
        return result_of(
            check, "Failed", VerdictReason.OUT_OF_MEMORY, "the check ran out of memory"
        )
    if took is not None and took > check.timeout + SLACK:
        return _timed_out(check, excerpt)
    if pods.could_not_start(ended) or code in (127, 128):
        text = _quoting("the command was not found", excerpt)
        return result_of(check, "Errored", Reason.TOOL_MISSING, text)
    if check.plugin is not None:
        return of_plugin(check, check.plugin, ended, excerpt)
    if code == 0:
        return result_of(check, "Passed")
    if check.test is not None:
        return result_of(check, *_of_written(code, excerpt))
    return result_of(check, "Failed", VerdictReason.EXIT_CODE, f"exit code {code}\n{excerpt}")


def _of_written(code: object, printed: str) -> tuple[str, str, str]:
    """Of a test that a model has written, which did not pass: only one that has run to its end says
    something of the work."""
    if code == 1:
        text = f"a test that a model has written for the change fails\n{printed}"
        return "Failed", VerdictReason.WRITTEN_TEST_FAILS, text
    ours = f"the test that a model has written is of no use: exit code {code}"
    text = _quoting(ours, printed)
    return "Errored", VerdictReason.WRITTEN_TEST_UNUSABLE, text


def of_plugin(check: CheckSpec, plugin: Plugin, ended: Object, printed: str) -> CheckResult:
    """What the program says that asks a gate in Python. It ends with 0 where it has said anything:
    else the message may be what anybody has printed."""
    try:
        told = load(PluginVerdict, str(ended.get("message") or ""))
    except ValueError:
        told = None
    if told is None or ended.get("exitCode") != 0 or told.name != check.name:
        text = _quoting("the program that asks it left no verdict", printed)
        return result_of(check, "Errored", VerdictReason.PLUGIN_FAILED, text)
    may_say = _OF_PLUGINS.get(told.verdict, (VerdictReason.PLUGIN_FAILED,))
    verdict = told.verdict if told.verdict in _OF_PLUGINS else "Errored"
    reason = told.reason if told.reason in may_say else may_say[0]
    excerpt = _without_secrets(told.excerpt)
    if verdict == "Errored":
        excerpt = quoting(_OF_PLUGINS_WITHOUT_ANSWER[reason], excerpt, _PRINTED)
    result = result_of(check, verdict, reason, excerpt)
    if not plugin.says_required or told.required is None:
        return result
    return result.model_copy(update={"required": told.required})


def cut_off(
    check: CheckSpec, pod: Object, ended: Object, *, hurried: bool = False
) -> CheckResult | None:
    """The verdict where something from outside ended the pod.

    A disruption is asked for first: our own deletion of a slow check is none.
    """
    if pods.is_disrupted(pod):
        return _disrupted(check)
    took = pods.seconds(ended)
    if hurried and took is not None and took >= check.timeout:
        return _timed_out(check, _printed(ended))
    known = took is not None or not pods.is_deleting(pod)
    if known and pods.reason(pod) == "DeadlineExceeded" and pods.has_started(pod, CHECK):
        if took is not None and took < check.timeout - SLACK:
            text = f"its pod took so long to start that only {took:.0f} s were left for it"
            return result_of(check, "Errored", VerdictReason.STARTED_LATE, text)
        return _timed_out(check, _printed(ended))
    if pods.is_deleting(pod):
        return _disrupted(check)
    if pods.reason(pod) == "Evicted":
        problem = setup_failure(pod, SETUP)
        if problem is not None:
            return errored(check, problem)
        return result_of(
            check, "Failed", VerdictReason.RESOURCE_LIMIT, str(pod["status"].get("message", ""))
        )
    return None


def _disrupted(check: CheckSpec) -> CheckResult:
    return result_of(check, "Errored", Reason.DISRUPTED, "the pod was disrupted")
