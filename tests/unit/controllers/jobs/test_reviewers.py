"""The Job that asks several reviewers has the key of each, and of no other model."""

from __future__ import annotations

from dataclasses import replace

from bernstein.api.encoding import load
from bernstein.api.pod import CheckVerdict
from bernstein.api.programs.judge import JudgeConfig
from bernstein.api.project import Project
from bernstein.checks.spec import Subject
from bernstein.core.actions import RunJudge
from bernstein.core.verification.expected import reviews
from bernstein.core.verification.expected.reviewers import Writer
from tests.unit.controllers.jobs.built import PLAIN_SETTINGS, REF, TASK, configuration, follow_up
from tests.unit.core import objects
from tests.unit.core.objects import BASE, HEAD


def model(name: str, provider: str) -> dict[str, object]:
    return {"name": name, "provider": provider, "key": {"name": f"{provider}-key", "key": "key"}}


def wanted_of(project: Project) -> RunJudge:
    changed = Subject(
        any_changed=True, python_changed=False, tests_changed=False, deps_changed=False
    )
    checks = reviews.of_work(project.spec, changed, Writer("claude-opus-4-5", "generic"))
    return RunJudge("work-s1-judge-1-0", "judge-1", checks, REF, HEAD, BASE, "Do work", "")


def test_who_has_answered_already_needs_no_key_and_its_answer_is_told() -> None:
    project = objects.project(
        gates={"crossModel": {"enabled": True, "reviewers": ["gpt-5.5", "gemini-3-flash"]}},
        models=[model("gemini-3-flash", "gemini"), model("gpt-5.5", "openai")],
    )
    said = CheckVerdict("gemini-3-flash", "Failed", "ChangesRequested", "a.py: no")
    wanted = replace(wanted_of(project), heard=(said,))

    found = follow_up(wanted, TASK, project, PLAIN_SETTINGS)["spec"]["template"]["spec"]

    (judge,) = found["containers"]
    told = load(JudgeConfig, configuration(judge))
    assert told.heard == (said,)
    assert {address.name for address in told.models} == {"gpt-5.5"}
    assert [v["secret"]["secretName"] for v in found["volumes"] if "model" in v["name"]] == [
        "openai-key"
    ]
    assert wanted.asked == wanted_of(project).asked, "it is the same question"


def test_it_has_the_keys_of_all_reviewers_and_no_other_one() -> None:
    project = objects.project(
        gates={"crossModel": {"enabled": True, "reviewers": ["gpt-5.5", "gemini-3-flash"]}},
        models=[
            model("claude-sonnet-4-5", "anthropic"),
            model("gemini-3-flash", "gemini"),
            model("gpt-5.5", "openai"),
        ],
    )

    found = follow_up(wanted_of(project), TASK, project, PLAIN_SETTINGS)["spec"]["template"]["spec"]

    (judge,) = found["containers"]
    secrets = [v["secret"]["secretName"] for v in found["volumes"] if "model" in v["name"]]
    assert secrets == ["gemini-key", "openai-key"]
    told = load(JudgeConfig, configuration(judge))
    assert {address.name for address in told.models} == {"gemini-3-flash", "gpt-5.5"}
    (asked,) = told.questions
    assert (asked.models, asked.quorum) == (("gpt-5.5", "gemini-3-flash"), 1)
    assert (asked.room, asked.tokens) == (12_000, 512)
