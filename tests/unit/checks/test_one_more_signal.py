"""A signal that is added to the list, and to nothing else, is one everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein import crds
from bernstein.api.pod import Check
from bernstein.api.signals import Signal
from bernstein.api.task import Task
from bernstein.checks import signals
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.signal import SignalKind
from bernstein.checks.spec import Subject
from bernstein.checks.verdict import Verdict, failed, passed
from bernstein.core.plans.validation import validate_file, validate_plan
from bernstein.core.prompts.parts import SIGNALS
from bernstein.core.scheduling import chain
from bernstein.core.sessions.prompt import prompt
from bernstein.core.verification.expected.required import executing, reading, required_checks
from bernstein.pods.programs.inspect import judge
from tests.unit.checks.trees import Tree
from tests.unit.core import objects
from tests.unit.core.objects import NOW
from tests.unit.docs.registry_tables import signal_problems


def scan(commit: CommitReader, check: Check) -> Verdict:
    if commit.kind(check.path) is None:
        return passed()
    return failed("PathThere", f"{check.path} is still there")


GONE = SignalKind(
    type="one_more_signal",
    needs=("path",),
    detail=lambda signal: signal.path or "",
    sentence=lambda signal: f"nothing stands at {signal.path}",
    runs=Reads(scan),
)
ALL = Subject(any_changed=True, python_changed=True, tests_changed=True, deps_changed=True)
DECLARED = Signal(type="one_more_signal", path="old.py")


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "SIGNALS", (*signals.SIGNALS, GONE))


def validated(**signal: Any) -> list[str]:
    step = {"title": "t", "completion_signals": [{"type": "one_more_signal", **signal}]}
    plan = {"name": "p", "stages": [{"name": "s", "steps": [step]}]}
    return [problem.message for problem in validate_file(plan).errors]


def test_the_schema_offers_it_with_rules_of_its_fields() -> None:
    spec = crds.object_schema(Task)["properties"]["spec"]["properties"]
    signal = spec["completionSignals"]["items"]
    rules = {rule["message"]: rule["rule"] for rule in signal["x-kubernetes-validations"]}
    needing = [kind.type for kind in signals.SIGNALS if "path" in kind.needs]
    named = f"{', '.join(needing[:-1])} and one_more_signal"

    assert signal["properties"]["type"]["enum"][-1] == "one_more_signal"
    assert rules[f"{named} need a path"] == f"!(self.type in {needing}) || has(self.path)"
    assert f"only {named} take a path" in rules
    assert [
        told for told in rules if "one_more_signal" in told and not told.endswith(" a path")
    ] == []


def test_plan_files_may_use_it_with_its_fields_and_no_others() -> None:
    place = "stages[0].steps[0].completion_signals[0]"

    assert validated(path="old.py") == []
    assert validated() == [f"{place}: missing required field 'path'"]
    assert validated(path="old.py", contains="x") == [
        f"{place}.contains: one_more_signal takes no 'contains'"
    ]


def test_a_plan_in_the_cluster_may_use_it() -> None:
    steps = [{"title": "t", "completionSignals": [{"type": "one_more_signal", "path": "old.py"}]}]
    plan = objects.plan(stages=[{"name": "s", "steps": steps}])

    assert validate_plan(plan.spec, objects.project().spec, ["backend"]) == ()


def test_the_agent_is_told_and_starts() -> None:
    task = objects.task(completionSignals=[DECLARED.dump()])

    assert prompt(task, 1)[SIGNALS] == "Done means:\n- nothing stands at old.py"
    assert chain.first(chain.LAUNCH, objects.snapshot(task), NOW) is None


def test_it_is_asked_in_the_inspect_job_and_answered_there() -> None:
    checks = required_checks([DECLARED], objects.project(gates={"enabled": False}).spec, ALL)

    (asked,) = reading(checks)
    assert executing(checks) == []
    assert asked.title == "one_more_signal: old.py"
    assert asked.reads is not None
    assert judge(Tree({"new.py": ""}), asked.reads).verdict == "Passed"
    assert judge(Tree({"old.py": ""}), asked.reads).reason == "PathThere"


def test_the_missing_row_of_its_documentation_is_named() -> None:
    assert signal_problems() == ["plan.md: 'Completion signals' has no row of one_more_signal"]
