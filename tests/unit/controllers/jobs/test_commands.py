"""What becomes of the commands in our pods: the kubelet knows variables of its own, and Linux takes
no word of any length."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from bernstein.api.encoding import load
from bernstein.api.pod import Check
from bernstein.api.programs.judge import Asked
from bernstein.api.programs.merge import PrepareConfig
from bernstein.api.projects.knowledge import MOST_KNOWLEDGE
from bernstein.api.signals import MOST_FILES
from bernstein.checks.spec import CheckSpec
from bernstein.controllers.job_actions import RunJob
from bernstein.core.actions import RunCheck, RunFormat, RunInspect, RunJudge, RunPrepare
from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.built import Object, configuration, environment
from tests.unit.core import objects
from tests.unit.core.objects import BASE, HEAD

WIDE = "\N{VIOLIN}"
"""Of four bytes, and twelve where JSON is kept to ASCII."""
PATHS = tuple(f"{number:03}" + 253 * WIDE for number in range(100))
MODEL = {
    "name": "claude-sonnet-4-5",
    "provider": "anthropic",
    "key": {"name": "judge", "key": "api-key"},
}
TOLD = [
    {"name": f"k{number}", "path": f"{number:02}{254 * WIDE}"} for number in range(MOST_KNOWLEDGE)
]
WIDEST = objects.project(
    protectedPaths=PATHS, appendOnly=PATHS[:MOST_FILES], models=[MODEL], knowledge=TOLD
)
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


LONGEST_WORD = 128 * 1024 - 1
"""Bytes of a word of a command, with its end: MAX_ARG_STRLEN of Linux."""
SCOPE = CheckSpec(
    *("file_scope", "gate", "file_scope", True),
    reads=Check(
        "file_scope", "file_scope", files=PATHS[:MOST_FILES], append_only=PATHS[:MOST_FILES]
    ),
)
ASKED = CheckSpec(
    *("signal-0", "signal", "llm_review", True),
    asks=Asked("signal-0", "llm_review.v1", "review", 8192 * WIDE, "claude-sonnet-4-5"),
)
FORMATS = replace(built.FORMATS, paths=PATHS[:16])


@pytest.mark.parametrize(
    "wanted",
    [
        RunInspect("j", (SCOPE,), built.REF, HEAD, BASE, built.INTEGRATION),
        RunPrepare("j", built.REF, HEAD, built.INTEGRATION, f"{built.REF}-c", 600 * WIDE),
        RunFormat("j", FORMATS, built.REF, HEAD, BASE, BASE, f"{built.REF}-f", 600 * WIDE),
        RunJudge("j", "judge-1", (ASKED,), built.REF, HEAD, BASE, 300 * WIDE, 8192 * WIDE),
    ],
    ids=lambda wanted: type(wanted).__name__,
)
def test_linux_takes_what_a_program_is_told_of_the_longest_lists(wanted: RunJob) -> None:
    job = built.follow_up(wanted, built.TASK, WIDEST, built.PLAIN_SETTINGS)
    assert longest_word(job) <= LONGEST_WORD


def test_an_agent_starts_where_the_longest_list_is_protected() -> None:
    assert longest_word(built.agent_job(WIDEST, built.PLAIN_SETTINGS)) <= LONGEST_WORD


def longest_word(job: Object) -> int:
    pod = job["spec"]["template"]["spec"]
    containers = [*pod.get("initContainers", ()), *pod["containers"]]
    return max(len(word.encode()) for each in containers for word in each["command"])


def expanded(text: str, container: Object) -> str:
    """What the kubelet makes of a word of a command or of a variable's value."""
    values = environment(container)

    def value(found: re.Match[str]) -> str:
        return "$" if found[1] is None else values.get(found[1], found[0])

    return re.sub(r"\$(?:\$|\(([^)]*)\))", value, text)
