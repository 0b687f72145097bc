"""The Job that asks several reviewers has the key of each, and of no other model."""

from __future__ import annotations

from bernstein.api.encoding import load
from bernstein.api.programs.judge import JudgeConfig
from bernstein.checks.spec import Subject
from bernstein.core.actions import RunJudge
from bernstein.core.verification.expected import reviews
from bernstein.core.verification.expected.reviewers import Writer
from tests.unit.controllers.jobs.built import PLAIN_SETTINGS, REF, TASK, configuration, follow_up
from tests.unit.core import objects
from tests.unit.core.objects import BASE, HEAD


def model(name: str, provider: str) -> dict[str, object]:
    return {"name": name, "provider": provider, "key": {"name": f"{provider}-key", "key": "key"}}


def test_it_has_the_keys_of_all_reviewers_and_no_other_one() -> None:
    project = objects.project(
        gates={"crossModel": {"enabled": True, "reviewers": ["gpt-5.5", "gemini-3-flash"]}},
        models=[
            model("claude-sonnet-4-5", "anthropic"),
            model("gemini-3-flash", "gemini"),
            model("gpt-5.5", "openai"),
        ],
    )
    changed = Subject(
        any_changed=True, python_changed=False, tests_changed=False, deps_changed=False
    )
    checks = reviews.of_work(project.spec, changed, Writer("claude-opus-4-5", "generic"))
    wanted = RunJudge("work-s1-judge-1-0", "judge-1", checks, REF, HEAD, BASE, "Do work", "")

    found = follow_up(wanted, TASK, project, PLAIN_SETTINGS)["spec"]["template"]["spec"]

    (judge,) = found["containers"]
    secrets = [v["secret"]["secretName"] for v in found["volumes"] if "model" in v["name"]]
    assert secrets == ["gemini-key", "openai-key"]
    told = load(JudgeConfig, configuration(judge))
    assert {address.name for address in told.models} == {"gemini-3-flash", "gpt-5.5"}
    (asked,) = told.questions
    assert (asked.models, asked.quorum) == (("gpt-5.5", "gemini-3-flash"), 1)
    assert (asked.room, asked.tokens) == (12_000, 512)
