"""Each field of each spec has a row that names the test which shows its effect.

The rows are in `exercised`, by the room of the field. A row counts only where that test is there,
is none about schemas alone, and has the field in its words or in those of its helpers.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pydantic import Field

from bernstein import crds
from bernstein.api.meta import Model
from tests.unit.crds.exercised import rows, sources
from tests.unit.crds.exercised.fields import spec_fields
from tests.unit.rooms import ROOT

TESTS = ROOT / "tests"
ABOUT_SCHEMAS = ("unit/docs", "unit/crds", "unit/api", "control_plane/api", "control_plane/docs")
"""Folders whose tests show how fields are written, and not what follows from them."""
FIELDS = spec_fields(kind.model for kind in crds.KINDS)


def without_a_row(fields: Mapping[str, object]) -> list[str]:
    """What to add: for each field that no row is about."""
    return [
        f'{name}: add "{name}": "FOLDER/test_FILE.py::test_NAME" to a table in'
        " tests/unit/crds/exercised, with the test that fails where the field has no effect"
        for name in fields
        if name not in rows.ROWS
    ]


def problem(field: str, test: str) -> str | None:
    """Why that test shows nothing of that field, if it does not."""
    file, _, name = test.partition("::")
    if file.startswith(ABOUT_SCHEMAS):
        return f"{file} is about schemas: name a test that shows the field's effect"
    if not sources.is_test(TESTS / file, name):
        return f"tests/{file} has no function {name} that is a test"
    spellings = FIELDS[field].spellings
    if not spellings & sources.words(TESTS / file, name):
        return f"{name} and its helpers do not say {' or '.join(sorted(spellings))}"
    return None


def test_each_field_has_a_row() -> None:
    assert len(FIELDS) > 300
    assert without_a_row(FIELDS) == []


def test_each_row_has_a_field() -> None:
    assert [f"{row}: no spec has it, take its row away" for row in rows.ROWS.keys() - FIELDS] == []


def test_no_two_tables_have_a_row_for_one_field() -> None:
    assert sum(map(len, rows.TABLES)) == len(rows.ROWS)


@pytest.mark.parametrize("field", sorted(rows.ROWS.keys() & FIELDS))
def test_the_test_of_a_field_is_there_and_is_about_it(field: str) -> None:
    assert problem(field, rows.ROWS[field]) is None


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (
            "unit/core/scheduling/test_chain.py::test_nobody_has_written",
            "tests/unit/core/scheduling/test_chain.py has no function test_nobody_has_written that",
        ),
        (
            "unit/core/scheduling/test_nowhere.py::test_a_task_waits_for_its_plan",
            "tests/unit/core/scheduling/test_nowhere.py has no function",
        ),
        (
            "unit/core/scheduling/test_chain.py::waits_for",
            "tests/unit/core/scheduling/test_chain.py has no function waits_for that is a test",
        ),
        (
            "unit/api/test_names.py::test_names_are_what_the_api_server_takes_as_one",
            "unit/api/test_names.py is about schemas: name a test that shows",
        ),
        (
            "unit/crds/test_exercised.py::test_each_field_has_a_row",
            "unit/crds/test_exercised.py is about schemas: name a test that shows",
        ),
        (
            "unit/core/roles/test_known.py"
            "::test_a_role_with_a_problem_says_its_first_and_how_many_more",
            "test_a_role_with_a_problem_says_its_first_and_how_many_more and its helpers do not say"
            " maxAgents or max_agents",
        ),
    ],
)
def test_a_row_that_shows_nothing_is_refused(test: str, words: str) -> None:
    assert (problem("PlanSpec.max_agents", test) or "").startswith(words)


class Inner(Model):
    never_heard_of: str = ""


class Spec(Model):
    by_name: dict[str, list[Inner]] | None = None
    except_: str = Field(default="", alias="except")


class Kind(Model):
    spec: Spec


def test_a_field_that_nobody_has_heard_of_is_found() -> None:
    found = spec_fields([Kind])

    assert [*found] == ["Spec.by_name", "Spec.except_", "Inner.never_heard_of"]
    assert found["Inner.never_heard_of"].spellings == {"never_heard_of", "neverHeardOf"}
    assert found["Spec.except_"].spellings == {"except_", "except"}
    assert [told.partition(":")[0] for told in without_a_row(found)] == [*found]
