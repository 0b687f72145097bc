"""The page of Tasks has a row for every reason to wait, and for every state that is in use."""

from __future__ import annotations

from bernstein.api.reasons import Reason
from bernstein.api.states import TaskState
from bernstein.api.waiting import WaitReason
from tests.unit.docs.pages import REFERENCE, section, table

PAGE = REFERENCE / "task.md"
UNUSED = {
    TaskState.PLANNED,
    TaskState.WAITING_FOR_SUBTASKS,
    TaskState.PENDING_APPROVAL,
}


def test_every_reason_to_wait_has_its_row() -> None:
    *listed, rest = [cells[0] for cells in table(PAGE, "Why it waits")]

    # Of those that a person must mend only the one that is no cause of its own.
    assert sorted(listed) == sorted({*WaitReason, Reason.DEPENDENCY_FAILED})
    assert rest == "any reason of [errors](errors.md)"


def test_every_state_has_its_row_or_is_said_to_be_unused() -> None:
    listed = {cells[0] for cells in table(PAGE, "States")}

    assert listed == {*TaskState} - UNUSED
    for state in UNUSED:
        assert state in section(PAGE, "States").splitlines()[-2]
