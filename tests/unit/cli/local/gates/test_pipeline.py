"""A pipeline that is written keeps its order, and other gates than ours become the Project's."""

from __future__ import annotations

import pytest

from tests.unit.cli.local.gates.scenes import IMAGE, entries, read, told

EXAMPLE = """\
pipeline:
  - { name: "lint",       required: true,  condition: "always" }
  - { name: "type_check", required: true,  condition: "python_changed" }
  - { name: "tests",      required: true,  condition: "python_changed" }
  - { name: "no_foo",     required: true,  condition: "any_changed" }
"""
PLACE = "quality_gates.pipeline"


def test_the_pipeline_of_the_original_tool_stays_as_it_is() -> None:
    found = read(f"test_command: make test\n{EXAMPLE}")

    assert "extends" not in found.gates
    assert found.gates["pipeline"] == [
        {"name": "lint", "required": True, "condition": "always"},
        {"name": "type_check", "required": True, "condition": "python_changed"},
        {
            "name": "tests",
            "command": "make test",
            "required": True,
            "condition": "python_changed",
        },
        {
            "name": "no_foo",
            "required": True,
            "condition": "any_changed",
            "plugin": "Python",
        },
    ]


def test_a_gate_that_is_not_built_in_is_a_class_and_what_is_missing_is_said() -> None:
    words = told(read(EXAMPLE))[f"{PLACE}[3].name"]

    assert "taken for a class in Python" in words
    assert "bernstein_gates" in words


def test_one_with_a_command_runs_in_the_image_of_the_tools() -> None:
    found = read("pipeline: [{name: licences, command: sh tools/licences}]")

    assert entries(found)["licences"] == {
        "name": "licences",
        "command": "sh tools/licences",
        "image": IMAGE,
    }


@pytest.mark.parametrize(
    "written",
    ["changed_files.any('.py')", 'changed_files.any(".py")', "changed_files.any( '.py' )"],
)
def test_the_old_word_for_changes_of_python_is_known(written: str) -> None:
    found = read(f"pipeline: [{{name: tests, condition: {written!r}}}]")

    assert entries(found)["tests"]["condition"] == "python_changed"


def test_a_condition_that_is_none_is_told() -> None:
    found = read("pipeline: [{name: tests, condition: python_change}]")

    assert "condition" not in entries(found)["tests"]
    assert "did you mean 'python_changed'?" in told(found)[f"{PLACE}[0].condition"]


def test_a_name_that_is_nearly_one_of_ours_is_told() -> None:
    found = read("pipeline: [{name: type_chek}]")

    assert "did you mean 'type_check'?" in told(found)[f"{PLACE}[0].name"]
    assert [*entries(found)] == ["type_chek"]


@pytest.mark.parametrize(
    "written",
    [
        *("{name: begin}", "{name: signal_1}", "{name: propose}", "{name: tests}"),
        *("{name: My Gate}", "{name: 5}", "{}", "7", "[tests]"),
    ],
)
def test_what_no_gate_of_a_project_can_be_is_left_out_and_told(written: str) -> None:
    found = read(f"pipeline: [tests, {written}]")

    assert [*entries(found)] == ["tests"]
    (note,) = found.notes
    assert note.path.startswith(f"{PLACE}[1]")


def test_a_name_of_the_key_that_switches_a_gate_on_is_the_gates() -> None:
    found = read("pipeline: [{name: dead_code_check}]")

    assert [*entries(found)] == ["dead_code"]
    assert "taken for 'dead_code'" in told(found)[f"{PLACE}[0].name"]


def test_more_gates_than_a_project_has_are_told() -> None:
    found = read(f"pipeline: [{', '.join(f'gate{n}' for n in range(40))}]")

    assert len(entries(found)) == 32
    assert "at most 32 gates" in told(found)[f"{PLACE}[32].name"]


def test_keys_beside_a_pipeline_that_say_another_thing_are_told() -> None:
    found = read("security_scan: true\ntests: false\nlint_command: x\npipeline: [tests]")

    assert [*entries(found)] == ["tests"]
    assert {path: words.partition(":")[0] for path, words in told(found).items()} == {
        "quality_gates.security_scan": "it does not run",
        "quality_gates.tests": "it runs all the same",
        "quality_gates.lint": "its command or other settings are of no use",
    }


def test_that_the_gate_which_guards_linters_runs_besides_is_told() -> None:
    assert "lint_suppression" in told(read("pipeline: [lint]"))[PLACE]
    assert PLACE not in told(read("pipeline: [tests]"))


@pytest.mark.parametrize("written", ["[]", "null", ""])
def test_an_empty_one_is_none(written: str) -> None:
    assert [*entries(read(f"tests: true\npipeline: {written}"))] == ["tests"]


@pytest.mark.parametrize("written", ["lint", "5", "{name: lint}"])
def test_one_that_is_no_list_is_told(written: str) -> None:
    assert "expected an array" in told(read(f"pipeline: {written}"))[PLACE]


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ("{name: pii_scan, command: x}", "command"),
        ("{name: pii_scan, timeout_s: 5}", "timeout_s"),
        ("{name: auto_format, required: true}", "required"),
        ("{name: tests, requird: true}", "requird"),
        ("{name: tests, required: maybe}", "required"),
    ],
)
def test_what_a_gate_does_not_take_is_told(entry: str, path: str) -> None:
    assert f"{PLACE}[0].{path}" in told(read(f"pipeline: [{entry}]"))
