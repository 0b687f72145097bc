"""A gate that is added to the list, and to nothing else, is one everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein import crds
from bernstein.api.encoding import load
from bernstein.api.pod import Check, CheckoutConfig, InspectConfig
from bernstein.api.project import Project
from bernstein.checks import gates
from bernstein.checks.gate import Command, Gate
from bernstein.checks.reading import CommitReader, Reads
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.checks.verdict import Verdict, failed, passed
from bernstein.controllers import job_actions
from bernstein.core.actions import RunCheck, RunInspect
from bernstein.core.verification.expected.required import executing, reading, required_checks
from bernstein.pods.programs.inspect import judge
from tests.unit.checks import default_gates
from tests.unit.checks.trees import Tree
from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.built import PLAIN_SETTINGS, TASK
from tests.unit.core import objects
from tests.unit.core.objects import BASE, HEAD, NAMESPACE
from tests.unit.docs.registry_tables import gate_problems


def scan(commit: CommitReader, _check: Check) -> Verdict:
    merged = not commit.conflicts() and "TODO" not in commit.paths
    return passed() if merged else failed("TodoFound", "there is a file TODO")


READS = Gate(
    "one_more_scan", condition="any_changed", default_on=True, runs=Reads(scan, merges=True)
)
RUNS = Gate(
    "one_more_run",
    condition="python_changed",
    default_on=False,
    runs=Command("pyright", pinned=("pyrightconfig.json",)),
    required=False,
)
ALL = Subject(any_changed=True, python_changed=True, tests_changed=True, deps_changed=True)


@pytest.fixture(autouse=True)
def _added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "GATES", (*gates.GATES, READS, RUNS))


def asked(**settings: Any) -> dict[str, CheckSpec]:
    spec = objects.project(gates=settings).spec
    return {check.name: check for check in required_checks([], spec, ALL)}


def job(wanted: job_actions.RunJob) -> dict[str, Any]:
    return job_actions.build(wanted, objects.project(), NAMESPACE, TASK, PLAIN_SETTINGS)


def config_of(container: dict[str, Any]) -> str:
    return built.configuration(container)


def test_it_is_asked_for_as_it_says() -> None:
    assert list(asked()) == ["lint", "pii_scan", "one_more_scan"]
    found = asked(pipeline=[{"name": "one_more_run"}, {"name": "one_more_scan", "enabled": False}])
    assert list(found) == ["lint", "pii_scan", "one_more_run"]
    assert not found["one_more_run"].required
    assert asked(pipeline=[{"name": "one_more_run", "required": True}])["one_more_run"].required


def test_one_that_executes_gets_a_job_of_its_own() -> None:
    check = asked(pipeline=[{"name": "one_more_run"}])["one_more_run"]
    assert check in executing([check])

    spec = job(RunCheck("work-s1-one-more-run-0", check, "refs/x", HEAD, BASE))["spec"]["template"][
        "spec"
    ]

    assert spec["containers"][0]["command"] == ["sh", "-c", "pyright"]
    assert load(CheckoutConfig, config_of(spec["initContainers"][0])).pinned_names == (
        "pyrightconfig.json",
    )


def test_one_that_reads_joins_the_inspect_job_which_fetches_what_it_asks_for() -> None:
    check = asked()["one_more_scan"]
    (joined,) = reading([check])

    wanted = RunInspect("work-s1-inspect-0", (joined,), "refs/x", HEAD, BASE, "refs/tip")
    spec = job(wanted)["spec"]["template"]["spec"]

    assert load(CheckoutConfig, config_of(spec["initContainers"][0])).history
    inspected = load(InspectConfig, config_of(spec["containers"][0]))
    assert inspected.onto_ref == "refs/tip"
    assert [judge(Tree({"a": ""}), check).verdict for check in inspected.checks] == ["Passed"]
    assert [judge(Tree({"TODO": ""}), check).reason for check in inspected.checks] == ["TodoFound"]


def test_the_schema_knows_that_it_is_built_in_and_whether_it_reads() -> None:
    spec = crds.object_schema(Project)["properties"]["spec"]["properties"]
    gate = spec["gates"]["properties"]["pipeline"]["items"]
    rules = {rule["message"]: rule["rule"] for rule in gate["x-kubernetes-validations"]}

    built_in, silent = list(gates.names()), list(gates.that_execute_nothing())
    assert (built_in[-2:], silent[-1]) == (["one_more_scan", "one_more_run"], "one_more_scan")
    assert rules["a gate that is not built in needs a command, or plugin: Python"] == (
        f"!(!(self.name in {built_in}) && !has(self.plugin)) || has(self.command)"
    )
    assert rules["this gate executes nothing and takes no command"] == (
        f"!(self.name in {silent}) || !has(self.command)"
    )


def test_the_missing_rows_of_its_documentation_are_named() -> None:
    assert gate_problems()[-2:] == [
        "project.md: 'Built-in gates' has no row of one_more_scan",
        "project.md: 'Built-in gates' has no row of one_more_run",
    ]


def test_one_that_is_on_by_default_changes_no_test_of_anything_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(default_gates, "GATES", gates.GATES)

    assert list(asked()) == ["lint", "pii_scan"]
