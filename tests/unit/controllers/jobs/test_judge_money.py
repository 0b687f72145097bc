"""What the program that asks models is told of money."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bernstein.api import encoding
from bernstein.api.programs.judge import JudgeConfig
from bernstein.api.project import Project
from bernstein.controllers.jobs.judge import judge_job
from bernstein.core.actions import RunJudge
from tests.unit.controllers.jobs import built
from tests.unit.core import objects

WANTED, OWNER = built.WANTED["judge"]


def told(dollars: str | None, project: Project = built.JUDGED) -> JudgeConfig:
    assert isinstance(WANTED, RunJudge)
    wanted = replace(WANTED, dollars=dollars)
    job = judge_job(wanted, project, "team", OWNER, built.PLAIN_SETTINGS)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    return encoding.load(JudgeConfig, built.configuration(container))


def priced(**prices: str) -> Project:
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


def test_without_a_budget_nothing_is_said_of_what_is_left() -> None:
    config = told(None)

    assert (config.dollars, config.models[0].input_price) == (None, "")
