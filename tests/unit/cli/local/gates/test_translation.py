"""What becomes of each key of `quality_gates`: it is translated, or told."""

from __future__ import annotations

import pytest

from bernstein.checks import gates
from tests.unit.cli.local.gates.scenes import EXAMPLE, entries, read, told

SWITCHES = {
    **{name: name for name in gates.names()},
    **{f"{name}_check": name for name in ("dead_code", "comment_quality", "import_cycle")},
    **{f"{name}_check": name for name in ("merge_conflict", "large_file")},
}
ON = {gate.name for gate in gates.GATES if gate.default_on}


def test_the_settings_that_the_original_tool_shows_are_taken_over() -> None:
    found = read(EXAMPLE)

    assert found.gates == {
        "enabled": True,
        "timeoutSeconds": 120,
        "cacheEnabled": True,
        "allowBypass": False,
        "extends": "Default",
        "pipeline": [
            {
                "name": "tests",
                "command": "uv run python scripts/run_tests.py -x",
                "enabled": False,
            },
            {"name": "intent_verification", "blockOnNo": True, "enabled": False},
        ],
        "crossModel": {"enabled": False},
    }
    assert found.models == ()
    assert [*told(found)] == ["quality_gates.intent_verification"]


@pytest.mark.parametrize(("key", "gate"), SWITCHES.items(), ids=lambda each: each)
def test_a_gate_is_switched_on_and_off_by_the_key_that_it_has_there(key: str, gate: str) -> None:
    on, off = entries(read(f"{key}: true")), entries(read(f"{key}: false"))

    assert [*on] == ([] if gate in ON else [gate])
    assert off == ({gate: {"name": gate, "enabled": False}} if gate in ON else {})


@pytest.mark.parametrize("gate", gates.names())
def test_every_gate_may_have_a_block_as_well(gate: str) -> None:
    found = read(f"{gate}: {{enabled: true, required: false}}")

    assert entries(found)[gate]["required"] is False


def test_without_a_word_the_gates_are_those_that_are_on_by_default() -> None:
    assert read("").gates == {}
    assert read("lint: true\npii_scan: true\ndlp_scan: true").gates == {}


@pytest.mark.parametrize(
    ("text", "gate", "command"),
    [
        ("lint: true\nlint_command: npm run lint", "lint", "npm run lint"),
        ("tests: true\ntest_command: go test ./...", "tests", "go test ./..."),
        ("tests: true\ntests_command: make test", "tests", "make test"),
        ("dead_code_check: true\ndead_code_check_command: x", "dead_code", "x"),
        ("mutation_testing: true\nmutation_command: mutmut run", "mutation_testing", "mutmut run"),
        ("benchmark: {enabled: true, command: make bench}", "benchmark", "make bench"),
    ],
)
def test_a_command_of_ones_own_replaces_that_of_the_gate(
    text: str, gate: str, command: str
) -> None:
    assert entries(read(text))[gate] == {"name": gate, "command": command}


@pytest.mark.parametrize(
    "text",
    ["lint: true\nlint_command: 'ruff check  .'", "lint_command: ruff check ."],
)
def test_a_command_that_the_gate_runs_anyway_is_left_to_it(text: str) -> None:
    """It tells what was there before, which an exit code alone does not."""
    found = read(text)

    assert found.gates == {}
    assert found.notes == ()


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ("tests: true\ntest_command: npm test", True),
        ("tests: true\ntest_command: uv run scripts/run_tests", False),
        ("tests: false\ntest_command: npm test", True),
        ("lint: true\nlint_command: npm run lint", False),
        ("test_command: npm test\npipeline: [{name: tests, condition: any_changed}]", False),
        ("test_command: npm test\npipeline: [{name: tests, condition: python_changed}]", True),
    ],
)
def test_a_command_for_another_language_that_runs_for_changes_of_python_is_told(
    text: str, is_told: bool
) -> None:
    words = told(read(text)).get("quality_gates.tests", "")

    assert ("`condition: any_changed`" in words) == is_told


def test_a_command_of_a_gate_that_executes_nothing_is_told() -> None:
    found = read("pii_scan: true\npii_scan_command: grep secret")

    assert found.gates == {}
    assert "takes no command" in told(found)["quality_gates.pii_scan_command"]


@pytest.mark.parametrize("base", ["main", "origin/main"])
def test_the_base_is_the_repositorys_branch(base: str) -> None:
    assert read(f"base_ref: {base}").notes == ()
    assert "--branch" in told(read(f"base_ref: {base}", branch="dev"))["quality_gates.base_ref"]


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("lint_comand", "did you mean 'lint_command'?"),
        ("type_chek", "did you mean 'type_check'?"),
        ("timeout", ""),
        ("pii_ignore_paths", ""),
        ("5", ""),
    ],
)
def test_what_is_not_known_is_told(key: str, hint: str) -> None:
    (note,) = read(f"{key}: x").notes

    assert note.path == f"quality_gates.{key}"
    assert note.message.startswith("it is not known here")
    assert note.message.endswith(hint)
    assert note.remedy


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("lint: 'yes please'", "quality_gates.lint"),
        ("timeout_s: 0", "quality_gates.timeout_s"),
        ("timeout_s: true", "quality_gates.timeout_s"),
        ("timeout_s: .inf", "quality_gates.timeout_s"),
        ("cache_enabled: 1", "quality_gates.cache_enabled"),
        ("tests: true\ntest_command: [a]", "quality_gates.test_command"),
        ("tests: true\ntest_command: ''", "quality_gates.test_command"),
        ('tests: true\ntest_command: "a\\0b"', "quality_gates.test_command"),
        ("benchmark: {enabled: true, threshold: 0.1}", "quality_gates.benchmark.threshold"),
        ("large_file: {enabled: true, timeout_s: 5}", "quality_gates.large_file.timeout_s"),
        (
            "test_expansion: {enabled: true, required: true}",
            "quality_gates.test_expansion.required",
        ),
        ("- lint", "quality_gates"),
    ],
)
def test_a_value_that_cannot_be_taken_over_is_told(text: str, path: str) -> None:
    assert path in told(read(text))


def test_a_block_that_does_not_say_whether_it_is_on_is_off() -> None:
    found = read("benchmark: {command: make bench}")

    assert entries(found)["benchmark"]["enabled"] is False
    assert "enabled: true" in told(found)["quality_gates.benchmark"]


def test_a_text_without_an_end_is_not_read_to_its_end() -> None:
    (note,) = read(f"lint: {'x' * 100_000}").notes

    assert len(note.message) < 200
