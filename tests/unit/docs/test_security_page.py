"""The page on security: whatever it says is shown by a test names a test that there is."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from bernstein.core.labels import MANAGED_BY, MANAGER
from tests.unit.docs.pages import REFERENCE, ROOT, table

PAGE = REFERENCE / "security.md"
ROWS = list(table(PAGE, "Tried, and what stopped it"))


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((ROOT / path).read_text())
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, functions))


@pytest.mark.parametrize("row", ROWS, ids=[cells[0][:50] for cells in ROWS])
def test_what_was_tried_names_tests_that_there_are(row: list[str]) -> None:
    _, stopped_by, shown_in = row
    named = re.findall(r"`([^`]+)`", shown_in)

    assert stopped_by
    assert named
    for each in named:
        path, _, name = each.partition("::")
        assert name.startswith("test_"), each
        assert name in names_in(path), each
    assert ", ".join(f"`{each}`" for each in named) == shown_in, "nothing else is said there"


def test_every_admission_policy_of_the_chart_has_its_row() -> None:
    folder = ROOT / "charts/bernstein/templates/admission"
    policies = {f"bernstein-{file.stem}" for file in folder.glob("*.yaml")}
    rows = " ".join(cells[1] for cells in table(PAGE, "What the API server enforces"))

    assert policies == set(re.findall(r"admission policy `([^`]+)`", rows))


def test_the_label_to_leave_out_of_a_selector_is_that_of_our_pods() -> None:
    assert f"`{MANAGED_BY}: {MANAGER}`" in PAGE.read_text()
