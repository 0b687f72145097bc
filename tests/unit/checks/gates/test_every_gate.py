"""What holds for every built-in gate, and for its examples in `tests/gates/<name>`."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.api.pod import Check
from bernstein.api.projects.gates import GateSettings
from bernstein.checks import gates
from bernstein.checks.asks import Asks
from bernstein.checks.gate import Command, Formats, Gate, Writes
from bernstein.checks.reading import Reads
from bernstein.checks.scans import reads_of
from bernstein.core import names
from bernstein.core.judging import forms
from bernstein.pods.programs.inspect import judge
from tests.unit.checks import examples
from tests.unit.checks.trees import Tree

every_gate = pytest.mark.parametrize("gate", gates.GATES, ids=gates.names())
every_that_reads = pytest.mark.parametrize("name", gates.that_read())
every_that_writes = pytest.mark.parametrize("name", gates.that_write())
every_that_asks = pytest.mark.parametrize("name", gates.that_ask())


def test_every_file_is_in_the_list_under_its_own_name() -> None:
    files = [path for path in Path(gates.__file__).parent.rglob("*.py") if path.stem != "__init__"]

    assert sorted(gates.names()) == sorted(path.stem for path in files)
    assert {path.stem for path in files if path.parent.name == "asking"} == {*gates.that_ask()}
    assert {path.stem for path in files if path.parent.name == "changing"} == {*gates.that_format()}
    assert {path.stem for path in files if path.parent.name == "writing"} == {*gates.that_write()}


@every_gate
def test_its_name_is_one_that_a_project_may_write(gate: Gate) -> None:
    assert GateSettings(name=gate.name).name == gate.name
    assert names.session_job("work-s1", gate.name, 0)


def test_every_folder_of_examples_is_a_gates() -> None:
    assert sorted(gates.names()) == sorted(path.name for path in examples.GATES.iterdir())


@every_gate
def test_it_has_a_change_to_accept_and_one_to_reject(gate: Gate) -> None:
    example = examples.of_gate(gate.name)

    assert example.accept != example.reject
    for tree in (example.accept, example.reject):
        assert tree.changed_paths
    asks = isinstance(gate.runs, Asks | Writes)
    assert (bool(example.yes), bool(example.no)) == (asks, asks)


@every_that_reads
def test_it_passes_and_fails(name: str) -> None:
    example, check = examples.of_gate(name), Check(name, name)

    assert judge(example.accept, check).verdict == "Passed"
    rejected = judge(example.reject, check)
    assert (rejected.verdict, rejected.reason) == ("Failed", example.reason)
    assert example.told in rejected.excerpt


@every_that_asks
def test_what_a_model_says_of_its_trees_passes_and_fails(name: str) -> None:
    example, asks = examples.of_gate(name), gates.of(name).runs
    assert isinstance(asks, Asks)

    said = [
        forms.verdict(asks.form, text, is_cut=False, least=asks.least)
        for text in (example.yes, example.no)
    ]

    assert [found.verdict for found in said] == ["Passed", "Failed"]
    assert said[1].reason == example.reason
    assert example.told in said[1].excerpt


@every_that_writes
def test_what_a_model_writes_of_its_trees_is_taken_or_is_no_answer(name: str) -> None:
    example, writes = examples.of_gate(name), gates.of(name).runs
    assert isinstance(writes, Writes)

    said = [
        forms.verdict(writes.asks.form, text, is_cut=False) for text in (example.yes, example.no)
    ]

    assert [found.verdict for found in said] == ["Passed", "Errored"]


def test_none_but_gates_with_a_command_execute_anything() -> None:
    silent = {g.name for g in gates.GATES if not isinstance(g.runs, Command | Formats | Writes)}

    assert silent == {*gates.that_execute_nothing()} == {*gates.that_read(), *gates.that_ask()}


def test_a_gate_of_the_projects_own_has_no_check_without_its_command() -> None:
    assert reads_of("licence") is gates.of("licence").runs
    assert judge(Tree(), Check("licence", "licence")).verdict == "Errored"


def test_a_gate_that_executes_is_nobodys_to_read() -> None:
    executing = [gate.name for gate in gates.GATES if not isinstance(gate.runs, Reads)]

    assert executing
    for name in executing:
        assert judge(Tree(), Check(name, name)).verdict == "Errored"
