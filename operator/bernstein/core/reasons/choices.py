"""What follows where a step asks for what there is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bernstein.api.reasons import Reason
from bernstein.core.reasons.row import Policy, Retry

OF_CHOICES: Final[Mapping[str, Policy]] = {
    Reason.AGENT_NOT_FOUND: Policy(Retry.NEVER, False, "Choose one of the Project's agents."),
    Reason.MODEL_NOT_FOUND: Policy(
        Retry.NEVER,
        False,
        "Choose one of these, or add the model to an agent's models or to budget.prices of the "
        "Project.",
    ),
    Reason.ROLE_NOT_FOUND: Policy(
        Retry.NEVER,
        False,
        "Apply an AgentRole of this name, or choose another role: `bernstein roles list`.",
    ),
    Reason.ROLE_INVALID: Policy(
        Retry.NEVER, False, "Correct the AgentRole as its condition Validated says."
    ),
}
