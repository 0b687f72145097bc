"""The page of Tasks has a row for every reason to wait, and for every state that is in use; it and
the picture of a Task's life tell every move that is made, and no other."""

from __future__ import annotations

import re

from bernstein.api.reasons import Reason
from bernstein.api.states import TASK_MOVES, TaskState
from bernstein.api.waiting import WaitReason
from tests.unit.core.delivery.test_every_way_to_land import NEVER_MADE
from tests.unit.docs.pages import REFERENCE, ROOT, table

PAGE = REFERENCE / "task.md"
EXPLANATION = ROOT / "docs/explanation/verified-not-exited.md"
MOVES = {(a, b) for a, to in TASK_MOVES.items() for b in to} - NEVER_MADE


def test_every_reason_to_wait_has_its_row() -> None:
    *listed, rest = [cells[0] for cells in table(PAGE, "Why it waits")]

    # Of those that a person must mend only the one that is no cause of its own.
    assert sorted(listed) == sorted({*WaitReason, Reason.DEPENDENCY_FAILED})
    assert rest == "any reason of [errors](errors.md)"


def test_every_state_has_its_row() -> None:
    listed = {cells[0] for cells in table(PAGE, "States")}

    assert listed == {*TaskState}


def test_the_moves_of_every_state_are_those_that_are_made() -> None:
    listed = {(a, b) for a, _, to in table(PAGE, "States") for b in to.split(", ") if b}

    assert listed == MOVES


def test_the_picture_shows_every_move_of_a_task_that_works() -> None:
    shown = {*re.findall(r"^  (\w+) --> (\w+):", EXPLANATION.read_text(), re.MULTILINE)}

    not_shown = {TaskState.PLANNED, TaskState.CANCELLED}
    assert shown == {(a, b) for a, b in MOVES if not {a, b} & not_shown}
