"""What there is of the Jobs of a round: which judge the tree, and what commands said so far."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from typing import TypeVar

from bernstein.api.money import plain
from bernstein.api.pod import CHECK, INSPECT, JUDGE
from bernstein.api.programs.plugin import PluginConfig
from bernstein.api.project import Project
from bernstein.api.verification import CheckResult, Verification
from bernstein.checks.gate import Plugin
from bernstein.checks.spec import CheckSpec
from bernstein.core import labels, names, runs
from bernstein.core.actions import DeleteJobs, RunCheck, RunInspect, RunJudge, give_up
from bernstein.core.gate_cache import GateCache
from bernstein.core.jobs import LOOK_AGAIN_SECONDS, JobView, gone
from bernstein.core.verification import base, formatted, models, rerun, verdicts
from bernstein.core.verification.expected import required
from bernstein.core.verification.inspections import is_judge, shared
from bernstein.core.waiting import Waits, waits_for_jobs

S = TypeVar("S", bound=Waits)

RunAnswers = RunCheck | RunInspect | RunJudge
_CENT_OF_A_CENT = Decimal("0.0001")


@dataclass(frozen=True)
class Question:
    """Which checks judge a tree, and what their Jobs need to know."""

    job: names.JobNaming
    """The name of the Job of a check, in a round of that number."""
    checks: tuple[CheckSpec, ...]
    project: Project
    pinned_sha: str
    """The commit that the configuration of linters and the like is read from."""
    onto: str
    """The ref that the work is to land in."""
    can_be_made_anew: bool = False
    """It is a candidate, and the work that it was made of is there."""
    crowd: int = 0
    """How many trees wait for the same before a check can run, where that of another one is tried
    for all; 0: this one is."""
    follows: datetime | None = None
    """From when on this one is tried, too, as the pod of another one has begun; None: none has."""
    resting: int = 0
    """How many others wait to try the like, each for itself; 0: this one comes first of them."""
    title: str = ""
    description: str = ""
    """Of the step, for models and gates in Python that are asked about its work."""
    cache: GateCache | None = None
    """What gates have said of trees before; None: nobody asks for that."""
    unpaid: str = ""
    """Why no model is asked now: there is no money for it. "": there is, or nobody counts it."""
    left: Decimal | None = None
    """US dollars that models may cost; None: nobody counts them."""


@dataclass(frozen=True)
class Look:
    """What there is of the Jobs of a round, by check."""

    runs: dict[str, RunAnswers]
    """Those that judge this tree, made or not."""
    works: dict[str, CheckResult]
    """What the commands whose runs are over say of the work alone."""
    existing: dict[str, JobView]
    """Those that are there, or were abandoned: these are never made anew."""
    kept: dict[str, CheckResult]
    """Verdicts of earlier rounds that stay: nothing is run for them."""
    suspected: frozenset[str]
    """What could not judge this tree before, which may have been the work's doing."""

    @property
    def is_outdated(self) -> bool:
        """Whether a Job was made for another question than the one asked now."""
        return any(
            job.labels.get(labels.ASKED, self.runs[check].asked) != self.runs[check].asked
            for check, job in self.existing.items()
        )

    def asked(self) -> list[tuple[JobView, str]]:
        """Those that are there, with the digests of what they are asked."""
        return [(job, self.runs[check].asked) for check, job in self.existing.items()]

    def unasked(self, jobs: Mapping[str, JobView]) -> list[JobView]:
        """Jobs that judge, of whatever round, and that nobody asks for any more."""
        asked = {run.job for run in self.runs.values()}
        return [job for job in judging(jobs) if job.name not in asked]


def look(
    question: Question, judged: Verification, jobs: Mapping[str, JobView], now: datetime
) -> Look:
    """`jobs`: by name. What each command said is worked out here, once for all who ask."""
    kept = rerun.stay(judged, question.checks) | formatted.verdicts(judged, question.checks)
    suspected = rerun.suspected(judged, question.checks)
    runs: dict[str, RunAnswers] = {}
    works: dict[str, CheckResult] = {}
    for spec in required.executing(question.checks):
        if spec.name in kept:
            continue
        run = runs[spec.name] = _run_of(spec, question, judged, jobs)
        job = _job(spec.name, run.job, judged, jobs, now)
        result = verdicts.of_work(spec, job, judged.abandoned, now)
        if result is None:
            continue
        if judged.base != question.pinned_sha:
            result = base.of_others(result)
        works[spec.name] = result
        if base.is_asked(spec, result, again=spec.name in suspected):
            called = names.on_base(spec.name)
            name = question.job(called, rerun.round_of(judged, called), is_rule=spec.is_rule)
            compares = base.compares(spec, result)
            before = question.pinned_sha if spec.excused else judged.base
            second = replace(run, job=name, base=before, compares=compares, is_second=True)
            runs[called] = replace(second, changed_since=None)
    runs |= _sharing(question, judged, kept)
    seen = {check: _job(check, run.job, judged, jobs, now) for check, run in runs.items()}
    existing = {check: job for check, job in seen.items() if job is not None}
    return Look(runs, works, existing, kept, suspected)


def _run_of(
    spec: CheckSpec, question: Question, judged: Verification, jobs: Mapping[str, JobView]
) -> RunCheck:
    return RunCheck(
        job=_job_of(spec, question, judged, jobs),
        check=spec,
        ref=judged.ref,
        sha=judged.sha,
        pinned_sha=question.pinned_sha,
        base=judged.base if spec.against_base else None,
        compares=spec.against_base,
        changed_since=judged.base if spec.paths else None,
        plugin=_told(spec.plugin, question, judged) if spec.plugin is not None else None,
    )


def _told(plugin: Plugin, question: Question, judged: Verification) -> PluginConfig:
    return PluginConfig(
        pinned_sha=question.pinned_sha,
        since=judged.base,
        title=question.title,
        description=question.description,
        ask_condition=plugin.says_condition,
    )


def _sharing(
    question: Question, judged: Verification, kept: Mapping[str, CheckResult]
) -> dict[str, RunAnswers]:
    """The Jobs of checks that execute nothing, where one of theirs has no verdict yet."""
    wanted = {
        called: together
        for called, together in shared(question.checks).items()
        if any(check.name not in kept for check in together)
    }
    dollars = _share(question.left, among=sum(map(is_judge, wanted)))
    return {
        called: _asking(question, judged, called, together, dollars, kept)
        if is_judge(called)
        else _inspecting(question, judged, called, together)
        for called, together in wanted.items()
    }


def _share(left: Decimal | None, among: int) -> str | None:
    """US dollars for each of so many Jobs that are at work beside each other."""
    if left is None or not among:
        return None
    return plain((left / among).quantize(_CENT_OF_A_CENT, ROUND_DOWN))


def _inspecting(
    question: Question, judged: Verification, called: str, together: tuple[CheckSpec, ...]
) -> RunAnswers:
    return RunInspect(
        job=question.job(called, rerun.round_of(judged, called)),
        checks=together,
        ref=judged.ref,
        sha=judged.sha,
        base=judged.base,
        onto=question.onto,
        pinned_sha=None if question.pinned_sha == judged.base else question.pinned_sha,
    )


def _asking(
    question: Question,
    judged: Verification,
    called: str,
    together: tuple[CheckSpec, ...],
    dollars: str | None,
    kept: Collection[str],
) -> RunAnswers:
    run = RunJudge(
        job=question.job(called, rerun.round_of(judged, called)),
        called=called,
        checks=together,
        ref=judged.ref,
        sha=judged.sha,
        base=judged.base,
        title=question.title,
        description=question.description,
        dollars=dollars,
        known=tuple(check.name for check in together if check.name in kept),
    )
    return replace(run, heard=models.known(judged, run.asked))


def _job_of(
    spec: CheckSpec, question: Question, judged: Verification, jobs: Mapping[str, JobView]
) -> str:
    """The name of its Job; one that an older release has made keeps the name that it has."""
    number = rerun.round_of(judged, spec.name)
    old = question.job(names.slug_of_check(spec.name), number)
    adopted = jobs.get(old)
    if adopted is not None and adopted.labels.get(labels.CHECK) == spec.name:
        return old
    return question.job(spec.name, number, is_rule=spec.is_rule)


def _job(
    check: str, name: str, judged: Verification, jobs: Mapping[str, JobView], now: datetime
) -> JobView | None:
    """The Job of a check. One that was abandoned is never made anew."""
    if name in jobs or all(each.check != check for each in judged.abandoned or ()):
        return jobs.get(name)
    return gone(name, now)


def judging(jobs: Mapping[str, JobView]) -> list[JobView]:
    """The Jobs that judge, of whatever round."""
    return [job for job in jobs.values() if job.main in (CHECK, INSPECT, JUDGE)]


def judging_late(
    status: S, jobs: Mapping[str, JobView], now: datetime
) -> tuple[S, tuple[DeleteJobs, ...], float] | None:
    """What comes first where some are at work although all is judged, by requests that nobody
    waited for any more: what comes next may be the end of all, and none of them may outlive it.

    The status, with what keeps them from their end; their deletion; seconds until the next look.
    """
    late = [job for job in judging(jobs) if not runs.is_over(job, now)]
    return (waits_for_jobs(status, late, now), give_up(late), LOOK_AGAIN_SECONDS) if late else None
