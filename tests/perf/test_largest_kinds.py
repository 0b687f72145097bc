"""The loop is measured with the largest legal object of every kind that there is."""

from __future__ import annotations

from bernstein.crds.kinds import KINDS
from tests.perf import test_largest_approval as approvals
from tests.perf import test_largest_objects as plans
from tests.perf import test_largest_session as sessions
from tests.perf import test_largest_sets as sets

MEASURED = {
    "AgentSession": sessions.test_no_step_of_the_largest_session_takes_the_loop_200_ms,
    "Approval": approvals.test_no_step_of_the_largest_approval_takes_the_loop_200_ms,
    "Plan": plans.test_no_step_of_the_largest_plans_takes_the_loop_200_ms,
    "Project": sets.LARGEST["Project"].project,
    "Task": sets.LARGEST["texts"].spec,
}
"""Where each is made largest; a kind that is new is measured nowhere yet."""


def test_the_largest_legal_object_of_every_kind_is_measured() -> None:
    assert MEASURED.keys() == {kind.name for kind in KINDS}
