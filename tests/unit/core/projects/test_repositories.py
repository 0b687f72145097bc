"""Which repository of its Project a Plan or a Task works in."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bernstein import urls
from bernstein.api.meta import HTTPS_PATTERN
from bernstein.api.plan import PlanRepository
from bernstein.api.project import Project
from bernstein.api.projects.repository import URL_PATTERN, Repository
from bernstein.core.projects import repositories
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import located
from tests.unit.core import objects


def row(name: str, **more: Any) -> dict[str, Any]:
    account = {a: {"secretName": f"{name}-{a}"} for a in ("read", "work", "deliver")}
    return {"name": name, "url": f"https://git.example/{name}.git", "credentials": account} | more


ROWS = (row("app"), row("web"), row("old", url="https://git.example/app.git", branch="release"))
PROJECT: Project = objects.project(repositories=ROWS).whole


@pytest.mark.parametrize(
    ("said", "branch", "found"),
    [
        (None, None, "app"),
        ("web", None, "web"),
        ("https://git.example/web", None, "web"),
        ("https://git.example/web.git/", "main", "web"),
        ("https://git.example/app.git", "release", "old"),
        ("https://git.example/app.git", "main", "app"),
        ("app", "main", "app"),
        ("https://git.example/app.git", None, None),
        ("app", "release", None),
        ("https://elsewhere.example/app.git", None, None),
        ("ext::sh -c evil", None, None),
        ("Web", None, None),
    ],
)
def test_a_repository_is_named_as_the_project_calls_it_or_by_its_address(
    said: str | None, branch: str | None, found: str | None
) -> None:
    its = repositories.find(PROJECT.spec, said, branch)

    assert (its.name if its is not None else None) == found


def test_who_names_none_is_told_what_there_is_and_what_may_be_meant() -> None:
    assert repositories.unknown(PROJECT.spec, "wep") == (
        "'wep', did you mean 'web'? it has: app, web, old"
    )
    assert repositories.unknown(PROJECT.spec, "zzz") == "'zzz', it has: app, web, old"


def test_no_branch_is_worked_on_that_the_project_does_not_say() -> None:
    text = "'app' with the branch 'production': work in it goes to main, as the Project says"

    assert repositories.unknown(PROJECT.spec, "app", "production") == text


def test_an_address_with_several_branches_needs_one_of_them() -> None:
    text = "'https://git.example/app.git' alone: that is the address of app, old"

    assert repositories.unknown(PROJECT.spec, "https://git.example/app.git") == text


@pytest.mark.parametrize(("branch", "found"), [("main", "app"), ("release", "old")])
def test_a_plan_says_which_branch_of_an_address_it_means(branch: str, found: str) -> None:
    entry = PlanRepository(path="https://git.example/app.git", branch=branch)

    its = repositories.of_entry(entry, PROJECT.spec)

    assert its is not None
    assert its.name == found


def test_a_task_sees_its_repository_alone() -> None:
    its, problem = repositories.place_of_task(objects.task(plan=None, repo="web"), None, PROJECT)

    assert problem is None
    assert its is not None
    assert [each.name for each in its.spec.repositories] == ["web"]
    assert its.spec.repository.name == "web"
    assert its.spec.place == 1
    assert "git-example-app" not in its.model_dump_json()
    assert "app-read" not in its.model_dump_json()


def test_a_task_that_names_none_works_in_the_first_and_one_of_a_plan_where_that_began() -> None:
    found = objects.plan()
    assert found.status.integration is not None
    begun = found.status.integration.model_copy(update={"repository": "web"})
    status = found.status.model_copy(update={"integration": begun})
    plan = found.model_copy(update={"status": status})

    alone = repositories.of_task(objects.task(plan=None), None, PROJECT)
    of_plan = repositories.of_task(objects.task(), plan, PROJECT)

    assert alone is not None
    assert of_plan is not None
    assert (alone.name, of_plan.name) == ("app", "web")


def test_a_task_that_names_an_unknown_one_waits_for_a_person() -> None:
    its, problem = repositories.place_of_task(objects.task(plan=None, repo="wep"), None, PROJECT)

    assert its is None
    assert problem is not None
    assert problem.reason == "RepositoryNotFound"
    assert "did you mean 'web'?" in problem.message


def test_the_same_project_gives_the_same_view() -> None:
    task = objects.task(plan=None, repo="web")
    first, again = (repositories.place_of_task(task, None, PROJECT).project for _ in range(2))

    assert first is again


@pytest.mark.parametrize("url", ["https://[", "https://[::1/x", "https://xn--\u2100/a"])
def test_what_is_no_address_ends_in_no_error(url: str) -> None:
    """Objects that are stored may have one; the pattern takes none any more."""
    one, other = (objects.project(repositories=ROWS).whole.spec.repositories[n] for n in (0, 1))
    strange = Repository.model_validate({**one.dump(), "url": url})

    assert re.search(URL_PATTERN, url) is None
    assert repositories.digest(strange) not in (repositories.digest(one), "")
    assert repositories.digest(other) != repositories.digest(strange)
    assert urls.host_of(url) == ""
    assert urls.is_direct(url, ["example"]) is False
    with pytest.raises(ForgeError, match="does not name an owner"):
        located(url)


@pytest.mark.parametrize(
    "url",
    [
        *("https://git.example/a/b.git", "https://git.example:8443/a/b", "https://[2001:db8::1]/a"),
        *("https://git_1.example", "https://10.0.0.1:3000/t\u00e4st/a%20b.git", "https://h/"),
    ],
)
def test_addresses_that_programs_can_read_are_taken(url: str) -> None:
    assert re.search(URL_PATTERN, url)
    assert re.search(HTTPS_PATTERN, url)
