"""Which repositories a plan file names, and what its steps make of them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any
from unittest.mock import Mock, patch

import pytest

from bernstein.api.vocabulary import ROLES
from bernstein.core.plans.expansion import expand
from bernstein.core.plans.validation import validate_file, validate_plan
from tests.unit.core import objects
from tests.unit.core.plans.places.plans import REPOS, STAGES, project

Object = dict[str, Any]
LISTED = [{"path": "api"}, {"path": "https://git.example/web.git", "name": "web"}]


def step(title: str, **more: Any) -> Object:
    return {"title": title, **more}


def problems(*stages: Object, repos: list[Object] | None = None) -> list[str]:
    plan = {"name": "Both", "repos": LISTED if repos is None else repos, "stages": [*stages]}
    return [error.message for error in validate_file(plan).errors]


def stage(name: str, *steps: Object, **more: Any) -> Object:
    return {"name": name, "steps": [*steps], **more}


def test_stages_and_steps_name_entries_of_repos() -> None:
    serve = stage("serve", step("Serve"), repo="api")
    show = stage("show", step("Show", repo="web", depends_on_repo="api"))

    assert problems(serve, show) == []


def test_a_name_that_repos_has_not_is_told_with_what_it_has() -> None:
    assert problems(stage("serve", step("Serve", repo="x"), repo="apy")) == [
        "stages[0].repo: unknown repository 'apy', did you mean 'api'? 'repos' has: api, web",
        "stages[0].steps[0].repo: unknown repository 'x' 'repos' has: api, web",
    ]


def test_no_more_repositories_are_taken_than_a_project_has() -> None:
    repos = [{"path": f"r{number}"} for number in range(17)]

    assert problems(stage("a", step("A")), repos=repos) == ["repos: at most 16, got 17"]


def test_a_plan_without_repos_has_none_to_name() -> None:
    assert problems(stage("serve", step("Serve"), repo="api"), repos=[]) == [
        "stages[0].repo: unknown repository 'api': the plan lists none in 'repos'"
    ]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"path": "x", "name": "api"}, "repos[1].name: Duplicate repository: 'api'"),
        ({"path": "api", "name": "b"}, "repos[1].path: the same repository as that of repos[0]"),
    ],
)
def test_two_entries_of_one_name_or_one_repository_are_refused(
    second: Object, message: str
) -> None:
    assert problems(stage("a", step("A")), repos=[{"path": "api"}, second]) == [message]


@pytest.mark.parametrize(
    ("stages", "circle"),
    [
        (
            [stage("a", step("A", depends_on_repo="api"))],
            "Cycle detected: repository 'api' -> step 'A' -> repository 'api'",
        ),
        (
            [
                stage("a", step("A", depends_on_repo="web"), repo="api", depends_on=[]),
                stage("b", step("B", depends_on_repo="api"), repo="web", depends_on=[]),
            ],
            "Cycle detected: repository 'api' -> step 'A' -> repository 'web' -> step 'B'"
            " -> repository 'api'",
        ),
        (
            [
                stage("a", step("A", depends_on_repo="web")),
                stage("b", step("B", repo="web")),
            ],
            "Cycle detected: a -> step 'A' -> repository 'web' -> step 'B' -> a",
        ),
    ],
)
def test_who_waits_for_a_repository_in_a_circle_is_told(stages: list[Object], circle: str) -> None:
    (message,) = problems(*stages)

    assert message.endswith(circle), message


def test_a_repository_that_the_project_has_not_is_a_problem_of_the_plan() -> None:
    plan = objects.plan(stages=STAGES, repos=[{"path": "api"}, {"path": "wob", "name": "site"}])

    (problem,) = validate_plan(plan.spec, project().spec, ROLES)

    assert "did you mean 'web'?" in problem.message


def test_tasks_are_made_with_their_repository() -> None:
    stages = [STAGES[0], STAGES[1] | {"steps": [{"title": "Show", "dependsOnRepo": "api"}]}]
    plan = objects.plan(begun=False, stages=stages, repos=REPOS)

    specs = [made["spec"] for made in expand(plan, "default", spec=project().spec)]

    assert [(spec["repo"], spec.get("dependsOnRepo")) for spec in specs] == [
        ("api", None),
        ("web", "api"),
    ]


def test_a_repository_without_steps_is_none_to_wait_for() -> None:
    assert problems(stage("a", step("A", depends_on_repo="web"), repo="api")) == [
        "stages[0].steps[0].depends_on_repo: no step works in the repository 'web', so there is "
        "none to wait for"
    ]


def test_blanks_around_a_name_make_no_other_one() -> None:
    stages = [{"name": "show", "repo": " site ", "steps": [{"title": "Show"}]}]
    repos = [{"path": "api"}, {"path": "web", "name": "site "}]
    plan = objects.plan(begun=False, stages=stages, repos=repos)

    (made,) = expand(plan, "default", spec=project().spec)

    assert made["spec"]["repo"] == "web"


def test_names_that_are_none_cost_no_more_than_a_few_guesses() -> None:
    """Each guess compares with all that there are."""
    names = [f"{'ab' * 20}{number}" for number in range(16)]
    steps = [step(f"{number}", repo=f"{'ba' * 20}{number}") for number in range(50)]
    counted = Mock(side_effect=get_close_matches)

    with patch("bernstein.core.plans.places.routes.get_close_matches", counted):
        found = problems(stage("a", *steps), repos=[{"path": name} for name in names])

    assert len(found) == 50
    assert counted.call_count <= 10
