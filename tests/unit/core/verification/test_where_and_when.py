"""A verdict says in which image its check ran, and when that was over, by the word of the node."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import CheckVerdict, InspectResult
from bernstein.api.programs.formatting import FormatResult, Told
from bernstein.api.project import Project
from bernstein.api.verification import CheckResult, Formatting
from bernstein.core.jobs import JobView
from bernstein.core.tasks.decide import decide
from tests.unit.core import objects
from tests.unit.core.objects import NOW, at, ended, job, over
from tests.unit.core.verification import asked_models
from tests.unit.core.verification.asked_models import said
from tests.unit.core.verification.test_both_trees import name_of, ruled

OURS, TOOLS = (f"sha256:{digit * 64}" for digit in "ab")
NO_GATES = objects.project(gates={"enabled": False})


def of(image: str, name: str, **more: Any) -> objects.Object:
    return ended(name, after=7, **more) | {"imageID": f"registry.example/it@{image}"}


def found(of_project: Project, signal: Any, ended_job: JobView) -> CheckResult:
    signals = [signal] if signal is not None else []
    subject = objects.task(status=objects.done(), completionSignals=signals)
    given = objects.snapshot(subject, jobs=(ended_job,), project=of_project)
    judged = decide(given, NOW).status.verification
    assert judged is not None
    return judged.checks[0]


def by_command() -> CheckResult:
    end = job("work-s1-signal-0-0", over(ended("checkout"), of(TOOLS, "check")))
    return found(NO_GATES, {"type": "test_passes", "command": "pytest"}, end)


def by_reading() -> CheckResult:
    answers = InspectResult((CheckVerdict("signal-0", "Passed"),))
    end = job("work-s1-inspect-0", over(ended("checkout"), of(OURS, "inspect", said=answers)))
    return found(NO_GATES, asked_models.EXISTS, end)


def by_a_model(*verdict: str) -> CheckResult:
    answers = said(CheckVerdict("signal-0", *(verdict or ("Passed",))))
    end = over(ended("checkout"), of(OURS, "judge", said=answers))
    named = job("work-s1-judge-1-0", end, labels=asked_models.CALLED)
    return found(asked_models.project(), asked_models.REVIEW, named)


def by_comparison() -> CheckResult:
    answer = CheckVerdict("gate", "Passed")
    end = over(ended("checkout"), of(TOOLS, "list-head"), of(OURS, "check", said=answer))
    return found(ruled(), None, job(name_of(ruled()), end))


def by_formatting(*verdict: str) -> CheckResult:
    told = FormatResult(objects.BASE, objects.HEAD, objects.TREE, Told(*(verdict or ("Passed",))))
    end = over(ended("checkout"), of(TOOLS, "formatter"), ended("format", after=9, said=told))
    others = ({"name": name, "enabled": False} for name in ("lint", "pii_scan"))
    formats = objects.project(gates={"pipeline": [{"name": "auto_format"}, *others]})
    wanted = objects.done(verification=objects.verification(formatting=Formatting()))
    given = objects.snapshot(
        objects.task(status=wanted), jobs=(job("work-s1-auto-format-0u11", end),), project=formats
    )
    formatted = objects.task(status=decide(given, NOW).status)
    judged = decide(objects.snapshot(formatted, project=formats), NOW).status.verification
    assert judged is not None
    return judged.checks[0]


@pytest.mark.parametrize(
    ("verdict", "image"),
    [
        *((by_command, TOOLS), (by_reading, OURS), (by_a_model, OURS), (by_comparison, TOOLS)),
        (by_formatting, TOOLS),
    ],
)
def test_a_verdict_says_where_and_when(verdict: Any, image: str) -> None:
    judged = verdict()

    assert judged.verdict == "Passed"
    assert (judged.image, judged.ended_at) == (image, at(7))


def test_so_does_one_that_could_not_judge() -> None:
    judged = by_a_model("Errored", "ModelUnreachable")

    assert (judged.verdict, judged.image, judged.ended_at) == ("Errored", OURS, at(7))


def test_so_does_one_whose_formatter_did_not_end_well() -> None:
    judged = by_formatting("Failed", "ExitCode")

    assert (judged.verdict, judged.image, judged.ended_at) == ("Failed", TOOLS, at(7))
