"""The review by another maker's model: when it is asked for, of whom, and what is asked."""

from __future__ import annotations

from typing import Any

from bernstein.api.states import TaskState
from bernstein.api.task import Attempt
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.core.verification.expected import plan, reviews, task
from bernstein.core.verification.expected.reviewers import Writer
from bernstein.core.verification.inspections import questions
from tests.unit.core import objects
from tests.unit.core.objects import plan_snapshot
from tests.unit.core.verification.asked_models import MODEL as CLAUDE

CHANGED = Subject(any_changed=True, python_changed=False, tests_changed=False, deps_changed=False)
NOTHING = Subject(any_changed=False, python_changed=False, tests_changed=False, deps_changed=False)
GPT = {**CLAUDE, "name": "gpt-5.5", "provider": "openai"}
GEMINI = {**CLAUDE, "name": "gemini-3-flash", "provider": "gemini"}
WRITER = Writer("claude-opus-4-5", "generic")


def checks(
    subject: Subject = CHANGED, writer: Writer = WRITER, gates: Any = None, **settings: Any
) -> tuple[CheckSpec, ...]:
    asks = {"crossModel": {"enabled": True, **settings}, **(gates or {})}
    project = objects.project(gates=asks, models=[CLAUDE, GPT, GEMINI]).spec
    return reviews.of_work(project, subject, writer)


def asked(**settings: Any) -> CheckSpec:
    (check,) = checks(**settings)
    return check


def test_it_is_off_by_default() -> None:
    off = objects.project(models=[CLAUDE, GPT]).spec

    assert reviews.of_work(off, CHANGED, WRITER) == ()
    assert checks(enabled=False) == ()
    assert checks(gates={"enabled": False}) == ()


def test_what_is_asked_is_what_the_project_says() -> None:
    usual = asked().asks
    own = asked(
        reviewers=["gpt-5.5", "gemini-3-flash"], quorum=2, maxDiffCharacters=2000, maxTokens=300
    ).asks

    assert usual is not None
    assert own is not None
    assert (usual.prompt, usual.form, usual.criteria) == ("cross_model.v1", "cross_review", "")
    assert (usual.models, usual.quorum) == (("gemini-3-flash",), 1)
    assert (usual.room, usual.tokens) == (12_000, 512)
    assert (own.models, own.quorum) == (("gpt-5.5", "gemini-3-flash"), 2)
    assert (own.room, own.tokens) == (2000, 300)


def test_every_setting_is_part_of_the_question() -> None:
    both = {"reviewers": ["gpt-5.5", "gemini-3-flash"]}
    found = [
        asked(),
        asked(maxDiffCharacters=2000),
        asked(maxTokens=300),
        asked(onIssues="Report"),
        asked(reviewers=["gpt-5.5"]),
        asked(**both),
        asked(**both, quorum=2),
        asked(reviewers=[*reversed(both["reviewers"])]),
    ]

    assert len({check.digest for check in found}) == len(found)
    assert asked().digest == asked(reviewers=["gemini-3-flash"]).digest


def test_it_keeps_work_back_unless_it_is_only_to_be_told() -> None:
    assert asked().required
    assert not asked(onIssues="Report").required


def test_who_changes_nothing_is_not_reviewed() -> None:
    assert [check.skipped for check in checks(NOTHING)] == ["ConditionNotMet"]


def test_it_shares_the_job_of_all_that_ask() -> None:
    judged = objects.verification()
    project = objects.project(
        gates={"crossModel": {"enabled": True}, "pipeline": [{"name": "intent_verification"}]},
        models=[CLAUDE, GPT],
    )
    subject = objects.task(
        status=objects.done(verification=judged),
        completionSignals=[{"type": "llm_judge"}],
        model="claude-opus-4-5",
    )
    found = task.specs_of(objects.snapshot(subject, project=project), judged)

    assert [check.name for check in questions(found)["judge-1"]] == [
        *("signal-0", "intent_verification", "cross-model"),
    ]


def test_without_a_reviewer_nobody_is_asked_and_it_is_said_why() -> None:
    check = asked(writer=Writer("sonnet", "demo"))

    assert check.asks is not None
    assert check.asks.model == ""
    assert "whose model 'sonnet'" in check.unfit
    assert questions([check]) == {}


def test_whoever_has_written_it_is_the_model_of_the_last_attempt() -> None:
    """What the Project calls by that name may be another model by now."""
    project = objects.project(gates={"crossModel": {"enabled": True}}, models=[CLAUDE, GPT])

    def reviewer(wrote: str, says: str) -> str:
        fields: dict[str, Any] = {
            "session": "s",
            "attempt": 1,
            "counted": True,
            "reason": "Succeeded",
        }
        attempts = tuple(Attempt(**fields, model=model) for model in ("qwen3", wrote))
        judged = objects.verification()
        status = objects.done(verification=judged, attempts=attempts)
        subject = objects.task(status=status, model=says)
        (check,) = (
            c
            for c in task.specs_of(objects.snapshot(subject, project=project), judged)
            if c.name == "cross-model"
        )
        assert check.asks is not None
        return check.asks.model

    assert reviewer("gpt-5.5", "claude-opus-4-5") == CLAUDE["name"]
    assert reviewer("claude-opus-4-5", "gpt-5.5") == GPT["name"]
    assert reviewer("", "gpt-5.5") == CLAUDE["name"]


def test_the_work_of_a_whole_plan_is_not_reviewed() -> None:
    project = objects.project(gates={"crossModel": {"enabled": True}}, models=[CLAUDE, GPT])
    closed = objects.task("one", status=objects.status(TaskState.CLOSED))
    snapshot = plan_snapshot(objects.plan(), closed, project=project)

    assert "cross-model" not in [check.name for check in plan.specs_of(snapshot)]
