"""A Task whose signals ask a model, and the Jobs that say what it has answered."""

from __future__ import annotations

from typing import Any

from bernstein.api.pod import CheckVerdict, InspectResult, Usage
from bernstein.api.programs.judge import JudgeResult, Spent
from bernstein.api.projects.workplace import Workplace
from bernstein.api.task import Task, TaskStatus
from bernstein.core.jobs import JobView
from tests.unit.core import objects
from tests.unit.core.objects import ended, failed, job, over

MODEL = {
    "name": "claude-sonnet-4-5",
    "provider": "anthropic",
    "key": {"name": "judge-key", "key": "api-key"},
}
OFF = {"enabled": False}
EXISTS = {"type": "path_exists", "path": "a.py"}
REVIEW = {"type": "llm_review", "criteria": "Every new function has a test."}
JUDGE = {"type": "llm_judge"}
CALLED = {"bernstein.dev/check": "judge-1"}
USED = Spent("claude-sonnet-4-5", Usage(input=1_000_000, output=100_000))
"""$4.5 by the built-in table."""


def project(*models: dict[str, Any], **spec: Any) -> Workplace:
    """A Project without gates, with one model unless others are named."""
    return objects.project(**({"gates": OFF, "models": [*(models or (MODEL,))]} | spec))


def task(*signals: dict[str, Any], status: TaskStatus | None = None) -> Task:
    asked = [{**signal} for signal in signals]
    return objects.task(status=status or objects.done(), completionSignals=asked)


def said(*verdicts: CheckVerdict, spent: tuple[Spent, ...] = (USED,)) -> JudgeResult:
    return JudgeResult(verdicts, spent)


def judged(result: JudgeResult, number: int = 0, **more: Any) -> JobView:
    """The judge Job of that round, which has ended."""
    pod = over(ended("checkout"), ended("judge", said=result), **more)
    return job(f"work-s1-judge-1-{number}", pod, labels=CALLED)


def broken(number: int = 0, reason: str = "InternalError") -> JobView:
    pod = over(ended("checkout"), failed("judge", reason))
    return job(f"work-s1-judge-1-{number}", pod, labels=CALLED)


def read(name: str, *verdicts: CheckVerdict) -> JobView:
    """The inspect Job `name`, which has ended."""
    return objects.result_job(name, "inspect", InspectResult(verdicts))
