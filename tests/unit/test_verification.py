"""What `make test-verification` runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.unit.docs.pages import ROOT

MARK = "pytest.mark.verification"
PROGRAMS = ROOT / "tests/programs"
SHOWN_BY = (
    *(
        "hostile/test_verdicts*",
        "plugins/test_*",
        "pods/test_hostile*",
        "pods/test_serving*",
    ),
    *("pods/programs/test_judge*", "pods/programs/test_inspect*", "pods/programs/test_compare*"),
    *("pods/programs/test_checkout_for_gates*", "pods/programs/test_checkout_pinned*"),
    *("pods/programs/formatting/test_*", "pods/programs/merging/test_prepare*"),
    *("pods/programs/pusher/test_secrets*", "pods/programs/test_checkout_prompt*"),
    *("pods/programs/merging/test_attest*", "pods/programs/merging/test_verify_attestation*"),
    *("llm/test_*", "test_*_gate*"),
)
"""Files about gates, signals, models, attestations and hostile work, by name."""

PODS = "tests/e2e"
PLAYED = "tests/control_plane/controllers"
ERRORED = {
    "a tool": (f"{PODS}/test_errors.py", "test_a_gate_that_cannot_run_is_not_the_agents_fault"),
    "an image": (f"{PODS}/test_errors.py", "test_a_gate_that_cannot_run_is_not_the_agents_fault"),
    "a disruption": (
        f"{PODS}/test_errors.py",
        "test_a_gate_whose_pod_is_evicted_is_run_again_and_costs_no_attempt",
    ),
    "a lost node": (
        f"{PLAYED}/test_gates.py",
        "test_a_gate_whose_node_is_lost_is_run_again_and_costs_no_attempt",
    ),
    "a provider that is down": (
        f"{PODS}/test_judge.py",
        "test_a_provider_that_is_down_is_asked_again_at_no_cost_of_an_attempt",
    ),
    "the cap": (
        f"{PLAYED}/test_gates.py",
        "test_a_gate_that_is_disrupted_every_time_stalls_at_the_cap",
    ),
}
"""Why a check may say nothing, and the test that shows that it blocks, is tried again up to a cap,
and costs the agent no attempt."""


def target() -> str:
    return (ROOT / "Makefile").read_text().split("\ntest-verification:")[1].split("\n\n")[0]


def is_marked(path: Path, test: str | None = None) -> bool:
    """The whole file, or this test in it."""
    body = ast.parse(path.read_text()).body
    if any(ast.unparse(each) == f"pytestmark = {MARK}" for each in body):
        return True
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [each for each in body if isinstance(each, functions) and each.name == test]
    return any(MARK in map(ast.unparse, each.decorator_list) for each in found)


@pytest.mark.parametrize("names", SHOWN_BY)
def test_files_about_what_is_verified_by_whom_are_marked(names: str) -> None:
    files = sorted(PROGRAMS.glob(f"{names}.py"))

    assert files
    assert [file.name for file in files if not is_marked(file)] == []


@pytest.mark.parametrize("cause", ERRORED)
def test_what_shows_a_check_that_could_not_run_is_marked(cause: str) -> None:
    path, test = ERRORED[cause]

    assert f"def {test}(" in (ROOT / path).read_text()
    assert is_marked(ROOT / path, test)


def test_it_runs_what_is_marked_in_each_tier_that_has_any() -> None:
    marked = {p for p in (ROOT / "tests").rglob("test_*.py") if MARK in p.read_text()}
    marked.discard(Path(__file__))
    tiers = {"/".join(path.relative_to(ROOT).parts[:2]) for path in marked}

    runs = [line for line in target().replace("\\\n", " ").split("\n") if "-m verification" in line]
    assert {tier for tier in tiers for line in runs if tier in line} == tiers


def test_it_holds_the_contracts_of_the_registries_and_of_every_way_to_land() -> None:
    named = set(re.findall(r"tests/unit/\S+\.py", target()))

    assert {file for file in named if not (ROOT / file).is_file()} == set()
    assert named == {
        "tests/unit/checks/gates/test_every_gate.py",
        "tests/unit/checks/signals/test_every_signal.py",
        "tests/unit/checks/test_in_pods.py",
        "tests/unit/checks/test_in_programs.py",
        "tests/unit/core/delivery/test_every_way_to_land.py",
        "tests/unit/crds/test_crds.py",
        "tests/unit/docs/test_registry_tables.py",
        "tests/unit/docs/test_security_page.py",
    }
