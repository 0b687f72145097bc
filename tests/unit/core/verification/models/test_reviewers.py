"""Who reviews whose work: a model that is known to be another maker's, or nobody."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.project import ProjectSpec
from bernstein.core.verification.expected.reviewers import (
    PREFERRED,
    Review,
    Writer,
    makers_of,
    review,
)
from tests.unit.core import objects

KEY = {"name": "judge", "key": "key"}
CLAUDE = {"name": "claude-haiku-4-5", "provider": "anthropic", "key": KEY}
GEMINI = {"name": "gemini-3-flash", "provider": "gemini", "key": KEY}
GPT = {"name": "gpt-5.5", "provider": "openai", "key": KEY}
OTHER = {"name": "deepseek/deepseek-chat", "provider": "openrouter", "key": KEY}
OWN = "https://models.example/v1"


def spec(*models: dict[str, Any], **settings: Any) -> ProjectSpec:
    asks = {"crossModel": {"enabled": True, **settings}}
    return objects.project(gates=asks, models=[*models]).spec


def who(found: Review) -> list[str]:
    assert not found.problem
    return [model.name for model in found.reviewers]


@pytest.mark.parametrize(
    ("model", "adapter", "makers"),
    [
        ("claude-opus-4-5", "generic", {"Anthropic"}),
        ("anthropic/claude-opus-4-5", "generic", {"Anthropic"}),
        ("google/gemini-flash-1.5", "generic", {"Google"}),
        ("GPT-5.5", "generic", {"OpenAI"}),
        ("qwen3-coder", "generic", {"Alibaba"}),
        ("o4-mini", "codex", {"OpenAI"}),
        ("openai/o4-mini", "generic", {"OpenAI"}),
        ("claude-opus-4-5", "codex", {"Anthropic", "OpenAI"}),
        ("sonnet/x", "claude", {"sonnet", "Anthropic"}),
        ("deepseek-r1-distill-qwen-32b", "generic", {"DeepSeek", "Alibaba"}),
        ("cohere/command-a", "generic", {"cohere"}),
        ("sonnet", "generic", set()),
        ("/x", "demo", set()),
        ("", "demo", set()),
    ],
)
def test_whose_work_it_may_be_stands_in_the_name_of_the_model_and_in_that_of_the_cli(
    model: str, adapter: str, makers: set[str]
) -> None:
    assert Writer(model, adapter).makers == makers


@pytest.mark.parametrize(
    ("model", "makers"),
    [
        (CLAUDE, {"Anthropic"}),
        ({**GPT, "name": "o4-mini"}, {"OpenAI"}),
        ({**GPT, "name": "o4-mini", "provider": "openai-chat"}, {"OpenAI"}),
        ({**GPT, "name": "o4-mini", "baseUrl": OWN}, set()),
        ({**GPT, "name": "qwen3", "provider": "openai-chat", "baseUrl": OWN}, {"Alibaba"}),
        (OTHER, {"DeepSeek"}),
        ({**OTHER, "name": "auto"}, set()),
    ],
)
def test_whose_a_reviewer_is_stands_in_its_name_else_its_own_api_says_so(
    model: dict[str, Any], makers: set[str]
) -> None:
    (found,) = spec(model).models

    assert makers_of(found) == makers


@pytest.mark.parametrize(
    ("writer", "reviewer"),
    [
        ("claude-opus-4-5", "gemini-3-flash"),
        ("gemini-3-pro", "claude-haiku-4-5"),
        ("gpt-5.5", "gemini-3-flash"),
        ("codex-mini", "gemini-3-flash"),
        ("qwen3-coder", "claude-haiku-4-5"),
        ("cohere/command-a", "gpt-5.5"),
    ],
)
def test_who_reviews_whom_where_the_project_names_nobody(writer: str, reviewer: str) -> None:
    assert who(review(spec(GPT, CLAUDE, GEMINI), Writer(writer, "generic"))) == [reviewer]


def test_where_whoever_is_preferred_is_not_there_another_one_reviews() -> None:
    assert who(review(spec(GPT, CLAUDE), Writer("gpt-5.5", "codex"))) == [CLAUDE["name"]]
    assert who(review(spec(CLAUDE, OTHER), Writer("claude-opus", ""))) == [OTHER["name"]]


def test_nobody_is_preferred_for_its_own_work() -> None:
    assert all(maker not in others for maker, others in PREFERRED.items())


def test_those_review_that_the_project_names() -> None:
    named = [GPT["name"], GEMINI["name"]]
    found = review(spec(CLAUDE, GEMINI, GPT, reviewers=named), Writer("claude-opus", ""))

    assert who(found) == named


@pytest.mark.parametrize(
    ("writer", "models", "settings", "problem"),
    [
        ("claude-opus", (CLAUDE,), {}, "no model of the Project is known to be of another than A"),
        ("claude-opus", (), {}, "no model of the Project"),
        ("sonnet", (GPT,), {}, "it is not known whose model 'sonnet' is (adapter demo)"),
        ("", (GPT,), {}, "it is not known whose model 'without a name' is"),
        (
            "claude-opus",
            (GPT, CLAUDE),
            {"reviewers": ["gpt-5.5", "claude-haiku-4-5"]},
            "the reviewer 'claude-haiku-4-5' is of Anthropic, as the model that writes",
        ),
        (
            "claude-opus",
            ({**OTHER, "name": "auto"},),
            {"reviewers": ["auto"]},
            "it is not known whose model the reviewer 'auto' is",
        ),
        ("claude-opus", (GPT,), {"reviewers": ["x"]}, "'x' is none of the Project's models"),
        (
            "claude-opus",
            (GPT,),
            {"reviewers": ["gpt-5.5"], "quorum": 2},
            "2 of 1 reviewers cannot approve",
        ),
    ],
)
def test_who_is_not_known_to_be_another_reviews_nothing(
    writer: str, models: tuple[dict[str, Any], ...], settings: dict[str, Any], problem: str
) -> None:
    found = review(spec(*models, **settings), Writer(writer, "demo"))

    assert found.reviewers == ()
    assert problem in found.problem
