"""What holds for every type of completion signal; its own folder says what it accepts."""

from __future__ import annotations

import pkgutil
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from bernstein import crds
from bernstein.api.pod import Check
from bernstein.api.signals import Signal
from bernstein.api.task import Task
from bernstein.checks import gates, signals
from bernstein.checks.reading import Reads
from bernstein.checks.scans import reads_of
from bernstein.checks.signal import SignalKind
from bernstein.core.plans.validation import validate_file
from bernstein.pods.programs.inspect import judge
from tests.unit.checks import examples
from tests.unit.checks.trees import Tree

every_signal = pytest.mark.parametrize("kind", signals.SIGNALS, ids=signals.types())
every_that_reads = pytest.mark.parametrize(
    "kind", [k for k in signals.SIGNALS if isinstance(k.runs, Reads)], ids=lambda k: k.type
)


def errors(signal: Any) -> list[str]:
    step = {"title": "t", "completion_signals": [signal]}
    plan = {"name": "p", "stages": [{"name": "s", "steps": [step]}]}
    return [problem.path for problem in validate_file(plan).errors]


def verdict(kind: SignalKind, tree: Tree) -> str:
    fields = {k: v for k, v in examples.of_signal(kind.type).accepted.items() if k != "type"}
    return judge(tree, Check("signal-0", kind.type, **fields)).verdict


def test_every_file_is_in_the_list_under_its_own_name() -> None:
    files = {module.name for module in pkgutil.iter_modules(signals.__path__)}

    assert sorted(signals.types()) == sorted(files)


def test_no_name_means_two_things() -> None:
    names = [*signals.types(), *gates.names()]

    assert len(names) == len(set(names))


def test_every_field_of_a_signal_is_taken_by_some_type() -> None:
    taken = {field for kind in signals.SIGNALS for field in kind.fields}

    assert taken == Signal.model_fields.keys() - {"type"}


def test_the_schema_offers_exactly_these() -> None:
    spec = crds.object_schema(Task)["properties"]["spec"]["properties"]

    enum = spec["completionSignals"]["items"]["properties"]["type"]["enum"]
    assert enum == list(signals.types())


@every_signal
def test_its_example_has_every_field_that_it_takes(kind: SignalKind) -> None:
    assert examples.of_signal(kind.type).accepted.keys() == {"type", *kind.fields}


@every_signal
def test_a_plan_with_its_example_is_accepted(kind: SignalKind) -> None:
    assert errors(dict(examples.of_signal(kind.type).accepted)) == []


@every_signal
def test_a_plan_with_a_wrong_one_is_refused(kind: SignalKind) -> None:
    refused = examples.of_signal(kind.type).refused

    assert refused
    for signal in refused:
        assert signal["type"] == kind.type
        found = errors(dict(signal))
        assert found, signal
        assert all("completion_signals[0]" in path for path in found)


@every_signal
def test_it_is_told_with_all_that_it_needs(kind: SignalKind) -> None:
    accepted = examples.of_signal(kind.type).accepted
    signal = Signal.model_validate({to_camel(key): value for key, value in accepted.items()})

    title, sentence = kind.title(signal), kind.sentence(signal)

    assert title.startswith(f"{kind.type}: ")
    for field in kind.needs:
        assert str(accepted[field]) in title
        assert str(accepted[field]) in sentence
    assert "\n" not in title + sentence


@every_that_reads
def test_it_passes_where_it_holds_and_fails_where_it_does_not(kind: SignalKind) -> None:
    example = examples.of_signal(kind.type)

    assert verdict(kind, example.holds) == "Passed"
    assert verdict(kind, example.fails) == "Failed"


def test_a_title_is_cut_to_what_a_verdict_holds() -> None:
    (kind,) = (k for k in signals.SIGNALS if k.type == "test_passes")
    long = Signal(type="test_passes", command="x" * 4096)

    assert len(kind.title(long)) == 300


def test_a_type_that_is_not_known_is_errored_and_never_passed() -> None:
    kind = signals.of("from_the_future")
    found = judge(Tree(), Check("signal-0", "from_the_future"))

    assert kind.runs is reads_of("from_the_future")
    assert (found.verdict, found.reason) == ("Errored", "InvalidConfig")
    assert "from_the_future" in kind.sentence(Signal(type="from_the_future"))
