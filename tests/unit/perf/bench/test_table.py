"""One table, as text and as data, with every run."""

from __future__ import annotations

import json

import pytest

from tests.perf.bench.table import (
    Row,
    Table,
    apart,
    as_data,
    as_markdown,
    as_text,
    number,
    ratio,
    span,
)


def example() -> Table:
    table = Table("Rates", ["Tasks", "bare Jobs"])
    table.add("rate", "1/s", {"Tasks": (2.0, 2.4), "bare Jobs": (4.0, 4.0)})
    table.add("operator's CPU", "ms", {"Tasks": (28.31, 29.04)})
    return table


def test_columns_stand_below_each_other_and_runs_beside_each_other() -> None:
    assert as_text([example()], {"cores": 2}).splitlines() == [
        "cores: 2",
        "",
        "Rates",
        "                               unit     Tasks  bare Jobs",
        "rate                           1/s     2..2.4          4",
        "operator's CPU                 ms    28.3..29",
        "runs lie apart, in the median  %           10          0",
    ]


def test_a_page_gets_rows_of_markdown_with_their_goals() -> None:
    def goals(_: Table, row: Row) -> str:
        return "at least 3: MISSED" if row.what == "rate" else ""

    assert as_markdown([example()], {"cores": 2, "load": 0.1}, goals).splitlines() == [
        "cores 2, load 0.1",
        "",
        "| Rates | unit | Tasks | bare Jobs | Goal |",
        "| --- | --- | --- | --- | --- |",
        "| rate | 1/s | 2\N{EN DASH}2.4 | 4 | at least 3: MISSED |",
        "| operator's CPU | ms | 28.3\N{EN DASH}29 | - | - |",
        "| runs lie apart, in the median | % | 10 | 0 | - |",
    ]


def test_a_table_without_goals_has_no_column_for_them() -> None:
    lines = as_markdown([example()], {}, lambda *_: "").splitlines()

    assert lines[2] == "| Rates | unit | Tasks | bare Jobs |"


def test_one_run_has_no_noise() -> None:
    table = Table("Rates", ["Tasks"])
    table.add("rate", "1/s", {"Tasks": (2.0,)})

    assert len(as_text([table], {}).splitlines()) == 4


def test_programs_get_every_run_and_the_machine() -> None:
    data = json.loads(json.dumps(as_data([example()], {"cores": 2})))

    assert data["machine"] == {"cores": 2}
    (table,) = data["tables"]
    assert table["rows"][0]["runs"] == {"Tasks": [2.0, 2.4], "bare Jobs": [4.0, 4.0]}
    assert table["rows"][1] == {
        "what": "operator's CPU",
        "unit": "ms",
        "runs": {"Tasks": [28.31, 29.04]},
    }


def test_a_row_has_only_columns_of_its_table() -> None:
    with pytest.raises(KeyError, match="rare Jobs"):
        example().add("rate", "1/s", {"rare Jobs": (1.0,)})


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *[(0, "0"), (0.01234, "0.0123"), (0.5, "0.5"), (1.234, "1.23"), (12.34, "12.3")],
        *[(100.4, "100"), (1234.5, "1,234"), (-2.5, "-2.5"), (40, "40")],
    ],
)
def test_three_digits_count(value: float, text: str) -> None:
    assert number(value) == text


def test_runs_that_look_the_same_are_one_number() -> None:
    assert (span((2.001, 2.002)), span((3.0, 1.0)), span(())) == ("2", "1..3", "-")


def test_noise_is_how_far_runs_lie_apart() -> None:
    assert apart((9.0, 11.0)) == pytest.approx(0.2)
    assert (apart((1.0,)), apart((0.0, 0.0)), apart(())) == (None, None, None)
    assert example().noise() == pytest.approx(apart((28.31, 29.04)) or 0)
    assert example().noise("bare Jobs") == 0
    assert Table("Nothing", []).noise() is None


def test_ratios_go_run_by_run() -> None:
    assert ratio((2.0, 3.0), (4.0, 4.0)) == (0.5, 0.75)
    assert ratio((2.0,), (0.0,)) == ()
