"""Gates that ask a model bring it into the Project, with a key in a Secret."""

from __future__ import annotations

import pytest

from bernstein.cli.local.gates.models import JUDGE_KEY
from tests.unit.cli.local.gates.scenes import entries, read, told

FLASH = "google/gemini-flash-1.5"
CROSS = "quality_gates.cross_model"


def test_a_gate_that_names_a_model_brings_it() -> None:
    found = read("intent_verification: {enabled: true, model: google/x, block_on_no: false}")

    assert entries(found)["intent_verification"] == {
        "name": "intent_verification",
        "blockOnNo": False,
        "model": "google/x",
    }
    assert found.models == ({"name": "google/x", "provider": "openrouter", "key": JUDGE_KEY},)
    assert found.notes == ()


def test_one_that_names_none_gets_the_usual_one_which_is_told() -> None:
    found = read("review_rubric: true\ntest_expansion: true")

    assert [model["name"] for model in found.models] == [FLASH]
    assert told(found)["quality_gates"].startswith("a gate asks a model and names none")


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_the_provider_may_be_named(provider: str) -> None:
    found = read(f"intent_verification: {{enabled: true, model: m, provider: {provider}}}")

    assert found.models[0]["provider"] == provider


def test_a_provider_that_is_none_is_told() -> None:
    found = read("intent_verification: {enabled: true, model: m, provider: antropic}")

    assert found.models[0]["provider"] == "openrouter"
    assert "did you mean 'anthropic'?" in told(found)["quality_gates"]


def test_a_review_by_another_model_is_taken_over() -> None:
    found = read("""\
cross_model:
  enabled: true
  block_on_issues: false
  max_diff_chars: 20000
  max_tokens: 256
  provider: openrouter
  voting_config: {models: [a/x, b/y], quorum: 2}
""")

    assert found.gates["crossModel"] == {
        "enabled": True,
        "onIssues": "Report",
        "maxDiffCharacters": 20000,
        "maxTokens": 256,
        "quorum": 2,
        "reviewers": ["a/x", "b/y"],
    }
    assert [model["name"] for model in found.models] == ["a/x", "b/y"]
    assert found.notes == ()


def test_a_review_by_nobody_is_by_the_usual_model() -> None:
    found = read("cross_model: {enabled: true}")

    assert found.gates["crossModel"] == {"enabled": True}
    assert [model["name"] for model in found.models] == [FLASH]


def test_a_review_that_is_off_brings_no_model() -> None:
    found = read("cross_model: {enabled: false, reviewer_model: a/x, quorum: 1}")

    assert found.gates["crossModel"] == {"enabled": False}
    assert found.models == ()
    assert "its models are not taken over" in told(found)[CROSS]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("{enabled: true, quorum: 3}", f"{CROSS}.quorum"),
        ("{enabled: true, max_tokens: 5}", f"{CROSS}.max_tokens"),
        ("{enabled: true, reviewr_model: x}", f"{CROSS}.reviewr_model"),
        ("{enabled: true, voting_config: 3}", f"{CROSS}.voting_config"),
        ("{enabled: true, voting_config: {weights: 3}}", f"{CROSS}.voting_config.weights"),
        ("maybe", CROSS),
    ],
)
def test_what_of_a_review_cannot_be_taken_over_is_told(text: str, path: str) -> None:
    assert path in told(read(f"cross_model: {text}"))


def test_more_models_than_a_project_has_are_told() -> None:
    names = ", ".join(f"m{n}" for n in range(9))
    found = read(f"cross_model: {{enabled: true, reviewers: [{names}]}}")

    assert len(found.models) == 8
    assert "at most 8 models" in told(found)["quality_gates"]
