"""What faults in code came to, in two trees, as a verdict."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.checks.findings import NoListing
from bernstein.checks.outputs.mutants import Report, judged, report


def read(said: Any) -> Report:
    return report(json.dumps(said).encode())


def faults(noticed: int, survived: int) -> list[dict[str, Any]]:
    ends = ["noticed"] * noticed + ["survived"] * survived
    return [
        {"path": "a.py", "line": n, "what": f"{n}  =>\n x", "end": end}
        for n, end in enumerate(ends, start=1)
    ]


USABLE = read({"slow": False})
HALF = 0.5


@pytest.mark.parametrize(("noticed", "survived", "word"), [(1, 1, "Passed"), (2, 3, "Failed")])
def test_the_share_decides(noticed: int, survived: int, word: str) -> None:
    found = judged(read({"faults": faults(noticed, survived)}), USABLE, HALF)

    assert found[0] == word


def test_what_was_not_noticed_is_told_in_one_line_each() -> None:
    _, reason, text = judged(read({"faults": faults(0, 1)}), USABLE, HALF)

    assert reason == "TestsTooWeak"
    assert text == "0 of 1 faults are noticed, which is less than 0.5. Not noticed:\na.py:1 1 => x"


def test_without_anything_to_put_a_fault_into_it_has_passed() -> None:
    assert judged(read({"faults": []}), None, HALF)[0] == "Passed"


def test_enough_faults_in_too_little_time_count_and_too_few_do_not() -> None:
    enough = read({"faults": faults(5, 0), "left": 25})
    few = read({"faults": faults(4, 0), "left": 26})

    assert judged(enough, USABLE, HALF)[0] == "Passed"
    assert judged(few, USABLE, HALF)[:2] == ("TimedOut", "Timeout")
    assert judged(few, read({"slow": True}), HALF)[:2] == ("Skipped", "Timeout")


def test_few_faults_that_were_all_tried_count() -> None:
    assert judged(read({"faults": faults(2, 0), "left": 0}), USABLE, HALF)[0] == "Passed"


@pytest.mark.parametrize(
    ("said", "verdict"),
    [({"fails": 1}, ("Failed", "ExitCode")), ({"late": True}, ("TimedOut", "Timeout"))],
)
def test_tests_that_cannot_be_used_are_the_works_fault_where_those_of_the_base_can(
    said: dict[str, Any], verdict: tuple[str, str]
) -> None:
    assert judged(read(said), USABLE, HALF)[:2] == verdict
    assert judged(read(said), read({"fails": 2}), HALF)[:2] == ("Skipped", "BaseFails")
    assert judged(read(said), read({"late": True}), HALF)[:2] == ("Skipped", "Timeout")
    assert judged(read(said), None, HALF)[:2] == ("Skipped", "BaseFails")


@pytest.mark.parametrize("said", [{"nothing": True}, {"much": True}])
def test_tests_without_code_and_changes_without_end_fail(said: dict[str, Any]) -> None:
    assert judged(read(said), USABLE, HALF)[:2] == ("Failed", "TestsTooWeak")


@pytest.mark.parametrize(
    "said",
    [
        {"faults": [{}]},
        {"faults": 3},
        {"faults": [], "left": "x"},
        {"faults": [], "left": -1},
        {"faults": faults(100, 0)},
        {"fails": []},
    ],
)
def test_what_is_no_report_is_none(said: dict[str, Any]) -> None:
    with pytest.raises(NoListing):
        read(said)
