"""A Project's setup, in the pods of an agent and of a check."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import MakeWorld, Object, does, push, writing

pytestmark = pytest.mark.verification

SCRIPT = """\
set -e
test -n "$CI"
test ! -e /secrets
mkdir made
cp needed.txt made/ready.log
env >made/env.log
"""
"""What is committed as `prepare.sh`: what it makes is ignored."""


def prepared(spec: Object) -> None:
    spec["setup"] = {"command": "sh prepare.sh", "timeoutSeconds": 60}
    spec["gates"] = {"pipeline": []}


def test_agent_and_checks_find_what_it_has_made_and_none_of_it_lands(world: MakeWorld) -> None:
    copies = {"steps": [{"run": "cp made/ready.log copied.txt"}], "text": "done"}
    here = world([does("makes", copies)], prepared)
    push(here, "needed.txt", "here\n")
    push(here, "prepare.sh", SCRIPT)
    ready = {"type": "test_passes", "command": "grep -q here made/ready.log"}

    here.task("makes", completionSignals=[ready])
    task = here.closed("makes", 180)

    assert [a["reason"] for a in task["status"]["attempts"]] == ["Succeeded"]
    assert here.on_server("show", "main:copied.txt") == "here\n"
    assert not [name for name in here.files() if name.startswith("made")]


def test_one_that_is_wrong_costs_no_attempt_and_says_what_it_printed(world: MakeWorld) -> None:
    def wrong(spec: Object) -> None:
        spec["setup"] = {"command": "echo no such thing >&2; exit 3"}

    here = world([does("waits", writing("new.py", "X = 1\n"))], wrong)
    here.task("waits")

    task = here.await_(
        "task", "waits", lambda t: "SetupFailed" in str(t["status"].get("waiting", {})), 180
    )

    assert not [a for a in task["status"].get("attempts", ()) if a["counted"]]
    outcome = here.get("agentsession", "waits-s1")["status"]["outcome"]
    assert (outcome["reason"], outcome["started"]) == ("SetupFailed", False)
    first, printed = outcome["message"].splitlines()
    assert first == "the Project's setup ended with exit code 3:"
    assert "no such thing" in printed
