"""Refs of a Plan that has ended are deleted on the git server, and those of one at work are not."""

from __future__ import annotations

from bernstein.core import labels, names
from tests.e2e.conftest import MakeWorld, Object, World, does, writing

SECONDS = 45
"""For which refs are kept; enough to see them once the Plan has ended."""
ENOUGH = 240


def keeps_refs(spec: Object) -> None:
    spec["retention"] = {**spec.get("retention", {}), "refsSeconds": SECONDS, "podsSeconds": 600}


def refs_of(here: World, plan: Object) -> dict[str, str]:
    """What the git server has of the Plan and its Tasks, by ref."""
    folder = names.refs_of(plan["metadata"]["uid"])
    told = here.on_server("for-each-ref", "--format=%(refname) %(objectname)", f"{folder}/")
    return dict(row.split() for row in told.splitlines())


def step(title: str) -> Object:
    path = {"type": "path_exists", "path": f"{title}.py"}
    return {"title": title, "completionSignals": [path]}


def deleted(project: Object) -> int:
    return sum(row.get("deleted", 0) for row in project["status"].get("refs", ()))


def prune_jobs(here: World) -> list[Object]:
    return [j for j in here.all("job") if j["metadata"]["labels"].get(labels.JOB) == "prune"]


def test_refs_of_a_plan_that_has_ended_go_and_those_of_one_at_work_stay(world: MakeWorld) -> None:
    hangs = writing("long.py", "X = 1\n")
    hangs["steps"].append({"sleep": 600})
    scripts = [does(name, writing(f"{name}.py", "X = 1\n")) for name in ("quick", "early")]
    here = world([*scripts, does("long", hangs)], keeps_refs)
    here.plan("lives", [{"name": name, "steps": [step(name)]} for name in ("early", "long")])
    here.plan("ends", [{"name": "build", "steps": [step("quick")]}])
    ended = here.await_("plan", "ends", lambda p: p["status"]["phase"] == "Succeeded", ENOUGH)
    lives = here.await_("plan", "lives", lambda p: p["status"]["counts"]["closed"] == 1, ENOUGH)
    before, kept, tip = refs_of(here, ended), refs_of(here, lives), here.tip()
    assert before
    assert kept

    done = here.await_("project", "default", lambda p: deleted(p) >= len(before), ENOUGH)

    assert refs_of(here, ended) == {}
    assert kept.items() <= refs_of(here, lives).items(), "its agent may have pushed meanwhile"
    assert here.tip() == tip
    (row,) = done["status"]["refs"]
    assert (row["deleted"], row.get("left", 0)) == (len(before), 0)
    assert here.get("plan", "lives")["status"]["phase"] == "Running"
    (job,) = prune_jobs(here)
    held = [
        v["secret"]["secretName"]
        for v in job["spec"]["template"]["spec"]["volumes"]
        if "secret" in v
    ]
    assert held == ["git-work"]
