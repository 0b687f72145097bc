"""Checks in two steps: a model writes a test, in the judge Job; then a check Job runs it.

    to be written ──judge-<check>──┬─▶ written       the test is in the status; its check runs it
                                   └─▶ Errored       no answer of use: the model is asked again
    written ──────<check>──────────┬─▶ Passed, or Failed: the test has run to its end
                                   ├─▶ Errored(WrittenTestUnusable): another one is written
                                   └─▶ Errored for another reason: the same test is run again

The test is in the status, so that what runs later runs the same one, whatever became of the Job
that has asked. All else about such a check is that of checks that ask, and then of those that
execute.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from bernstein.api import encoding
from bernstein.api.pod import JUDGE
from bernstein.api.programs.judge import JudgeResult
from bernstein.api.task import LONGEST_FEEDBACK
from bernstein.api.verification import CheckResult, Verification, WrittenTest
from bernstein.checks.spec import CheckSpec
from bernstein.core import pods, runs
from bernstein.core.jobs import JobView
from bernstein.core.judging import written
from bernstein.core.sanitise import cut
from bernstein.core.sanitise import text as sanitise
from bernstein.core.verification import rerun
from bernstein.core.verification.inspections import writer
from bernstein.core.verification.models import Naming


def heard(
    judged: Verification,
    checks: Iterable[CheckSpec],
    name: Naming,
    jobs: Mapping[str, JobView],
    now: datetime,
) -> Verification:
    """With the test that a model has written since, for the check that waits for one."""
    for check in with_tests(checks, judged):
        if check.test != "" or check.skipped is not None:
            continue
        called = writer(check.name)
        job = jobs.get(name(called, rerun.round_of(judged, called)))
        test = _told(job) if job is not None and runs.is_over(job, now) else ""
        if test:
            new = WrittenTest(check=check.name, asked=check.digest, test=test)
            return judged.model_copy(update={"written": new})
    return judged


def _told(job: JobView) -> str:
    """The test that its Job tells, if it is one; "": there is none."""
    ended = pods.terminated(job.pod or {}, JUDGE) or {}
    try:
        told = encoding.load(JudgeResult, ended.get("message") or "")
        written.unpacked(told.written)
    except ValueError:
        return ""
    return told.written


def with_tests(checks: Iterable[CheckSpec], judged: Verification) -> tuple[CheckSpec, ...]:
    """The checks; one whose test is written has it."""
    return tuple(_with_test(check, judged.written) for check in checks)


def _with_test(check: CheckSpec, there: WrittenTest | None) -> CheckSpec:
    if check.test is None or there is None:
        return check
    is_its = (there.check, there.asked) == (check.name, check.digest)
    return replace(check, test=there.test) if is_its else check


def told_with(feedback: str, judged: Verification, results: Iterable[CheckResult]) -> str:
    """What the next attempt is told, and behind that the test that has failed, as far as there is
    room; without what has the form of a secret."""
    there = judged.written
    fails = {r.name for r in results if r.verdict in ("Failed", "TimedOut")}
    if there is None or there.check not in fails:
        return feedback
    from bernstein.checks.content import printed  # its patterns take a moment to load

    test = sanitise(printed.without_secrets(written.unpacked(there.test)), LONGEST_FEEDBACK)
    return cut(f"{feedback}\n\nThe test that fails:\n{test}", LONGEST_FEEDBACK)
