"""Somebody pushes to the branch of a Plan's pull request, on a real forge."""

from __future__ import annotations

from tests.e2e.conftest import Object, condition
from tests.e2e.forges.conftest import OWNER, MakeTeam, Team
from tests.e2e.forges.test_pull_requests import NEW, STAGES, delivery, opened


def verifies(spec: Object) -> None:
    spec["merge"]["pullRequest"]["onNewCommits"] = "Verify"


def goes_on_with(here: Team, sha: str) -> Object:
    return here.await_(
        "plan",
        "shop",
        lambda p: delivery(p, "PullRequestOpen") and p["status"]["delivery"]["sha"] == sha,
        180,
    )


def test_what_people_push_is_verified_and_what_does_not_pass_is_not_delivered(
    team: MakeTeam,
) -> None:
    here = team(NEW, verifies)
    here.plan("shop", STAGES)
    plan = opened(here)
    number = plan["status"]["delivery"]["pullRequest"]["number"]
    branch = plan["status"]["delivery"]["branch"].removeprefix("refs/heads/")

    theirs = here.forge.commit(OWNER, here.repository, "late.py", "Y = 1\n", branch=branch)
    plan = goes_on_with(here, theirs)
    assert plan["status"]["verification"]["sha"] == theirs
    assert plan["status"]["delivery"]["pushed"]["holds"] is True
    assert "It holds commits that people have pushed." in here.pulls()[0]["body"]

    blob = here.api("GET", f"/contents/new.py?ref={branch}")["sha"]
    here.api("DELETE", "/contents/new.py", branch=branch, sha=blob, message="Not needed")
    plan = here.stalled("plan", "shop", "PullRequestChanged", 180)
    assert plan["status"]["delivery"]["sha"] == theirs
    here.await_("plan", "shop", lambda p: "refused" in p["status"]["delivery"]["pushed"], 180)
    plan = here.stalled("plan", "shop", "PullRequestChanged", 60)
    assert "which does not pass: " in condition(plan, "Stalled")["message"]

    back = here.forge.commit(OWNER, here.repository, "new.py", "X = 1\n", branch=branch)
    goes_on_with(here, back)
    here.merge(number)
    plan = here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", 60)
    assert delivery(plan, "Merged")
    assert {"new.py", "late.py"} <= set(here.files())
    assert [pull["number"] for pull in here.pulls()] == [number]
