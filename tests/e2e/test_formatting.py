"""Work is formatted by real formatters in real pods before it is judged."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import MakeWorld, Object, does, writing
from tests.unit.checks import examples

pytestmark = pytest.mark.verification

EXAMPLE = examples.of_gate("auto_format")
UGLY, UNREADABLE = (str(tree.after["a.py"]) for tree in (EXAMPLE.accept, EXAMPLE.reject))


def formats(spec: Object) -> None:
    spec["gates"] = {"extends": "Default", "pipeline": [{"name": "auto_format"}]}


def test_what_was_formatted_lands_as_one_commit_on_the_base(world: MakeWorld) -> None:
    here = world([does("ugly", writing("new.py", UGLY))], formats)
    before = here.tip()
    here.task("ugly")

    task = here.closed("ugly", 180)

    judged = task["status"]["verification"]
    verdicts = {c["name"]: c for c in judged["checks"]}
    assert verdicts["auto_format"]["verdict"] == "Passed"
    assert "1 file formatted" in verdicts["auto_format"]["excerpt"]
    assert 'x = {"a": 1}' in here.on_server("show", "main:new.py")
    assert (here.tip("main^"), here.tip()) == (before, judged["sha"])
    work = judged["formatting"]["work"]["sha"]
    assert f"Bernstein-Formatted-From: {work}" in here.on_server("show", "-s", "main")
    assert UGLY.strip() in here.on_server("show", f"{work}:new.py")


def test_what_no_formatter_can_read_is_judged_as_it_is(world: MakeWorld) -> None:
    here = world([does("broken", writing("new.py", UNREADABLE))], formats)
    here.task("broken", maxRetries=0)

    task = here.stalled("task", "broken", "GateFailed", 180)

    found = {c["name"]: c for c in task["status"]["verification"]["checks"]}["auto_format"]
    assert (found["verdict"], found["reason"]) == ("Failed", "ExitCode")


def test_a_command_that_changes_more_changes_nothing(world: MakeWorld) -> None:
    """It also tells what it could have taken: no credential and no token are where it runs."""
    look = "ls -R /secrets /var/run/secrets /base /collected 2>&1"
    command = f"{look}; echo 'x = 1' >new.py; echo '# more' >>app.py"

    def more(spec: Object) -> None:
        formats(spec)
        spec["gates"]["pipeline"][0]["command"] = command

    here = world([does("sly", writing("new.py", UGLY.replace("'", '"')))], more)
    here.task("sly")

    task = here.closed("sly", 180)

    found = {c["name"]: c for c in task["status"]["verification"]["checks"]}["auto_format"]
    assert (found["verdict"], found["reason"]) == ("Failed", "FormatRefused")
    assert "app.py" in found["excerpt"]
    assert found["excerpt"].count("No such file or directory") == 4
    assert "# more" not in here.on_server("show", "main:app.py")
