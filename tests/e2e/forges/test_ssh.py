"""Repositories that are reached by SSH. What containers can read of their keys is in
`inside/test_every_pod.py`."""

from __future__ import annotations

from tests.e2e.conftest import EXISTS, Object, condition, does, writing
from tests.e2e.forges.conftest import MakeTeam

STAGES: list[Object] = [
    {"name": "build", "steps": [{"title": "new", "completionSignals": [EXISTS]}]}
]


def test_a_plan_is_delivered_over_ssh_and_a_key_that_is_too_strong_is_told(team: MakeTeam) -> None:
    here = team([does("new", writing("new.py", "X = 1\n"))], ssh=True)
    here.plan("shop", STAGES)
    plan = here.await_(
        "plan", "shop", lambda p: p["status"]["delivery"]["state"] == "PullRequestOpen", 240
    )
    here.merge(plan["status"]["delivery"]["pullRequest"]["number"])
    here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", 90)
    assert "new.py" in here.files()

    project = here.all("projects")[0]
    strong = condition(project, "WorkCredentialTooStrong")
    assert strong["reason"] == "MayPush", "nothing protects the branch"
