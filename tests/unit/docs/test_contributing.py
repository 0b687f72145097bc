"""What contributors are told to touch is called as the code calls it."""

from __future__ import annotations

import re

import pytest

from tests.unit.docs.code import is_constant, words
from tests.unit.docs.pages import ROOT, prose

TEXT = prose(ROOT / "CONTRIBUTING.md")
RECIPES = re.findall(r"^### (Add [^\n]*)\n(.*?)(?=^##)", TEXT, re.MULTILINE | re.DOTALL)
VARIABLES = {
    "ADDRESS",
    "ALSO",
    "BERNSTEIN_CRASH_AFTER",
    "BERNSTEIN_CRASH_SEED",
    "BERNSTEIN_E2E_CLUSTER",
    "BERNSTEIN_TEST_CLUSTER",
    "HYPOTHESIS_PROFILE",
    "REGISTRY",
}


def test_there_is_a_recipe_for_each_list_that_grows() -> None:
    assert [title for title, _ in RECIPES] == [
        "Add a gate",
        "Add a completion signal",
        "Add an adapter",
        "Add a provider of models",
        "Add a forge",
        "Add a reason",
        "Add a reason to wait",
        "Add a command",
        "Add a route",
        "Add a controller",
        "Add a field to a spec",
        "Add a value of the chart",
        "Add a decision page",
    ]


@pytest.mark.parametrize(("title", "text"), RECIPES, ids=[title for title, _ in RECIPES])
def test_every_step_says_what_to_touch_and_some_say_what_fails(title: str, text: str) -> None:
    head, _, *steps = [line for line in text.splitlines() if line.startswith("|")]

    assert head == "| Touch | With | Else fails |"
    cells = [[cell.strip() for cell in step.split("|")[1:-1]] for step in steps]
    assert all(len(step) == 3 and step[0] and step[1] for step in cells)
    assert any(step[2] for step in cells)


def test_every_list_and_table_that_is_named_exists() -> None:
    named = set(re.findall(r"`(_?[A-Z][A-Z_]+)`", TEXT))

    assert {name for name in named - VARIABLES if not is_constant(name)} == set()


def test_every_class_that_is_named_exists() -> None:
    named = set(re.findall(r"`(?:[A-Z_]+ = )?([A-Z][a-z]\w*)\b", TEXT))

    assert named - words() == set()
