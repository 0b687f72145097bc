"""Who decides about a Plan that an agent wrote."""

from __future__ import annotations

from tests.unit.core.plans.test_approval import look, new


def test_who_decides_is_told_that_an_agent_wrote_it_and_of_which_task() -> None:
    decision = look(new(), written_by="goal")

    assert decision.status.approval is not None
    assert decision.status.approval.because == ("an agent wrote it, that of Task 'goal'",)
    assert decision.status.waiting is not None
    assert decision.status.waiting.message.endswith("an agent wrote it, that of Task 'goal'")
