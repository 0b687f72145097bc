"""What the program that asks models is told of money."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bernstein.api import encoding
from bernstein.api.programs.judge import Asked, JudgeConfig
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.jobs.judge import judge_job
from bernstein.core.actions import RunJudge
from tests.unit.controllers.jobs import built
from tests.unit.core import objects

WANTED, OWNER = built.WANTED["judge"]


def told(dollars: str | None, project: Workplace = built.JUDGED) -> JudgeConfig:
    assert isinstance(WANTED, RunJudge)
    return of(replace(WANTED, dollars=dollars), project)


def of(wanted: RunJudge, project: Workplace) -> JudgeConfig:
    job = judge_job(wanted, project, "team", OWNER, built.PLAIN_SETTINGS)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    return encoding.load(JudgeConfig, built.configuration(container))


def priced(**prices: str) -> Workplace:
    model: dict[str, Any] = {"model": "claude-sonnet-4-5", **prices}
    spec = built.JUDGED.spec.model_copy(
        update={"budget": objects.project(budget={"prices": [model]}).spec.budget}
    )
    return built.JUDGED.model_copy(update={"spec": spec})


def test_what_is_left_and_what_tokens_cost_at_most_is_told() -> None:
    config = told("0.25")

    assert config.dollars == "0.25"
    (model,) = config.models
    assert (model.input_price, model.output_price) == ("3.75", "15")  # into a cache costs most


def test_the_projects_own_price_counts() -> None:
    (model,) = told("1", priced(input="7", output="8")).models

    assert (model.input_price, model.output_price) == ("7", "8")


def test_what_is_answered_already_is_not_put_again_and_its_model_needs_no_key() -> None:
    assert isinstance(WANTED, RunJudge)
    other = {"name": "other", "provider": "openai", "key": {"name": "other", "key": "api-key"}}
    project = objects.project(models=[other, *(m.dump() for m in built.JUDGED.spec.models)])
    asked = replace(built.ASKS.asks or Asked("", "", ""), name="signal-1", model="other")
    checks = (built.ASKS, replace(built.ASKS, name="signal-1", asks=asked))
    both = replace(WANTED, checks=checks)

    found = [of(replace(both, known=known), project) for known in ((), ("signal-1",))]

    assert [[each.name for each in config.questions] for config in found] == [
        ["signal-0", "signal-1"],
        ["signal-0"],
    ]
    assert [[each.name for each in config.models] for config in found] == [
        ["other", "claude-sonnet-4-5"],
        ["claude-sonnet-4-5"],
    ]
    assert replace(both, known=("signal-1",)).asked == both.asked, "it is the same question"


def test_without_a_budget_nothing_is_said_of_what_is_left() -> None:
    config = told(None)

    assert (config.dollars, config.models[0].input_price) == (None, "")
