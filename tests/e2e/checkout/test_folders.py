"""Of a repository an agent gets some folders alone, in a real pod; what is elsewhere stays."""

from __future__ import annotations

import json

from tests.e2e.conftest import EXISTS, MakeWorld, Object, does

LOOKS = 'seen=$(git status --porcelain; git log --format=%s -1; ls -d b); echo "$seen" > a/seen'


def writes(*paths: str) -> Object:
    steps = [{"write": {"path": path, "content": "x = 1\n"}} for path in paths]
    return {"steps": steps, "text": "done"}


def test_an_agent_works_in_its_folders_and_the_others_stay_as_they_were(world: MakeWorld) -> None:
    looks = {"steps": [{"run": LOOKS}, *writes("a/more.py")["steps"]], "text": "done"}
    here = world([does("first", writes("a/one.py", "b/two.py")), does("second", looks)])
    here.task("first", completionSignals=[{**EXISTS, "path": "b/two.py"}])
    here.closed("first")
    told = here.on_server("log", "--format=%s", "-1", "main")

    name = here.project["metadata"]["name"]
    folders = [{"op": "add", "path": "/spec/repositories/0/checkout", "value": {"folders": ["a"]}}]
    here.kubectl("patch", "project", name, "--type=json", "-p", json.dumps(folders))
    here.task("second", completionSignals=[{**EXISTS, "path": "a/more.py"}])
    here.closed("second")

    assert here.on_server("show", "main:a/seen") == told, "git knows its commit, and no change"
    assert {"a/one.py", "b/two.py", "a/more.py"} <= set(here.files())
