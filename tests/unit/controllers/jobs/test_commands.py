"""What the kubelet makes of the commands in our pods: it knows variables of its own."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bernstein.api.encoding import load
from bernstein.api.programs.merge import PrepareConfig
from bernstein.core.actions import RunCheck, RunPrepare
from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.built import Object, configuration, environment
from tests.unit.core import objects
from tests.unit.core.objects import BASE, HEAD

DOLLARS = pytest.mark.parametrize(
    "text",
    [
        "echo $HOME $1 ${HOME} cost: 5$",
        "kill $$",
        "echo $(HOME) $(date) $(",
        "echo $$(HOME) $$$ $$$(HOME) $$$$",
        "\\$$ '$$HOME' \"$$(pwd)\"",
    ],
)


@DOLLARS
def test_a_check_runs_the_command_that_was_written(text: str) -> None:
    wanted = RunCheck("j", replace(built.LINT, command=text), built.REF, HEAD, BASE)
    job = built.follow_up(wanted, built.TASK, built.PLAIN, built.PLAIN_SETTINGS)
    (container,) = job["spec"]["template"]["spec"]["containers"]

    assert [expanded(word, container) for word in container["command"]] == ["sh", "-c", text]


@DOLLARS
def test_an_agent_runs_the_command_that_was_written(text: str) -> None:
    agents = [{"name": "demo", "adapter": "generic", "image": "a:1", "command": ["cli", text]}]
    project = objects.project(agents=agents)
    (container,) = built.agent_job(project, built.PLAIN_SETTINGS)["spec"]["template"]["spec"][
        "containers"
    ]

    assert [expanded(word, container) for word in container["command"]][-2:] == ["cli", text]


@DOLLARS
def test_a_program_of_ours_is_configured_with_the_text_that_was_written(text: str) -> None:
    wanted = RunPrepare("j", built.REF, HEAD, built.INTEGRATION, f"{built.REF}-c", text)
    job = built.follow_up(wanted, built.TASK, built.PLAIN, built.PLAIN_SETTINGS)
    (container,) = job["spec"]["template"]["spec"]["containers"]
    config = expanded(configuration(container), container)

    assert load(PrepareConfig, config).commit.message == text


def test_a_command_that_the_kubelet_leaves_alone_is_not_altered_for_it() -> None:
    text = "echo $HOME ${HOME} $1 5$"
    wanted = RunCheck("j", replace(built.LINT, command=text), built.REF, HEAD, BASE)
    job = built.follow_up(wanted, built.TASK, built.PLAIN, built.PLAIN_SETTINGS)

    assert job["spec"]["template"]["spec"]["containers"][0]["command"] == ["sh", "-c", text]


def expanded(text: str, container: Object) -> str:
    """What the kubelet makes of a word of a command or of a variable's value."""
    values = environment(container)

    def value(found: re.Match[str]) -> str:
        return "$" if found[1] is None else values.get(found[1], found[0])

    return re.sub(r"\$(?:\$|\(([^)]*)\))", value, text)
