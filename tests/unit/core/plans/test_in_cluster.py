"""What only a cluster can say of a plan: whether its Project has what it asks for."""

from __future__ import annotations

from typing import Any

from bernstein.api.project import ProjectSpec
from bernstein.api.vocabulary import ROLES
from bernstein.core.plans import file as plan_file
from bernstein.core.plans.validation import validate_plan
from tests.unit.core.plans.plan_files import (
    RATE_LIMIT,
    ROLE_LIST,
    S,
    errors,
    plan,
    spec_of,
    stage,
    with_step,
)

PROJECT = ProjectSpec.model_validate(
    {
        "repositories": [
            {
                "name": "main",
                "url": "https://git.example.org/x.git",
                "credentials": {
                    "read": {"secretName": "r"},
                    "work": {"secretName": "w"},
                    "deliver": {"secretName": "d"},
                },
            }
        ],
        "agents": [
            {"name": "codex", "adapter": "codex", "image": "codex"},
            {"name": "demo", "adapter": "demo", "image": "demo"},
        ],
        "toolchain": {"image": "toolchain"},
        "merge": {"strategy": "direct"},
        "limits": {"maxAgents": 3},
    }
)


def in_cluster(data: dict[str, Any], project: ProjectSpec | None = PROJECT) -> list[str]:
    return [problem.message for problem in validate_plan(spec_of(data), project, ROLES)]


def test_the_documented_example_is_valid_in_a_cluster() -> None:
    data = plan_file.parse(RATE_LIMIT)
    assert isinstance(data, dict)

    assert in_cluster(data | {"max_agents": 3}) == []


def test_an_unknown_role_is_an_error_in_the_cluster() -> None:
    data = with_step(role="gardener")

    assert in_cluster(data) == [f"{S}.role: invalid value 'gardener', must be one of {ROLE_LIST}"]
    assert validate_plan(spec_of(data), PROJECT, {*ROLES, "gardener"}) == ()


def test_an_agent_that_the_project_does_not_offer_is_an_error() -> None:
    data = with_step(cli="claude") | {"cli": "gemini"}

    assert in_cluster(data) == [
        "cli: invalid value 'gemini', must be one of [auto, codex, demo]",
        f"{S}.cli: invalid value 'claude', must be one of [auto, codex, demo]",
    ]
    assert in_cluster(with_step(cli="demo") | {"cli": "auto"}) == []


def test_which_agent_may_have_been_meant_is_said() -> None:
    (problem,) = in_cluster(with_step(cli="codx"))

    assert problem.endswith("must be one of [auto, codex, demo], did you mean 'codex'?")


def test_an_agent_may_be_named_by_its_adapter_where_it_is_the_only_one() -> None:
    called = {"name": "fast", "adapter": "demo", "image": "demo"}
    one = PROJECT.model_validate(PROJECT.dump() | {"agents": [called]})
    two = PROJECT.model_validate(PROJECT.dump() | {"agents": [called, called | {"name": "slow"}]})

    assert in_cluster(with_step(cli="demo"), one) == []
    assert in_cluster(with_step(cli="demo"), two) == [
        f"{S}.cli: 'demo' is the adapter of several agents, must be one of [fast, slow]"
    ]


def test_a_model_that_nobody_knows_is_an_error_that_lists_the_known_ones() -> None:
    (problem,) = in_cluster(with_step(model="sonet"))

    assert problem.startswith(f"{S}.model: invalid value 'sonet', must be one of [auto, opus")
    assert problem.endswith(", did you mean 'sonnet'?")
    assert in_cluster(with_step(model="claude-sonnet-4-5")) == []
    assert in_cluster(with_step(model="sonet"), None) == [], "whose Project is not known yet"


def test_more_agents_than_the_project_allows_is_an_error() -> None:
    assert in_cluster(plan(max_agents=4)) == [
        "max_agents: must be <= 3, the limit of the Project, got 4"
    ]
    assert in_cluster(plan(max_agents=4), project=None) == []


def test_a_pull_request_needs_a_forge_and_a_plan_cannot_ask_for_less() -> None:
    (repository,) = PROJECT.dump()["repositories"]
    forge = {"type": "gitea", "token": {"name": "forge", "key": "token"}}
    on_a_forge = PROJECT.dump() | {"repositories": [repository | {"forge": forge}]}

    assert in_cluster(plan(merge="pr"), PROJECT.model_validate(on_a_forge)) == []
    assert in_cluster(plan(merge="pr"), project=None) == []
    assert in_cluster(plan(merge="pr")) == ["merge: pr: the Project's repository has no 'forge'"]
    assert errors(plan(merge="direct")) == ["merge: invalid value 'direct', must be one of [pr]"]


def test_the_cluster_finds_what_spans_the_plan_in_the_same_words() -> None:
    data = plan(
        stages=[
            stage("a", depends_on=["b"]),
            stage("b"),
            stage("c", depends_on=["z"]) | {"steps": [{"title": "Work of a"}]},
        ]
    )

    assert in_cluster(data) == errors(data)
    assert in_cluster(data) == [
        "Duplicate task title: 'Work of a'",
        "Stage 'c' depends on unknown stage 'z'",
        "Cycle detected: a -> b -> a",
    ]
