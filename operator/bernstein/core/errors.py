"""What each failure means: is it tried again, does it cost an attempt, what helps.

One table for every reason that a pod, a check or a merge can end with. Reasons are stable: they
stand in conditions, metrics and scripts.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

MAX_INFRASTRUCTURE_FAILURES = 5
MAX_GATE_ERRORS = 3
MAX_ROUNDS = 100
"""Of the checks of one piece of work; so many mean that something never settles."""
PROBE_SECONDS = 300
MAX_RETRY_AFTER_SECONDS = 24 * 3600


class Retry(Enum):
    AT_ONCE = "at once"
    BACK_OFF = "after min(30·2ⁿ, 300) s"
    PROBE = "every 5 min, or when a spec changes"
    LATER = "when the provider says"
    MERGE_ALONE = "the merge alone, every 5 min, or when a spec changes"
    NEVER = "never"


@dataclass(frozen=True)
class Policy:
    retry: Retry
    counts: bool
    """Costs one of the Task's attempts."""
    remedy: str
    capped: bool = False
    """Counts to the Task's cap of infrastructure failures."""


POLICIES: Final[dict[str, Policy]] = {
    "SecretNotFound": Policy(
        Retry.PROBE, False, "Create the Secret (or the key in it) or correct the Project's field."
    ),
    "ConfigMapNotFound": Policy(
        Retry.PROBE,
        False,
        "Create the ConfigMap (or the key in it) or correct the Project's field.",
    ),
    "ImagePullFailed": Policy(
        Retry.PROBE, False, "Correct the image's name in the Project, or add an image pull secret."
    ),
    "ImageUnusable": Policy(
        Retry.PROBE,
        False,
        "Use an image that can run as a non-root user under the restricted profile.",
    ),
    "RepositoryUnreachable": Policy(
        Retry.PROBE,
        False,
        "Check the repository's url and CA in the Project, and that pods may reach it "
        "(network.git).",
    ),
    "RepositoryAuthFailed": Policy(
        Retry.PROBE, False, "Check user name and password in the Secret that the Project names."
    ),
    "RepositoryInvalid": Policy(
        Retry.PROBE, False, "Run `git fsck` on the git server: its objects do not pass the checks."
    ),
    "RefNotFound": Policy(Retry.PROBE, False, "Check the repository's branch in the Project."),
    "RefMoved": Policy(
        Retry.BACK_OFF, False, "Let nobody else push to refs/bernstein/.", capped=True
    ),
    "Unschedulable": Policy(
        Retry.PROBE, False, "Add nodes, or lower the resources in the Project."
    ),
    "PodRejected": Policy(
        Retry.PROBE, False, "Look at quota and admission policies of the namespace."
    ),
    "ModelAuthFailed": Policy(
        Retry.PROBE, False, "Check the model key in the Secret that the agent's apiKey names."
    ),
    "NoPricing": Policy(
        Retry.PROBE, False, "Add the model's price to budget.prices, or set onUnpriced: allow."
    ),
    "Disrupted": Policy(Retry.AT_ONCE, False, "", capped=True),
    "PodLost": Policy(Retry.AT_ONCE, False, "", capped=True),
    "Terminated": Policy(Retry.AT_ONCE, False, "", capped=True),
    "InfrastructureError": Policy(
        Retry.BACK_OFF, False, "Look at the pod's log; the operator tries again.", capped=True
    ),
    "RateLimited": Policy(
        Retry.LATER, False, "Wait for the time it names, or lower limits.maxAgents.", capped=True
    ),
    "UsageLimited": Policy(
        Retry.LATER, False, "Wait for the provider's limit to reset, or raise it.", capped=True
    ),
    "ProviderUnavailable": Policy(
        Retry.BACK_OFF, False, "Look at the provider's status page.", capped=True
    ),
    "AgentOutOfMemory": Policy(
        Retry.AT_ONCE, True, "Raise resources.memory of the agent in the Project."
    ),
    "AgentDiskFull": Policy(
        Retry.AT_ONCE, True, "Raise resources.ephemeralStorage of the agent in the Project."
    ),
    "SnapshotTooLarge": Policy(
        Retry.AT_ONCE, True, "Keep large or generated files out of the tree (.gitignore)."
    ),
    "AgentFailed": Policy(Retry.AT_ONCE, True, "Read the agent's message; make the step clearer."),
    "AgentNotStarted": Policy(
        Retry.PROBE, False, "Correct the agent's image or command in the Project."
    ),
    "NoFinalRecord": Policy(
        Retry.AT_ONCE, True, "Look at `bernstein logs` for how the agent ended."
    ),
    "MaxTurns": Policy(Retry.AT_ONCE, True, "Split the step."),
    "Refused": Policy(Retry.AT_ONCE, True, "Reword the step."),
    "EmptyDiff": Policy(
        Retry.AT_ONCE, True, "If the step is to change nothing, say `changes: none`."
    ),
    "UnexpectedChanges": Policy(
        Retry.AT_ONCE, True, "The step says `changes: none`; drop that, or have it change nothing."
    ),
    "SignalFailed": Policy(
        Retry.AT_ONCE, True, "Read the verdict; it is told to the next attempt."
    ),
    "GateFailed": Policy(Retry.AT_ONCE, True, "Read the verdict; it is told to the next attempt."),
    "GateErrored": Policy(
        Retry.BACK_OFF, False, "Check the gate's command and image in the Project."
    ),
    "ToolMissing": Policy(
        Retry.PROBE, False, "Install the command in the image, or name another one in the Project."
    ),
    "Timeout": Policy(Retry.AT_ONCE, True, "Raise the scope's limit, or split the step."),
    "Stalled": Policy(
        Retry.AT_ONCE, True, "Raise limits.stallSeconds where agents work in silence for longer."
    ),
    "HeartbeatLost": Policy(Retry.AT_ONCE, True, ""),
    "MergeConflict": Policy(
        Retry.MERGE_ALONE,
        False,
        "Bring the named files on the branch to where they merge, or cancel and plan it again.",
    ),
    "CredentialRefused": Policy(
        Retry.PROBE, False, "Let the account push: work to refs/bernstein/, deliver to the branch."
    ),
    "BranchProtected": Policy(
        Retry.PROBE, False, "Let the deliver account push to the protected branch."
    ),
    "PushRejected": Policy(Retry.PROBE, False, "Read the git server's message."),
    "TreeMismatch": Policy(
        Retry.PROBE, False, "Find out who rewrites refs/bernstein/: it holds an unverified tree."
    ),
    "VerificationMissing": Policy(
        Retry.NEVER, False, "Find out who rewrites statuses of Tasks; apply the Plan again."
    ),
    "NotOnBase": Policy(
        Retry.PROBE, False, "Find out who rewrites refs/bernstein/ or the branch's history."
    ),
    "Cancelled": Policy(Retry.NEVER, False, ""),
    "NameConflict": Policy(
        Retry.PROBE, False, "Delete or rename what has the name, or use another name here."
    ),
    "PlanInvalid": Policy(Retry.NEVER, False, "Correct the plan and apply it under a new name."),
    "BudgetExceeded": Policy(Retry.NEVER, False, "Raise the Plan's budget."),
    "ProjectNotFound": Policy(
        Retry.NEVER, False, "Create the Project in this namespace, or name it in projectRef."
    ),
    "ProjectNotReady": Policy(
        Retry.NEVER, False, "Put right what the Project's condition Ready tells of."
    ),
    "NetworkPolicyRefused": Policy(
        Retry.PROBE,
        False,
        "Correct the Project's network, give the operator rights on networkpolicies, or set "
        "network.policy: Unmanaged.",
    ),
    "AgentNotFound": Policy(Retry.NEVER, False, "Choose one of the Project's agents."),
    "PlanGone": Policy(
        Retry.NEVER, False, "Delete the Task; apply its Plan again under a new name."
    ),
    "TaskFailed": Policy(
        Retry.NEVER, False, "Read the failed Tasks' messages, then apply a Plan with what is left."
    ),
    "DependencyFailed": Policy(Retry.NEVER, False, "Apply a Plan with the work that is left."),
}

_UNKNOWN = Policy(
    Retry.BACK_OFF, False, "Look at the pod's log; the operator tries again.", capped=True
)


def policy(reason: str) -> Policy:
    """The row of the table; a reason that it does not know is treated as infrastructure."""
    return POLICIES.get(reason, _UNKNOWN)


def back_off_seconds(failures: int) -> int:
    """min(30·2ⁿ, 300) for the n-th failure in a row (n from 0)."""
    return int(min(30 * 2 ** min(failures, 8), PROBE_SECONDS))
