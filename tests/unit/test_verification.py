"""What `make test-verification` runs."""

from __future__ import annotations

import re

import pytest

from tests.unit.docs.pages import ROOT

MARK = "pytestmark = pytest.mark.verification"
PROGRAMS = ROOT / "tests/programs"
SHOWN_BY = (
    *(
        "hostile/test_verdicts*",
        "plugins/test_hostile_*",
        "pods/test_hostile*",
        "pods/test_serving*",
    ),
    *("pods/programs/test_judge*", "pods/programs/test_inspect*"),
    *("pods/programs/formatting/test_hostile_*", "pods/programs/merging/test_prepare*"),
    *("pods/programs/pusher/test_secrets*", "test_*_gate*"),
)
"""Files about gates, signals and hostile work, by name."""


@pytest.mark.parametrize("names", SHOWN_BY)
def test_files_about_gates_signals_and_hostile_work_are_marked(names: str) -> None:
    files = sorted(PROGRAMS.glob(f"{names}.py"))

    assert files
    assert [file.name for file in files if MARK not in file.read_text().splitlines()] == []


def test_it_holds_the_contracts_of_the_registries_and_of_every_way_to_land() -> None:
    target = (ROOT / "Makefile").read_text().split("\ntest-verification:")[1].split("\n\n")[0]
    named = set(re.findall(r"tests/unit/\S+\.py", target))

    assert {file for file in named if not (ROOT / file).is_file()} == set()
    assert named == {
        "tests/unit/checks/gates/test_every_gate.py",
        "tests/unit/checks/signals/test_every_signal.py",
        "tests/unit/core/delivery/test_every_way_to_land.py",
        "tests/unit/crds/test_crds.py",
        "tests/unit/docs/test_registry_tables.py",
    }
