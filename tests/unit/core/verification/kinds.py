"""What has a tree that is judged, for tests that hold for both, look after look."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.project import Project
from bernstein.api.signals import Signal
from bernstein.api.verification import Verification
from bernstein.checks.spec import CheckSpec
from bernstein.core import names
from bernstein.core.actions import DeleteJobs, RunCheck, RunInspect
from bernstein.core.jobs import JobView
from bernstein.core.verification import round as rounds
from bernstein.core.verification.expected.required import required_checks
from bernstein.core.verification.look import Question
from tests.unit.core import objects
from tests.unit.core.objects import EVERYTHING, NOW, job, pod, waiting


@dataclass(frozen=True)
class Kind:
    status: Callable[[Verification], Any]
    job: names.JobNaming


TASK = Kind(lambda judged: objects.done(verification=judged), partial(names.session_job, "work-s1"))
PLAN = Kind(
    lambda judged: PlanStatus(observed_generation=1, verification=judged),
    partial(names.plan_job, "web"),
)
BOTH = pytest.mark.parametrize("kind", [TASK, PLAN], ids=["Task", "Plan"])


SIGNAL = Signal.model_validate({"type": "test_passes", "command": "make test"})
OTHER = Signal.model_validate({"type": "test_passes", "command": "make more"})
READS = Signal.model_validate({"type": "path_exists", "path": "docs"})


class Rounds:
    """One tree that is judged, look after look."""

    def __init__(self, kind: Kind = TASK, *signals: Signal, of: Project | None = None) -> None:
        self.kind, self.signals = kind, signals or (SIGNAL,)
        self.project = of or objects.project()
        self.status: Any = kind.status(objects.verification())

    def checks(self) -> tuple[CheckSpec, ...]:
        return required_checks(self.signals, self.project.spec, EVERYTHING)

    def question(self) -> Question:
        return Question(
            job=self.kind.job,
            checks=self.checks(),
            project=self.project,
            pinned_sha=objects.BASE,
            onto="refs/heads/main",
        )

    def look(self, *jobs: JobView, now: datetime = NOW) -> Any:
        found = rounds.take(self.status, self.question(), {j.name: j for j in jobs}, now)
        self.status = found.status
        return found

    def name(self, check: str, number: int = 0) -> str:
        return self.kind.job(check, number)

    def verdicts(self) -> dict[str, str]:
        return {r.name: r.verdict for r in self.status.verification.checks}


def asked(outcome: Any) -> list[str]:
    return [a.job for a in outcome.actions if isinstance(a, RunCheck | RunInspect)]


def ended_early(outcome: Any) -> set[str]:
    return {j.name for a in outcome.actions if isinstance(a, DeleteJobs) for j in a.jobs}


def without_image(name: str) -> JobView:
    """Its pod waits for an image that is not there."""
    return job(name, pod(waiting("check", "ErrImagePull", "not found"), age=30))


def cut_short(name: str) -> JobView:
    """The same, once it was ended for that."""
    return job(name, pod(waiting("check"), deleting=True, node=None))


def at_work(name: str) -> JobView:
    return job(name, pod(objects.running("check")))


def cannot_run(rounds_: Rounds, *beside: JobView, check: str = "lint", number: int = 0) -> Any:
    """The look at which it is known that this check cannot run."""
    name = rounds_.name(check, number)
    rounds_.look(without_image(name), *beside)
    return rounds_.look(cut_short(name), *beside)
