"""Both examples of every gate are judged by the program that judges work in a pod."""

from __future__ import annotations

from collections import Counter

from bernstein.checks import gates
from tests.programs import test_checks_that_execute as executed
from tests.programs.pods.programs import test_gates_that_read as read
from tests.programs.pods.programs import test_judge_of_gates as asked
from tests.programs.pods.programs.formatting import test_formatted_work as formatted

SHOWN_BY = (
    executed.test_it_passes_and_fails,
    executed.test_a_written_test_passes_what_is_right_and_fails_what_is_not,
    read.test_it_accepts_and_rejects,
    asked.test_it_accepts_and_rejects,
    formatted.test_of_its_examples_one_is_formatted_and_one_is_left_as_it_is,
)
"""Each takes both examples of the gates that it is told."""


def test_the_examples_of_each_gate_are_judged_by_one_test() -> None:
    told = [
        name
        for test in SHOWN_BY
        for mark in getattr(test, "pytestmark", ())
        if mark.name == "parametrize"
        for name in mark.args[1]
    ]

    shown = Counter(name for name in told if name in gates.names())

    assert shown == Counter(gates.names())
