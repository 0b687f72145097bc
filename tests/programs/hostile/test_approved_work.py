"""Other work under the name of what a person has approved: nobody has seen what would land.

It is first seen to land where an approval is bound to nothing.
"""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.approvals import results
from tests.unit.core.objects import sha
from tests.unit.core.tasks.test_pending import approved, done, look

pytestmark = pytest.mark.verification

OTHERS = {
    "work": {"sha": sha(5)},
    "base": {"base": sha(6)},
    "verdicts": {"digest": "e" * 64},
}


def with_approval_of(before: TaskStatus, **verified: Any) -> TaskStatus:
    """The status of other work that was verified, and of which the approval is that of `before`."""
    return done(**verified).model_copy(update={"approval": before.approval})


def any_yes(asked: Any, _question: object) -> bool:
    return asked is not None and asked.decision == "Approve"


@pytest.mark.parametrize("other", OTHERS)
def test_no_other_work_base_or_verdicts_land_by_an_approval(
    other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in = with_approval_of(approved(), **OTHERS[other])

    with monkeypatch.context() as taken:
        taken.setattr(results, "is_approved", any_yes)
        found = look(put_in).status
        assert found.state is TaskState.DONE, "it goes on to land, and nobody has seen it"

    found = look(put_in).status
    assert found.state is TaskState.PENDING_APPROVAL
    assert found.approval is not None
    assert found.approval.decision is None, "it is asked about anew"
