"""A Plan in two repositories of a real forge: a pull request in each, and one end."""

from __future__ import annotations

import uuid
from typing import Any

from tests.e2e.conftest import EXISTS, Object, condition, does, writing
from tests.e2e.forges.conftest import OWNER, MakeTeam, Team, repository_of_all
from tests.gitea import Gitea

SITE = "site"
PAGE = {"type": "path_exists", "path": "page.md"}
WORK = [does("new", writing("new.py", "X = 1\n")), does("show", writing("page.md", "X is 1\n"))]
STAGES: list[Object] = [
    {"name": "build", "steps": [{"title": "new", "completionSignals": [EXISTS]}]},
    {
        "name": "tell",
        "dependsOn": [],
        "repo": SITE,
        "steps": [{"title": "show", "dependsOnRepo": "app", "completionSignals": [PAGE]}],
    },
]


def in_two(forge: Gitea, team: MakeTeam) -> tuple[Team, str]:
    """A team with two repositories whose Plan has begun, and the second one's name on the forge."""
    name = f"{SITE}-{uuid.uuid4().hex[:8]}"
    url = repository_of_all(forge, name)

    def listed(spec: Any) -> None:
        (first,) = spec["repositories"]
        spec["repositories"].append({**first, "name": SITE, "url": url})

    here = team(WORK, listed)
    first = here.project["spec"]["repositories"][0]["name"]
    here.plan("shop", STAGES, repos=[{"path": first, "name": "app"}, {"path": SITE}])
    return here, name


def row(plan: Object, index: int) -> Any:
    return plan["status"]["repositories"][index].get("delivery", {})


def both_open(here: Team) -> Object:
    def holds(plan: Object) -> bool:
        rows = plan["status"].get("repositories", ())
        states = [each.get("delivery", {}).get("state") for each in rows]
        return states == ["PullRequestOpen"] * 2

    return here.await_("plan", "shop", holds, 240)


def files(forge: Gitea, name: str) -> set[str]:
    listed = forge.api("GET", f"/repos/{OWNER}/{name}/contents?ref=main", user=OWNER)
    return {each["path"] for each in listed}


def test_it_becomes_two_merged_requests(team: MakeTeam, forge: Gitea) -> None:
    here, site = in_two(forge, team)
    plan = both_open(here)

    (first,) = here.pulls()
    (second,) = forge.api("GET", f"/repos/{OWNER}/{site}/pulls?state=all", user=OWNER)
    assert "`new`" in first["body"]
    assert "`show`" not in first["body"]
    assert "`show`" in second["body"]
    assert [row(plan, n)["pullRequest"]["url"] for n in (0, 1)] == [
        first["html_url"],
        second["html_url"],
    ]

    here.merge(first["number"])
    plan = here.await_("plan", "shop", lambda p: row(p, 0)["state"] == "Merged", 60)
    assert plan["status"]["phase"] == "Delivering"
    told = here.bernstein("status", "shop").out
    assert f"site: pull request {second['number']}, open" in told, told

    forge.merge(OWNER, site, second["number"])
    plan = here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", 60)
    assert [row(plan, n)["state"] for n in (0, 1)] == ["Merged", "Merged"]
    assert "new.py" in files(forge, here.repository)
    assert "new.py" not in files(forge, site)
    assert "page.md" in files(forge, site)


def test_one_that_people_close_is_named_and_the_other_one_is_merged(
    team: MakeTeam, forge: Gitea
) -> None:
    here, site = in_two(forge, team)
    plan = both_open(here)
    numbers = [row(plan, n)["pullRequest"]["number"] for n in (0, 1)]

    close = f"/repos/{OWNER}/{site}/pulls/{numbers[1]}"
    forge.api("PATCH", close, user=OWNER, state="closed")
    plan = here.stalled("plan", "shop", "PullRequestClosed", 60)
    assert condition(plan, "Stalled")["message"].startswith("repository 'site': ")

    here.merge(numbers[0])
    plan = here.await_("plan", "shop", lambda p: row(p, 0)["state"] == "Merged", 60)
    assert row(plan, 1)["state"] == "Rejected"
    assert condition(plan, "Stalled")["reason"] == "PullRequestClosed"
