"""What a gate has found or measured in a base is kept: for other work it is not run there again."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from bernstein.api.pod import CheckVerdict
from bernstein.api.programs.comparing import Compared
from bernstein.api.projects.workplace import Workplace
from bernstein.api.task import TaskStatus
from bernstein.checks.findings import Known
from bernstein.checks.measures import Measured
from bernstein.checks.outputs import baseline
from bernstein.core import labels
from bernstein.core.actions import KnownBase, RunCheck, TaskDecision
from bernstein.core.gate_cache import KeptBase, KeptVerdict, keeping
from bernstein.core.jobs import JobView
from bernstein.core.verification.base import digest_of_images
from tests.unit.core import objects
from tests.unit.core.objects import NOW, done, job, verification
from tests.unit.core.verification.cached.known import (
    NOTHING,
    OTHER,
    OURS,
    TOOLS,
    closed_project,
    kept,
    linted,
    look,
    pod,
    results,
    runs,
    told,
)

MEASURED = baseline.packed(Measured({"coverage": 80.0}, frozenset({"tests"}))) or ""
FOUND = baseline.packed(Known({b"0" * 16: 2}, frozenset({"a.py"}))) or ""
JOB = "work-s1-coverage-delta-0u14"
ON_IMAGES = digest_of_images((TOOLS, OURS))


def ruled(gate: str = "coverage_delta", **spec: Any) -> Workplace:
    pipeline = [{"name": gate, "condition": "always"}]
    return closed_project(**{"gates": {"extends": None, "pipeline": pipeline}, **spec})


def said(
    base: str = MEASURED, verdict: str = "Failed", check: str = "coverage_delta"
) -> CheckVerdict:
    return Compared(check, verdict, "WorseThanBase" if verdict == "Failed" else "", "", base)


def compared(
    name: str = JOB,
    tools: str = TOOLS,
    ours: str = OURS,
    answer: Any = None,
    known: str | None = None,
    restarts: int = 0,
    **more: Any,
) -> JobView:
    """The Job of a gate that compares; `known`: the label of one whose base was known."""
    answer = said("" if known is not None else MEASURED) if answer is None else answer
    before = told("list-before", "toolchain:1", tools)
    before[1]["restartCount"] = restarts
    made = pod(
        told("checkout", "bernstein:1", ours),
        *((before,) if known is None else ()),
        told("list-head", "toolchain:1", tools),
        told("check", "bernstein:1", ours, said=answer, **more),
    )
    return job(name, made, labels={} if known is None else {labels.KNOWN_BASE: known})


def judge(*jobs: JobView, project: Workplace | None = None, **more: Any) -> TaskDecision:
    return look(*jobs, project=project or ruled(), **more)


CACHE = kept(judge(compared()))


def of_other_tree(**more: Any) -> TaskStatus:
    return done(verification=verification(tree=objects.sha(77), sha=objects.sha(78), **more))


def asked(decision: TaskDecision) -> RunCheck:
    (run,) = (action for action in decision.actions if isinstance(action, RunCheck))
    return run


def known(cache: Any = CACHE, status: TaskStatus | None = None, **more: Any) -> KnownBase | None:
    """What the Job is told of the base that judges other work on it."""
    return asked(judge(cache=cache, status=status or of_other_tree(), **more)).known


def test_it_is_told_to_the_job_that_judges_other_work_on_the_base() -> None:
    assert known() == KnownBase(MEASURED, ON_IMAGES)


def test_work_that_passes_or_does_not_leaves_it_alike() -> None:
    assert known(kept(judge(compared(answer=said(verdict="Passed"))))) is not None


def test_findings_of_a_second_job_are_kept_too() -> None:
    project = closed_project()
    second = "work-s1-lint-0b"
    answer = Compared("lint", "Failed", "NewFindings", "", FOUND)
    cache = kept(look(linted(code=1), compared(second, answer=answer), project=project))

    other: Any = {"status": of_other_tree(), "project": project, "cache": cache}
    assert asked(look(linted(code=1), **other)).known == KnownBase(FOUND, ON_IMAGES)


@pytest.mark.parametrize(
    "more",
    [
        {"project": ruled(toolchain={"image": "toolchain:1", "resources": {"memory": "2Gi"}})},
        {"project": ruled(pods={"runtimeClassName": "gvisor"})},
        {"project": ruled(toolchain={"image": "toolchain:2"})},
        {"project": ruled(network={"git": None})},
        {"project": ruled(network={"checks": [{}]})},
        {"status": of_other_tree(base=objects.sha(9))},
        {"status": of_other_tree(uncached=True)},
        {"cache": None},
        {"cache": NOTHING},
        {"cache": keeping(CACHE, (), [("toolchain:1", OTHER)], NOW)},
        {"cache": keeping(CACHE, (), [("bernstein:1", OTHER)], NOW)},
    ],
    ids=[
        *("memory", "runtime class", "image", "git anywhere", "open network", "base", "verify"),
        *("no cache", "nothing known", "tag moved", "our tag moved"),
    ],
)
def test_with_anything_else_of_it_changed_the_base_is_measured(more: Any) -> None:
    assert known(**more) is None


@pytest.mark.parametrize("gate", ["benchmark", "mutation_testing", "dep_audit"])
def test_what_is_not_of_the_base_alone_is_not_kept(gate: str) -> None:
    """Durations are those of a node and an hour; the others are told of the work, or ask."""
    project = ruled(gate)
    name = asked(judge(project=project)).job

    decision = judge(compared(name, answer=said(check=gate)), project=project)

    assert kept(decision) == NOTHING


UNUSABLE = {
    "nothing": compared(answer=said("")),
    "no word of ours": compared(answer=said("nonsense")),
    "findings, not measures": compared(answer=said(FOUND)),
    "no comparison": compared(answer="it is red"),
    "of another check": compared(answer=said(check="lint")),
    "a program that broke": compared(code=1),
    "a base that was measured once more, after the work": compared(restarts=1),
}


@pytest.mark.parametrize("how", UNUSABLE)
def test_what_is_no_word_of_a_comparison_that_ended_well_is_not_kept(how: str) -> None:
    cache = kept(judge(UNUSABLE[how]))

    assert not any('"base"' in text for text in cache.verdicts.values())


def test_a_command_of_the_work_that_talks_like_a_comparison_says_nothing_of_the_base() -> None:
    """Its container may leave any message. It is one that runs alone."""
    answer = Compared("lint", "Failed", "", "", FOUND)
    cache = kept(look(linted(code=1, said=answer), linted("work-s1-lint-0b", said=answer)))

    assert not any('"base"' in text for text in cache.verdicts.values())


def test_where_the_project_changed_while_it_ran_nothing_is_kept() -> None:
    richer = ruled(toolchain={"image": "toolchain:1", "resources": {"memory": "2Gi"}})

    assert kept(judge(compared(), project=richer, made=ruled())).verdicts == {}


@pytest.mark.parametrize(
    "text",
    ["", "nonsense", FOUND, "A" * 5000],
)
def test_what_is_kept_and_cannot_be_read_is_told_to_nobody(text: str) -> None:
    (key,) = (key for key, value in CACHE.verdicts.items() if '"base"' in value)

    assert known(keeping(CACHE, [(key, KeptBase(text))], (), NOW)) is None
    assert known(keeping(CACHE, [(key, KeptVerdict("Passed"))], (), NOW)) is None


# --- the end of a Job that was told ---------------------------------------------------------------


def test_its_verdict_counts_and_what_was_known_was_of_use() -> None:
    decision = judge(compared(known=ON_IMAGES), cache=CACHE, status=of_other_tree())

    assert results(decision)["coverage_delta"].verdict == "Failed"
    (key,) = (key for key, value in CACHE.verdicts.items() if '"base"' in value)
    assert [*kept(decision, CACHE).verdicts][-1] == key


@pytest.mark.parametrize("images", [{"tools": OTHER}, {"ours": OTHER}])
def test_with_other_images_than_the_base_was_measured_in_it_is_asked_again(images: Any) -> None:
    """Without what was known, and the images are known from then on."""
    job_ = compared(known=ON_IMAGES, **images)
    first = judge(job_, cache=CACHE, status=of_other_tree())

    judged = first.status.verification
    assert judged is not None
    assert judged.passed is None
    assert "coverage_delta" in {each.check for each in judged.again or ()}
    assert kept(first, CACHE).images != CACHE.images
    waited = first.status.model_copy(update={"waiting": None})
    again = asked(judge(job_, cache=CACHE, status=waited))
    assert (again.job, again.known) == ("work-s1-coverage-delta-1u14", None)


def test_a_tool_that_does_not_end_beside_a_known_base_is_run_beside_a_measured_one() -> None:
    ended = pod(
        told("checkout", "bernstein:1", OURS),
        told("list-head", "toolchain:1", TOOLS, 137),
        ({"name": "check", "image": "bernstein:1"}, objects.waiting("check")),
        phase="Failed",
    )
    cut = job(JOB, ended, labels={labels.KNOWN_BASE: ON_IMAGES})

    judged = judge(cut, cache=CACHE, status=of_other_tree()).status.verification

    assert judged is not None
    assert results_of(judged.checks) == ["Errored"]


def results_of(checks: Any) -> list[str]:
    return [check.verdict for check in checks]


def test_the_digest_of_images_is_of_both_in_their_order() -> None:
    assert hashlib.sha256(f"{TOOLS} {OURS}".encode()).hexdigest()[:16] == ON_IMAGES
    assert digest_of_images((OURS, TOOLS)) != ON_IMAGES


def test_a_verdict_that_is_known_needs_no_base() -> None:
    same = judge(cache=CACHE)

    assert runs(same) == []


def test_a_job_that_is_told_is_made_once_whatever_becomes_of_the_cache() -> None:
    job_ = objects.job(
        JOB,
        objects.pod(objects.ended("checkout"), objects.running("list-head")),
        labels={labels.KNOWN_BASE: ON_IMAGES},
    )

    assert judge(job_, cache=NOTHING, status=of_other_tree()).actions == ()
