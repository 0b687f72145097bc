"""An agent plans a goal, in real pods: a Plan is made of its plan file, and runs once approved."""

from __future__ import annotations

from tests.e2e.conftest import MakeWorld, Object, does, writing

GOAL = "Let others import a value"
PLAN = """\
name: One value
stages:
  - name: write
    steps:
      - title: write the value
        role: backend
        model: haiku
        files: [new.py]
        completion_signals: [{type: path_exists, path: new.py}]
"""
BAD = PLAN.replace("backend", "wizard").replace("haiku", "unheard-of")


def leaves(text: str) -> Object:
    """Nothing but a plan file."""
    return {"steps": [{"write": {"path": ".bernstein/plan.yaml", "content": text}}]}


def test_a_goal_becomes_a_plan_of_which_nothing_begins_before_people_have_approved_it(
    world: MakeWorld,
) -> None:
    here = world(
        [
            does(f"Plan: {GOAL}", leaves(BAD), leaves(PLAN)),
            does("write the value", writing("new.py", "X = 1\n")),
        ]
    )
    told = here.bernstein("run", "--goal", GOAL, "--timeout", "4m", "--json")
    assert told.code == 0, told.err + told.out
    task, name = here.get("task", told.json["task"]["id"]), told.json["plan"]["id"]

    refused, accepted = task["status"]["attempts"]
    assert (refused["reason"], accepted["reason"]) == ("PlanFileInvalid", "Succeeded")
    prompt = here.get("configmap", f"{task['metadata']['name']}-s2-prompt")
    assert "stages[0].steps[0].role: invalid value 'wizard'" in prompt["data"]["findings.md"]
    assert "stages[0].steps[0].model: invalid value 'unheard-of'" in prompt["data"]["findings.md"]
    assert task["status"]["produced"] == {"plan": name}
    asked = here.await_("plan", name, lambda p: p["status"]["approval"]["name"])
    assert asked["spec"]["stages"][0]["steps"][0]["model"] == "haiku"
    assert {each["spec"]["taskRef"]["name"] for each in here.all("agentsessions")} == {
        task["metadata"]["name"]
    }

    approved = here.bernstein("approve", name)
    assert approved.code == 0, approved.err
    here.await_("plan", name, lambda p: p["status"]["phase"] == "Succeeded", seconds=300)
    assert "new.py" in here.files()
    assert not [path for path in here.files() if path.startswith(".bernstein")]
