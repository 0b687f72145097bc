"""Plans that are delivered by pull requests of a real forge."""

from __future__ import annotations

from tests.e2e.conftest import EXISTS, Object, condition, does, writing
from tests.e2e.forges.conftest import OWNER, MakeTeam, Team

STAGES: list[Object] = [
    {"name": "build", "steps": [{"title": "new", "completionSignals": [EXISTS]}]},
]
NEW = [does("new", writing("new.py", "X = 1\n"))]


def opened(here: Team) -> Object:
    """The Plan, once a person may merge it."""
    return here.await_(
        "plan", "shop", lambda p: p["status"]["delivery"]["state"] == "PullRequestOpen", 180
    )


def delivery(plan: Object, state: str) -> bool:
    return bool(plan["status"]["delivery"]["state"] == state)


def test_a_plan_becomes_one_pull_request_and_succeeds_once_that_is_merged(team: MakeTeam) -> None:
    here = team(NEW)
    before = here.tip()
    here.plan("shop", STAGES)
    plan = opened(here)

    (pull,) = here.pulls()
    told = plan["status"]["delivery"]["pullRequest"]
    assert told.pop("repository")
    assert told == {
        "number": pull["number"],
        "url": pull["html_url"],
        "state": "Open",
        "sha": plan["status"]["delivery"]["sha"],
    }
    assert plan["status"]["phase"] == "Delivering"
    assert plan["status"]["waiting"]["reason"] == "PullRequestOpen"
    assert here.tip() == before, "nobody but a person merges"
    assert pull["title"] == "shop"
    assert "`new`" in pull["body"]

    here.merge(pull["number"])
    plan = here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", 60)
    assert plan["status"]["delivery"]["state"] == "Merged"
    assert "new.py" in here.files()


def test_one_that_is_closed_is_rejected_and_goes_on_once_it_is_open_again(team: MakeTeam) -> None:
    here = team(NEW)
    here.plan("shop", STAGES)
    number = opened(here)["status"]["delivery"]["pullRequest"]["number"]

    here.api("PATCH", f"/pulls/{number}", state="closed")
    plan = here.stalled("plan", "shop", "PullRequestClosed", 60)
    assert delivery(plan, "Rejected")
    assert "Remedy:" in condition(plan, "Stalled")["message"]

    here.api("PATCH", f"/pulls/{number}", state="open")
    opened(here)


def test_a_commit_that_nobody_has_verified_is_noticed(team: MakeTeam) -> None:
    here = team(NEW)
    here.plan("shop", STAGES)
    plan = opened(here)
    number = plan["status"]["delivery"]["pullRequest"]["number"]
    branch = plan["status"]["delivery"]["branch"].removeprefix("refs/heads/")

    sha = here.forge.commit(OWNER, here.repository, "late.py", "Y = 1\n", branch=branch)
    plan = here.stalled("plan", "shop", "PullRequestChanged", 60)
    assert delivery(plan, "Unknown")
    assert sha in condition(plan, "Stalled")["message"]

    here.merge(number)
    plan = here.await_(
        "plan",
        "shop",
        lambda p: p["status"]["delivery"]["pullRequest"]["state"] == "Merged",
        60,
    )
    assert condition(plan, "Stalled")["reason"] == "PullRequestChanged"
    assert delivery(plan, "Unknown")


def test_a_forge_that_is_away_for_a_while_is_told_of_and_nothing_is_lost(team: MakeTeam) -> None:
    here = team(NEW)
    here.plan("shop", STAGES)
    number = opened(here)["status"]["delivery"]["pullRequest"]["number"]

    here.forge.stop()
    try:
        plan = here.stalled("plan", "shop", "ForgeUnreachable", 90)
    finally:
        here.forge.start()
    assert delivery(plan, "PullRequestOpen")

    here.merge(number)
    here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", 120)
    assert [pull["number"] for pull in here.pulls()] == [number]


def test_one_that_cannot_be_opened_yet_is_opened_once_when_the_forge_is_back(
    team: MakeTeam,
) -> None:
    here = team(NEW)
    here.plan("shop", STAGES)
    here.await_("task", "shop-build-new", lambda t: t["status"]["state"] == "Closed", 120)

    here.forge.stop()
    try:
        here.await_("plan", "shop", lambda p: p["status"]["waiting"]["until"], 120)
    finally:
        here.forge.start()
    number = opened(here)["status"]["delivery"]["pullRequest"]["number"]

    here.merge(number)
    here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", 120)
    assert [pull["number"] for pull in here.pulls()] == [number]


def test_a_cancel_closes_it_and_says_why(team: MakeTeam) -> None:
    here = team(NEW)
    here.plan("shop", STAGES)
    told = opened(here)["status"]["delivery"]["pullRequest"]

    here.bernstein("cancel", "plan/shop", "--reason", "not needed, @ann")
    plan = here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Cancelled", 90)
    assert delivery(plan, "Withdrawn")
    assert condition(plan, "Succeeded")["message"].endswith(f"{told['url']} is closed")
    (pull,) = here.pulls()
    assert (pull["state"], pull["merged"]) == ("closed", False)
    (comment,) = here.api("GET", f"/issues/{told['number']}/comments")
    assert "was cancelled" in comment["body"]
    assert "@ann" not in comment["body"]


def test_it_is_cancelled_all_the_same_while_the_forge_is_away(team: MakeTeam) -> None:
    here = team(NEW)
    here.plan("shop", STAGES)
    url = opened(here)["status"]["delivery"]["pullRequest"]["url"]

    here.forge.stop()
    try:
        here.bernstein("cancel", "plan/shop")
        plan = here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Cancelled", 400)
    finally:
        here.forge.start()
    assert f"{url} stays open; it could not be closed: " in condition(plan, "Succeeded")["message"]
    (pull,) = here.pulls()
    assert pull["state"] == "open"


def one_for_each(spec: Object) -> None:
    spec["merge"]["pullRequest"]["per"] = "Task"


def open_task(here: Team, name: str) -> int:
    """The number of its pull request, once a person may merge that."""
    task = here.await_("task", name, lambda t: delivery(t, "PullRequestOpen"), 180)
    return int(task["status"]["delivery"]["pullRequest"]["number"])


def test_each_task_of_a_plan_has_its_own_and_the_next_begins_once_it_is_merged(
    team: MakeTeam,
) -> None:
    tasks = [does("new", writing("new.py", "X = 1\n")), does("use", writing("use.py", "Y = 1\n"))]
    here = team(tasks, one_for_each)
    before = here.tip()
    stages: list[Object] = [*STAGES, {"name": "then", "steps": [{"title": "use"}]}]
    stages[1]["steps"][0]["completionSignals"] = [{"type": "path_exists", "path": "new.py"}]
    here.plan("shop", stages)

    first = open_task(here, "shop-build-new")
    assert here.tip() == before, "nobody but a person merges"
    assert here.get("task", "shop-then-use")["status"]["state"] == "Open"
    here.merge(first)
    here.await_("task", "shop-build-new", lambda t: t["status"]["state"] == "Closed", 60)

    second = open_task(here, "shop-then-use")
    (pull,) = [each for each in here.pulls() if each["number"] == second]
    assert (pull["title"], pull["base"]["ref"]) == ("use", "main")
    here.merge(second)
    plan = here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", 60)
    assert delivery(plan, "Merged")
    assert {"new.py", "use.py"} <= set(here.files())
    assert len(here.pulls()) == 2


def test_a_task_without_a_plan_has_its_own(team: MakeTeam) -> None:
    here = team(NEW)
    here.task("new", completionSignals=[EXISTS])
    here.merge(open_task(here, "new"))
    here.await_("task", "new", lambda t: t["status"]["state"] == "Closed", 60)
    assert "new.py" in here.files()


def test_of_two_plans_both_are_merged_as_they_were_verified_on_what_had_landed(
    team: MakeTeam,
) -> None:
    """They have the same name, in two namespaces, and never meet."""
    here = team(NEW)
    there = team([does("new", writing("use.py", "Y = 1\n"))], repository=here.repository)
    here.api("POST", "/branch_protections", rule_name="main", block_on_outdated_branch=True)
    here.plan("shop", STAGES)
    there.plan("shop", [{"name": "build", "steps": [{"title": "new"}]}])
    (first, branch, _), (second, other, before) = map(proposed, (here, there))
    assert first != second
    assert branch != other

    here.merge(first)
    plan = there.await_(
        "plan",
        "shop",
        lambda p: delivery(p, "PullRequestOpen") and p["status"]["delivery"]["sha"] != before,
        180,
    )
    assert plan["status"]["delivery"].get("earlier") in (None, before)
    assert plan["status"]["delivery"]["tip"] == here.tip(), "it was verified on what had landed"
    there.merge(second)
    for each in (here, there):
        each.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", 60)
    assert {"new.py", "use.py"} <= set(here.files())
    assert [pull["merged"] for pull in here.pulls()] == [True, True]


def proposed(here: Team) -> tuple[int, str, str]:
    """Number, branch and commit of the pull request of its Plan."""
    told = opened(here)["status"]["delivery"]
    return told["pullRequest"]["number"], told["branch"], told["sha"]
