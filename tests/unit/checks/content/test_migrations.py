"""Which files are migrations, and whether they can be taken back."""

from __future__ import annotations

import time

import pytest

from bernstein.api.pod import Check
from bernstein.checks.gates import migration_reversibility as gate
from tests.unit.checks.trees import Tree

HEAD = 'revision = "b"\ndown_revision = "a"\n\n'
UP = 'def upgrade() -> None:\n    op.drop_column("t", "c")\n\n'
DROP = "DROP TABLE t;\n"
MAKE = "CREATE TABLE t (i int);\n"


def judged(files: dict[str, str], before: dict[str, str] | None = None) -> tuple[str, str]:
    tree = Tree(files, before=before or {})
    verdict = gate.scan(tree, Check(gate.GATE.name, gate.GATE.name))
    assert verdict.reason == ("NotReversible" if verdict.verdict == "Failed" else "")
    return verdict.verdict, verdict.excerpt


GOES_BACK = {
    "a statement": 'def downgrade():\n    op.add_column("t", "c")\n',
    "SQL": 'def downgrade():\n    op.execute("""\n    DROP TABLE t\n    """)\n',
    "on its line": 'def downgrade(): op.add_column("t", "c")\n',
    "behind a docstring": 'def downgrade() -> None:\n    """Back.\n\n    So."""\n    op.add("t")\n',
    "behind a comment": "def downgrade():\n# back\n    op.add_column(1)\n",
    "defined again": "def downgrade():\n    pass\n\ndef downgrade():\n    op.add(1)\n",
}
DOES_NOT = {
    "nothing": "",
    "pass": "def downgrade() -> None:\n    pass\n",
    "a docstring": 'def downgrade() -> None:\n    """Nothing to do.\n    op.add(1)"""\n',
    "an ellipsis": "def downgrade(): ...\n",
    "a return": "def downgrade():\n    return  # op.add_column\n",
    "a refusal": 'def downgrade():\n    raise NotImplementedError("no way back")\n',
    "an empty statement": 'def downgrade():\n    op.execute("")\n',
    "only what comes behind": "def downgrade():\n    pass\n\nop.add_column(1)\n",
    "in a string at the start of a line": "x = '''\ndef downgrade():\n    op.add(1)\n'''\n",
    "empty SQL": 'def downgrade():\n    op.execute("""\n    """)\n',
    "in a string": '"""\n    def downgrade():\n        op.add(1)\n"""\n',
    "overwritten": "def downgrade():\n    op.add(1)\n\ndef downgrade():\n    pass\n",
}


@pytest.mark.parametrize("how", GOES_BACK)
def test_a_revision_of_alembic_with_a_downgrade_passes(how: str) -> None:
    assert judged({"alembic/versions/b.py": HEAD + UP + GOES_BACK[how]}) == ("Passed", "")


@pytest.mark.parametrize("how", DOES_NOT)
def test_a_revision_of_alembic_whose_downgrade_does_nothing_fails(how: str) -> None:
    verdict, excerpt = judged({"alembic/versions/b.py": HEAD + UP + DOES_NOT[how]})

    assert verdict == "Failed"
    assert excerpt.startswith("alembic/versions/b.py has ")


def test_a_revision_that_only_merges_two_others_has_nothing_to_take_back() -> None:
    merges = HEAD + "def upgrade():\n    pass\n\ndef downgrade():\n    pass\n"

    assert judged({"versions/m.py": merges}) == ("Passed", "")


def test_other_python_is_no_migration() -> None:
    assert judged({"tool.py": UP, "b.py": "down_revision = 1\n"}) == ("Passed", "")


def test_what_was_there_before_is_not_asked_for() -> None:
    old = {"versions/b.py": HEAD + UP}

    assert judged(old | {"a.py": "a = 1\n"}, before=old) == ("Passed", "")
    assert judged({"versions/b.py": HEAD + UP + "# more\n"}, before=old)[0] == "Failed"


PAIRS = {
    "db/1_x.up.sql": "db/1_x.down.sql",
    "migrations/1_x.sql": "migrations/1_x.down.sql",
    "migrations/2_x.sql": "migrations/2_x_down.sql",
    "migrations/x/up.sql": "migrations/x/down.sql",
    "prisma/migrations/2024_x/migration.sql": "prisma/migrations/2024_x/down.sql",
    "migrations/up/1.sql": "migrations/down/1.sql",
    "migrations/3_x.sql": "migrations/down/3_x.sql",
    "sql/V1.2__x.sql": "sql/U1.2__x.sql",
}


@pytest.mark.parametrize("forth", PAIRS)
def test_a_migration_in_sql_needs_its_file_for_the_way_back(forth: str) -> None:
    assert judged({forth: MAKE, PAIRS[forth]: DROP}) == ("Passed", "")
    assert judged({forth: MAKE})[0] == "Failed"
    assert judged({forth: MAKE, PAIRS[forth]: "-- later\n/* TODO */ ;\n"})[0] == "Failed"
    assert judged({forth: MAKE, PAIRS[forth]: "->elsewhere"})[0] == "Failed"


@pytest.mark.parametrize("forth", PAIRS)
def test_a_way_back_is_not_taken_away_later(forth: str) -> None:
    both = {forth: MAKE, PAIRS[forth]: DROP}

    assert judged({forth: MAKE, "a": "1"}, before=both)[0] == "Failed"
    assert judged(both | {PAIRS[forth]: "-- gone\n"}, before=both)[0] == "Failed"
    assert judged(both | {PAIRS[forth]: "->elsewhere"}, before=both)[0] == "Failed"
    assert judged(both | {PAIRS[forth]: DROP + DROP}, before=both) == ("Passed", "")
    assert judged({"a": "1"}, before=both) == ("Passed", ""), "both may go"


def test_a_migration_without_its_way_back_is_told_once() -> None:
    both = {"db/1.up.sql": MAKE, "db/1.down.sql": DROP}

    verdict = judged({"db/1.up.sql": MAKE + MAKE}, before=both)

    assert verdict == ("Failed", "db/1.up.sql has no 1.down.sql beside it")


@pytest.mark.parametrize(
    "name",
    [
        "R__views.sql",
        "B3__baseline.sql",
        "afterMigrate.sql",
        "afterMigrate__grants.sql",
        "beforeEachMigrate.sql",
        "afterMigrateError.sql",
        "createSchema.sql",
    ],
)
def test_what_flyway_never_takes_back_needs_no_way_back(name: str) -> None:
    assert judged({f"db/migration/{name}": MAKE}) == ("Passed", "")


@pytest.mark.parametrize("name", ["R_views.sql", "after.sql", "afterwards__x.sql", "V1__R__x.sql"])
def test_what_only_looks_like_one_of_flyways_needs_it(name: str) -> None:
    assert judged({f"db/migration/{name}": MAKE})[0] == "Failed"


@pytest.mark.parametrize(
    ("forth", "back"),
    [
        ("-- +goose Up\n", "-- +goose Down\n-- +goose StatementBegin\n"),
        ("-- +migrate Up\n", "-- +migrate Down\n"),
        ("-- migrate:up\n", "-- migrate:down\n"),
    ],
)
def test_a_migration_in_sql_may_have_its_way_back_in_the_same_file(forth: str, back: str) -> None:
    path = "migrations/1.sql"

    assert judged({path: forth + MAKE + back + DROP}) == ("Passed", "")
    assert judged({path: forth + MAKE + back})[0] == "Failed"
    assert judged({path: forth + MAKE})[0] == "Failed"


def test_a_changeset_of_liquibase_says_how_it_is_rolled_back() -> None:
    changeset = "--liquibase formatted sql\n--changeset a:1\n" + MAKE

    assert judged({"migrations/1.sql": changeset + "--rollback DROP TABLE t;\n"})[0] == "Passed"
    assert judged({"migrations/1.sql": changeset})[0] == "Failed"


def test_other_sql_is_no_migration() -> None:
    assert judged({"queries/all.sql": MAKE, "schema.sql": MAKE}) == ("Passed", "")


@pytest.mark.parametrize(
    "unit",
    ["def downgrade():\n", "def upgrade(", '"""', "'''", "\\", "--", "-- +goose up\n", " ", "/**/"],
)
def test_no_text_takes_long(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    start = time.process_time()
    judged({"v/b.py": HEAD + UP + text, "migrations/1.sql": MAKE + text})
    assert time.process_time() - start < 5
