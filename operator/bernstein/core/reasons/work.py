"""What follows where the work that an agent has left cannot be taken, or a workflow's has come to
nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bernstein.api.reasons import Reason
from bernstein.core.reasons.row import Policy, Retry

OF_WORK: Final[Mapping[str, Policy]] = {
    Reason.SNAPSHOT_TOO_LARGE: Policy(
        Retry.AT_ONCE, True, "Keep large or generated files out of the tree (.gitignore)."
    ),
    Reason.OUTSIDE_CHECKOUT: Policy(
        Retry.AT_ONCE,
        True,
        "Name the folder in checkout.folders of the Project's repository, or keep what the work "
        "makes out of it.",
    ),
    Reason.DOCUMENT_REFUSED: Policy(
        Retry.AT_ONCE, True, "Read why; say in the step what it holds."
    ),
    Reason.PLAN_FILE_INVALID: Policy(
        Retry.AT_ONCE,
        True,
        "Read the problems; say in the description what the plan must, or must not, hold.",
    ),
    Reason.SECRET_FOUND: Policy(
        Retry.AT_ONCE,
        True,
        "Keep secrets out of what is committed; let made-up ones begin with FAKE or EXAMPLE, and "
        "commit a key that a test needs to the branch yourself. "
        "Replace a secret that was real: an agent has had it.",
    ),
    Reason.RETRY_EXHAUSTED: Policy(
        Retry.NEVER,
        False,
        "Read what its last runs were rejected for, then apply a workflow with more runs or other "
        "work, under another name; or give what has failed another round, without a repair "
        "(`bernstein retry PLAN`).",
    ),
    Reason.SUBTASKS_INVALID: Policy(
        Retry.AT_ONCE, True, "Read why; say in the step how it can be split, or split it yourself."
    ),
    Reason.SUBTASKS_STALLED: Policy(
        Retry.UNBLOCKED,
        False,
        "Retry or mend a subtask that failed: its parent goes on with it. One that was deleted or "
        "cancelled does not come back: have the parent done anew without its subtasks "
        "(`bernstein unblock TASK --reason WHY`), or cancel it.",
    ),
}
