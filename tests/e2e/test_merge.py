"""Work that lands after other work: verified on it, refused because of it, or in conflict with it.

Every story has a repository of its own; they go on side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import pytest

from tests.e2e.conftest import MakeWorld, Object, World, condition, does, push, state

LINES = "one\ntwo\nthree\nfour\n"
ENOUGH = 300
SHOWS = {"type": "test_passes", "command": "cat lines.txt; test $(wc -l <lines.txt) = 4"}
NOT_BOTH = {
    "type": "test_passes",
    "command": "! grep -q ONE lines.txt || ! grep -q THREE lines.txt",
}


def replacing(old: str, new: str, *, after: str = "sleep 2") -> Object:
    """An attempt that changes one line, after this command."""
    change = {"path": "lines.txt", "old": old, "new": new}
    return {"steps": [{"run": after}, {"replace": change}], "text": "done"}


@dataclass(frozen=True)
class Story:
    here: World
    before: str
    """Tip of the branch when the work began."""
    by_hand: str = ""
    """What a person pushed while the agent was at work."""

    def tasks(self) -> list[Object]:
        """Those that landed, in that order."""
        landed = {moment: t for t in self.here.all("tasks") if (moment := landed_at(t))}
        return [landed[moment] for moment in sorted(landed)]

    def plan(self, phase: str) -> Object:
        def reached(plan: Object) -> bool:
            return bool(plan["status"].get("phase") == phase)

        return self.here.await_("plan", "plan", reached, ENOUGH)


def landed_at(task: Object) -> datetime | None:
    moment = task["status"].get("delivery", {}).get("landedAt")
    return datetime.fromisoformat(moment) if moment else None


@dataclass(frozen=True)
class Stories:
    neighbours: Story
    refused: Story
    conflict: Story
    moved: Story
    moved_in_conflict: Story
    alone: Story


@pytest.fixture(scope="module")
def stories(shared_world: MakeWorld) -> Stories:
    """Everything applied; a person has pushed to the branches of the last three."""

    def begin(*agents: Object, signal: Object = SHOWS, plan: bool = True) -> Story:
        here = shared_world([*agents])
        before = push(here, "lines.txt", LINES)
        titles = [agent["title"] for agent in agents]
        steps = [{"title": t, "completionSignals": [signal]} for t in titles]
        if plan:
            here.plan("plan", [{"name": "only", "steps": steps}])
        else:
            here.task(titles[0], completionSignals=[signal])
        return Story(here, before)

    def interfere(story: Story, path: str, content: str) -> Story:
        """Push while the agent is at work, and let it go on then."""

        def at_work(obj: Object) -> bool:
            return state(obj) == "InProgress"

        name = "left" if story is alone else "plan-only-left"
        story.here.await_("task", name, at_work, ENOUGH)
        by_hand = push(story.here, path, content)
        story.here.kubectl("exec", f"job/{name}-s1", "-c", "agent", "--", "touch", "/tmp/go")
        return Story(story.here, story.before, by_hand)

    left, right = replacing("one", "ONE"), replacing("three", "THREE")
    late = replacing("one", "ONE", after="until [ -e /tmp/go ]; do sleep 0.2; done")
    alone = begin(does("left", late), plan=False)
    moved = begin(does("left", late))
    moved_in_conflict = begin(does("left", late))
    neighbours = begin(does("left", left), does("right", right))
    other = {"steps": [{"write": {"path": "{task}.txt", "content": "x\n"}}], "text": "done"}
    refused = begin(does("left", left, other), does("right", right, other), signal=NOT_BOTH)
    conflict = begin(
        does("left", left, replacing("EINS", "ONE, EINS")),
        does("right", replacing("one", "EINS"), replacing("ONE", "ONE, EINS")),
    )
    return Stories(
        neighbours,
        refused,
        conflict,
        moved=interfere(moved, "by-hand.txt", "by hand\n"),
        moved_in_conflict=interfere(moved_in_conflict, "lines.txt", LINES.replace("one", "1")),
        alone=interfere(alone, "by-hand.txt", "by hand\n"),
    )


def test_neighbours_land_one_after_the_other_and_the_second_is_verified_on_the_first(
    stories: Stories,
) -> None:
    story = stories.neighbours
    plan = story.plan("Succeeded")
    first, second = story.tasks()
    landed = first["status"]["delivery"]["sha"]
    judged = second["status"]["verification"]
    assert judged["candidate"]
    assert judged["base"] == landed
    assert judged["sha"] == second["status"]["delivery"]["sha"]
    assert [c["verdict"] for c in judged["checks"]] == ["Passed"]
    job = f"job/{second['status']['session']}-signal-0-{judged['round']}"
    seen = story.here.kubectl("logs", job, "-c", "check")
    assert seen == "ONE\ntwo\nTHREE\nfour\n"
    assert [t["status"]["attempt"] for t in (first, second)] == [1, 1]
    history = story.here.on_server("log", "--format=%H", "main").split()
    assert history[:3] == [judged["sha"], landed, story.before]
    assert plan["status"]["delivery"]["sha"] == judged["sha"]


def test_work_that_fails_together_with_what_landed_before_it_is_done_again(
    stories: Stories,
) -> None:
    story = stories.refused
    story.plan("Succeeded")
    first, second = story.tasks()
    assert first["status"]["attempt"] == 1
    ends = [(a["reason"], a["counted"]) for a in second["status"]["attempts"]]
    assert ends == [("SignalFailed", True), ("Succeeded", True)]
    again = story.here.get("agentsession", second["status"]["session"])
    assert again["status"]["work"]["base"] == first["status"]["delivery"]["sha"]
    files = story.here.files()
    assert f"{second['spec']['title']}.txt" in files
    lines = story.here.on_server("show", "main:lines.txt")
    assert ("ONE" in lines) != ("THREE" in lines)


def test_work_that_conflicts_is_done_once_more_on_what_landed_and_told_of_both_sides(
    stories: Stories,
) -> None:
    story = stories.conflict
    story.plan("Succeeded")
    first, second = story.tasks()
    ends = [(a["reason"], a["counted"]) for a in second["status"]["attempts"]]
    assert ends == [("MergeConflict", True), ("Succeeded", True)]
    assert "lines.txt" in second["status"]["attempts"][0]["message"]
    again = story.here.get("agentsession", second["status"]["session"])
    assert again["status"]["work"]["base"] == first["status"]["delivery"]["sha"]
    told = story.here.get("configmap", f"{second['status']['session']}-prompt")
    prompt = told["data"]["findings.md"]
    assert "> lines.txt:\n> <<<<<<< " in prompt
    assert {"> ONE", "> =======", "> EINS"} <= set(prompt.splitlines())
    assert story.here.on_server("show", "main:lines.txt").startswith("ONE, EINS\n")


def test_a_branch_that_moved_meanwhile_gets_a_merge_that_was_verified(stories: Stories) -> None:
    story = stories.moved
    plan = story.plan("Succeeded")
    (task,) = story.tasks()
    tip = story.here.tip()
    parents = story.here.on_server("rev-parse", "main^@").split()
    assert parents == [story.by_hand, task["status"]["delivery"]["sha"]]
    judged = plan["status"]["verification"]
    assert (judged["base"], judged["sha"], judged["passed"]) == (story.by_hand, tip, True)
    assert story.here.on_server("rev-parse", "main^{tree}").strip() == judged["tree"]
    assert plan["status"]["delivery"]["sha"] == tip
    seen = story.here.kubectl("logs", f"job/plan-signal-0-{judged['round']}", "-c", "check")
    assert seen == LINES.replace("one", "ONE")
    assert "by-hand.txt" in story.here.files()


def test_a_change_by_hand_that_conflicts_stops_the_plan_and_stays(stories: Stories) -> None:
    story = stories.moved_in_conflict
    plan = story.plan("Stalled")
    stalled = condition(plan, "Stalled")
    assert stalled["reason"] == "MergeConflict"
    assert "lines.txt" in stalled["message"]
    assert plan["status"]["delivery"]["state"] == "Conflict"
    assert story.here.tip() == story.by_hand


def test_a_task_without_a_plan_lands_on_top_of_a_change_by_hand(stories: Stories) -> None:
    story = stories.alone
    task = story.here.closed("left", ENOUGH)
    judged = task["status"]["verification"]
    assert judged["candidate"]
    assert judged["base"] == story.by_hand
    assert story.here.tip() == judged["sha"] == task["status"]["delivery"]["sha"]
    assert story.here.tip("main^") == story.by_hand


def test_two_plans_of_one_name_on_one_repository_both_land_and_never_meet(world: MakeWorld) -> None:
    """In two namespaces: their Tasks, sessions and Jobs have the same names, too. Neither agent
    ends before both work, so that both Plans begin at the same commit."""
    both = [
        world([does("work", change)])
        for change in (
            replacing("one", "ONE", after="until [ -e /tmp/go ]; do sleep 0.2; done"),
            replacing("three", "THREE", after="until [ -e /tmp/go ]; do sleep 0.2; done"),
        )
    ]
    first = both[0]
    before = push(first, "lines.txt", LINES)
    for here in both:
        here.repository = first.repository
        project = {"metadata": {"name": "default"}, "spec": {**here.project["spec"]}}
        (repository,) = project["spec"]["repositories"]
        project["spec"]["repositories"] = [{**repository, "url": here.server.url(here.repository)}]
        here.apply({**here.project, **project})
        step = {"title": "work", "completionSignals": [SHOWS]}
        here.plan("plan", [{"name": "only", "steps": [step]}])
    for here in both:
        here.await_("task", "plan-only-work", lambda t: state(t) == "InProgress", ENOUGH)
    for here in both:
        here.kubectl("exec", "job/plan-only-work-s1", "-c", "agent", "--", "touch", "/tmp/go")

    plans = [Story(here, before).plan("Succeeded") for here in both]

    history = first.on_server("log", "--first-parent", "--format=%H", "main").split()
    plans.sort(key=lambda plan: history.index(plan["status"]["delivery"]["sha"]), reverse=True)
    earlier, later = (plan["status"] for plan in plans)
    assert history[0] == later["delivery"]["sha"] == first.tip()
    assert earlier["delivery"]["sha"] in history
    judged = later["verification"]
    assert (judged["base"], judged["sha"]) == (earlier["delivery"]["sha"], history[0])
    assert judged["passed"]
    assert first.on_server("rev-parse", "main^{tree}").strip() == judged["tree"]
    assert first.on_server("show", "main:lines.txt") == "ONE\ntwo\nTHREE\nfour\n"
    namespace = next(p["metadata"]["namespace"] for p in plans if p["status"] is later)
    seen = first.stack.kubectl(
        *("-n", namespace, "logs", f"job/plan-signal-0-{judged['round']}", "-c", "check")
    )
    assert seen == "ONE\ntwo\nTHREE\nfour\n"
    refs = first.on_server("for-each-ref", "--format=%(refname)", "refs/bernstein").split()
    owners = {plan["metadata"]["uid"][:8] for plan in plans}
    assert {ref.split("/")[2][:8] for ref in refs} >= owners
    sessions = [ref for ref in refs if ref.endswith("/s1")]
    assert len(sessions) == len({first.tip(ref) for ref in sessions}) == 2
