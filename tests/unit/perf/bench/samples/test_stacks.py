"""What stacks are at work for."""

from __future__ import annotations

from tests.perf.bench.samples.stacks import Stack, Work, by_package, by_work, work_of

WORKS = (Work("asking", (r"^job:", r"^http:")), Work("jobs", (r"^job:",)))
ASKS = Stack(30, ("json:write", "http:send", "job:do", "loop:run"))
DOES = Stack(10, ("job:do", "loop:run"))
LOOP = Stack(5, ("loop:run",))


def test_a_stack_is_of_the_first_work_of_which_it_has_all_functions() -> None:
    assert [work_of(stack, WORKS) for stack in (ASKS, DOES, LOOP)] == ["asking", "jobs", "the rest"]


def test_each_work_is_told_for_one_piece_with_all_runs() -> None:
    rows = by_work("CPU", {"Tasks": [[ASKS, DOES, LOOP], [DOES, DOES]]}, WORKS, 10).rows

    assert [(row.what, row.cells["Tasks"]) for row in rows] == [
        ("asking", (3.0, 0.0)),
        ("jobs", (1.0, 2.0)),
        ("the rest", (0.5, 0.0)),
        ("all", (4.5, 2.0)),
    ]


def test_of_two_columns_it_is_told_what_the_first_has_beyond_the_second() -> None:
    rows = by_work("CPU", {"Tasks": [[ASKS, DOES]], "bare": [[DOES, LOOP]]}, WORKS, 10).rows

    assert {row.what: row.cells["more"] for row in rows} == {
        "asking": (3.0,),
        "jobs": (0.0,),
        "the rest": (-0.5,),
        "all": (2.5,),
    }


def test_packages_are_those_of_the_innermost_functions_the_dearest_first() -> None:
    found = {"Tasks": [[DOES, ASKS, LOOP]], "bare": [[LOOP]]}

    rows = by_package("CPU", found, lambda name: name.partition(":")[0], 5).rows

    assert [(row.what, row.cells["Tasks"]) for row in rows] == [
        ("json", (6.0,)),
        ("job", (2.0,)),
        ("loop", (1.0,)),
    ]
