"""Which checks judge a tree."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from bernstein.api.project import ProjectSpec
from bernstein.api.projects.gates import Gates
from bernstein.api.signals import Signal
from bernstein.api.vocabulary import WrittenCondition
from bernstein.checks.gate import Command
from bernstein.checks.gates import tests
from bernstein.checks.linter_files import LINTER_FILES
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.core.verification.expected import required
from bernstein.places import LAUNCHER
from tests.unit.core import objects

CHANGED = Subject(any_changed=True, python_changed=True, tests_changed=False, deps_changed=False)
NOTHING = Subject(any_changed=False, python_changed=False, tests_changed=False, deps_changed=False)


def spec(**gates: Any) -> ProjectSpec:
    return objects.project(gates=gates).spec


def names(found: tuple[CheckSpec, ...]) -> list[str]:
    return [c.name for c in found]


def test_signals_come_first_then_the_gates_that_are_on_by_default() -> None:
    signals = [Signal(type="test_passes", command="pytest"), Signal(type="path_exists", path="a")]

    found = required.required_checks(signals, spec(), CHANGED)

    assert names(found) == ["signal-0", "signal-1", "lint", "pii_scan"]
    assert [c.kind for c in found] == ["signal", "signal", "gate", "gate"]
    assert all(c.required for c in found)


def test_what_executes_is_told_from_what_only_reads() -> None:
    signals = [
        Signal(type="test_passes", command="pytest", timeout_seconds=7),
        Signal(type="path_exists", path="a"),
        Signal(type="glob_exists", value="*.py"),
        Signal(type="file_contains", path="a", contains="x", regex=True),
    ]

    found = required.required_checks(signals, spec(), CHANGED)

    assert [(c.name, c.timeout) for c in required.executing(found)] == [
        ("signal-0", 7),
        ("lint", 120),
    ]
    reads = [c.reads for c in required.reading(found)]
    assert [r.type for r in reads if r] == [
        "path_exists",
        "glob_exists",
        "file_contains",
        "pii_scan",
    ]
    assert [(r.path, r.value, r.contains, r.regex) for r in reads if r][2] == ("a", "", "x", True)


def test_a_service_is_started_by_our_launcher_which_is_told_what_to_ask_for() -> None:
    command = "echo 'a b'; exec serve --port \"$PORT\""
    signal = Signal(
        type="api_responds",
        url="http://127.0.0.1:$PORT/a?b='c'",
        command=command,
        contains='it\'s "up"',
        timeout_seconds=9,
    )

    (found, *_) = required.required_checks([signal], spec(), CHANGED)

    assert (found.launched, found.timeout) == (True, 9)
    assert shlex.split(found.command or "") == [
        *(LAUNCHER, "--ask", "/a?b='c'", "--ask-status", "200", "--ask-contains", 'it\'s "up"'),
        *("--ask-seconds", "9", "--", "sh", "-c", command),
    ]


SERVES = {"type": "api_responds", "url": "/health", "command": "serve"}
HOLDS = {"type": "file_contains", "path": "a", "contains": "x"}


@pytest.mark.parametrize(
    ("signal", "other"),
    [
        ({"type": "path_exists", "path": "a"}, {"path": "b"}),
        ({"type": "glob_exists", "value": "*.a"}, {"value": "*.b"}),
        (HOLDS, {"contains": "y"}),
        (HOLDS, {"regex": True}),
        (SERVES, {"url": "/ready"}),
        (SERVES, {"status": 204}),
        (SERVES, {"contains": "up"}),
        (SERVES, {"command": "serve --port"}),
        (SERVES, {"timeout_seconds": 9}),
        ({"type": "llm_review", "criteria": "It is tested."}, {"criteria": "It is short."}),
        ({"type": "path_exists", "path": "a"}, {"type": "file_contains", "contains": "x"}),
    ],
)
def test_a_signal_that_says_something_else_asks_something_else(
    signal: dict[str, Any], other: dict[str, Any]
) -> None:
    def asked(**words: Any) -> tuple[Any, ...]:
        signals = [Signal.model_validate(words)]
        (found, *_) = required.required_checks(signals, spec(), CHANGED)
        return found.reads, found.command, found.timeout, found.asks

    assert asked(**signal) == asked(**signal)
    assert asked(**signal) != asked(**signal | other)


def test_a_gate_of_the_projects_own_runs_its_command_in_its_image() -> None:
    own = {"name": "licence", "command": "check", "image": "own:1", "timeoutSeconds": 9}
    (found,) = [
        c
        for c in required.required_checks([], spec(pipeline=[own]), CHANGED)
        if c.name == "licence"
    ]

    assert (found.command, found.image, found.timeout, found.required) == (
        "check",
        "own:1",
        9,
        True,
    )
    assert found.pinned == ()


def test_settings_of_a_built_in_gate_change_it() -> None:
    settings = [
        {"name": "lint", "command": "flake8", "required": False},
        {"name": "pii_scan", "enabled": False},
        {"name": "tests", "enabled": True},
    ]

    found = required.required_checks([], spec(pipeline=settings), CHANGED)

    assert names(found) == ["lint", "tests"]
    assert (found[0].command, found[0].required) == ("flake8", False)
    assert found[0].pinned == LINTER_FILES
    assert isinstance(tests.GATE.runs, Command)
    assert found[1].command == tests.GATE.runs.command


def test_of_a_projects_own_tests_the_exit_code_alone_counts() -> None:
    own = {"name": "tests", "command": "make test"}

    found = required.required_checks([], spec(pipeline=[own]), CHANGED)

    assert found[-1].command == "make test"


def test_what_runs_a_command_has_the_image_of_the_toolchain() -> None:
    project = objects.project(
        toolchain={"image": "tools:7"}, gates={"pipeline": [{"name": "lint"}]}
    )

    found = required.required_checks([], project.spec, CHANGED)

    assert [check.image for check in found if check.name == "lint"] == ["tools:7"]


OWN = {"name": "licence", "command": "check", "image": "own:1"}


def in_order(**gates: Any) -> list[str]:
    """Gates that run where the settings are exactly these."""
    project_ = objects.project().spec
    given = project_.model_copy(update={"gates": Gates.model_validate(gates)})
    return names(required.required_checks([], given, CHANGED))


def test_without_a_pipeline_the_gates_run_that_are_on_by_default() -> None:
    assert (
        in_order()
        == in_order(pipeline=[])
        == [
            *("lint", "lint_suppression"),
            *("pii_scan", "dlp_scan"),
        ]
    )


def test_a_pipeline_that_is_given_is_complete_and_in_its_order() -> None:
    listed = [{"name": "pii_scan"}, OWN, {"name": "lint"}, {"name": "tests", "enabled": False}]

    assert in_order(pipeline=listed) == ["pii_scan", "licence", "lint_suppression", "lint"]
    assert in_order(pipeline=[OWN]) == ["licence"]


SILENCED = {"name": "lint_suppression"}


@pytest.mark.parametrize(
    ("listed", "runs"),
    [
        ([{"name": "lint"}], ["lint_suppression", "lint"]),
        ([OWN, {"name": "type_check"}], ["licence", "lint_suppression", "type_check"]),
        (
            [{"name": "type_check"}, OWN, {"name": "lint", "command": "make lint"}],
            ["lint_suppression", "type_check", "licence", "lint"],
        ),
        ([{"name": "lint", "enabled": False}, {"name": "tests"}], ["tests"]),
        ([{"name": "lint"}, SILENCED], ["lint", "lint_suppression"]),
        ([SILENCED | {"enabled": False}, {"name": "lint"}], ["lint"]),
        ([{"name": "lint"}, SILENCED | {"enabled": False}], ["lint"]),
    ],
)
def test_a_pipeline_with_a_linter_has_the_gate_for_suppressions_unless_it_is_switched_off(
    listed: list[dict[str, Any]], runs: list[str]
) -> None:
    assert in_order(pipeline=listed) == runs


def test_the_gate_for_suppressions_is_as_strict_as_the_strictest_linter_that_it_guards() -> None:
    def required_of(*listed: dict[str, Any]) -> dict[str, bool]:
        given = objects.project().spec.model_copy(
            update={"gates": Gates.model_validate({"pipeline": listed})}
        )
        return {c.name: c.required for c in required.required_checks([], given, CHANGED)}

    tells = {"name": "lint", "required": False}

    assert required_of(tells) == {"lint_suppression": False, "lint": False}
    assert required_of(tells, {"name": "type_check"})["lint_suppression"] is True


def test_a_pipeline_that_extends_the_defaults_has_them_first_with_its_settings() -> None:
    listed = [OWN, {"name": "tests"}, {"name": "pii_scan"}, {"name": "lint", "enabled": False}]

    assert in_order(extends="Default", pipeline=listed) == [
        *("lint_suppression", "pii_scan", "dlp_scan"),
        *("licence", "tests"),
    ]


def test_the_linters_configuration_is_taken_from_the_pinned_commit() -> None:
    (lint, _) = required.required_checks([], spec(), CHANGED)

    assert {"pyproject.toml", "ruff.toml", "setup.cfg"} <= set(lint.pinned)


def test_gates_can_be_turned_off_but_not_the_signals() -> None:
    signals = [Signal(type="path_exists", path="a")]

    assert names(required.required_checks(signals, spec(enabled=False), CHANGED)) == ["signal-0"]


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ("always", True),
        ("any_changed", True),
        ("python_changed", True),
        ("tests_changed", False),
        ("deps_changed", False),
        ("changed_files.any('.py')", True),
    ],
)
def test_a_gate_whose_condition_is_not_met_is_skipped(
    condition: WrittenCondition, met: bool
) -> None:
    gate = {"name": "lint", "condition": condition}

    (lint, *_) = required.required_checks([], spec(pipeline=[gate]), CHANGED)

    assert lint.skipped == (None if met else "ConditionNotMet")
    assert bool(required.executing([lint])) is met


def test_the_old_word_for_python_asks_the_same() -> None:
    old, new = (
        required.required_checks([], spec(pipeline=[{"name": "lint", "condition": word}]), NOTHING)
        for word in ("changed_files.any('.py')", "python_changed")
    )

    assert old == new
    assert old[0].skipped == "ConditionNotMet"


def test_paths_are_part_of_the_question_and_left_to_its_pod() -> None:
    anywhere, api = (
        required.required_checks([], spec(pipeline=[{"name": "lint", **more}]), CHANGED)[0]
        for more in ({}, {"paths": ["services/api/**"]})
    )

    assert api.paths == ("services/api/**",)
    assert api.skipped is None
    assert api.digest != anywhere.digest
