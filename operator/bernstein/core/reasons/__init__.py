"""What each failure means: is it tried again, does it cost an attempt, what helps.

One table for every reason that a pod, a check or a merge can end with. Reasons are stable: they
stand in conditions, metrics and scripts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bernstein.api.reasons import Reason
from bernstein.api.waiting import WaitScope
from bernstein.core.reasons.choices import OF_CHOICES
from bernstein.core.reasons.forges import OF_FORGES
from bernstein.core.reasons.row import Policy, Retry
from bernstein.core.reasons.work import OF_WORK

_REJECTED = "Read the verdict; apply the work anew, with a clearer step."
"""Shown when no retry is left; until then it is the next attempt that is told."""

POLICIES: Final[Mapping[str, Policy]] = {
    **OF_FORGES,
    Reason.SECRET_NOT_FOUND: Policy(
        Retry.SOON,
        False,
        "Create the Secret (or the key in it) or correct the Project's field.",
        names_object=True,
        holds=WaitScope.AGENT,
    ),
    Reason.CONFIG_MAP_NOT_FOUND: Policy(
        Retry.SOON,
        False,
        "Create the ConfigMap (or the key in it) or correct the Project's field.",
        names_object=True,
        holds=WaitScope.AGENT,
    ),
    Reason.IMAGE_PULL_FAILED: Policy(
        Retry.SOON,
        False,
        "Correct the image's name in the Project, or add an image pull secret.",
        names_object=True,
        holds=WaitScope.AGENT,
    ),
    Reason.IMAGE_UNUSABLE: Policy(
        Retry.SOON,
        False,
        "Use an image that can run as a non-root user under the restricted profile.",
        names_object=True,
        holds=WaitScope.AGENT,
    ),
    Reason.REPOSITORY_UNREACHABLE: Policy(
        Retry.PROBE,
        False,
        "Check the repository's url and CA in the Project, and that pods may reach it "
        "(network.git, where its address is a private one, too; of agents, in a namespace that "
        "denies everything, network.agents) and the cluster's DNS (dns.peers of the chart).",
        holds=WaitScope.REPOSITORY,
    ),
    Reason.REPOSITORY_AUTH_FAILED: Policy(
        Retry.PROBE,
        False,
        "Check the url, and user name and password, or the SSH key, in the Secret that the "
        "Project names.",
        holds=WaitScope.REPOSITORY,
    ),
    Reason.HOST_KEY_UNTRUSTED: Policy(
        Retry.PROBE,
        False,
        "Ask whoever runs the git server for its host keys, and put them under known_hosts in the "
        "Secret that the Project names.",
        holds=WaitScope.REPOSITORY,
    ),
    Reason.REPOSITORY_INVALID: Policy(
        Retry.PROBE,
        False,
        "Run `git fsck` on the git server: its objects do not pass the checks.",
        holds=WaitScope.PLAN,
    ),
    Reason.REF_NOT_FOUND: Policy(
        Retry.PROBE, False, "Check the repository's branch in the Project.", holds=WaitScope.PLAN
    ),
    Reason.REF_MOVED: Policy(
        Retry.BACK_OFF,
        False,
        "Let nobody else push to refs/bernstein/.",
        capped=True,
        not_landed=True,
    ),
    Reason.INTEGRATION_MOVED: Policy(
        Retry.PROBE,
        False,
        "Put the ref back to the commit that landed last, and let nobody else push to "
        "refs/bernstein/.",
        holds=WaitScope.PLAN,
    ),
    Reason.INTEGRATION_EXISTS: Policy(
        Retry.PROBE,
        False,
        "Delete that ref on the git server, and let nobody else push to refs/bernstein/.",
    ),
    Reason.UNKNOWN_LANDING: Policy(
        Retry.NEVER,
        False,
        "Cancel the Plan and apply what is left of it under a new name; find out who pushes to "
        "refs/bernstein/ or rewrites statuses.",
    ),
    Reason.UNSCHEDULABLE: Policy(
        Retry.PROBE,
        False,
        "Add nodes that pods.nodeSelector and pods.tolerations of the Project allow, or lower the "
        "resources in it.",
        holds=WaitScope.AGENT,
    ),
    Reason.POD_REJECTED: Policy(
        Retry.SOON,
        False,
        "Look at quota and admission policies of the namespace.",
        holds=WaitScope.AGENT,
        unconfirmed=True,
    ),
    Reason.MODEL_AUTH_FAILED: Policy(
        Retry.PROBE,
        False,
        "Check the model key in the Secret that the agent's apiKey names.",
        holds=WaitScope.PROVIDER,
        unconfirmed=True,
    ),
    Reason.NO_PRICING: Policy(
        Retry.PROBE, False, "Add the model's price to budget.prices, or set onUnpriced: allow."
    ),
    Reason.TOKENS_NOT_REPORTED: Policy(
        Retry.NEVER,
        False,
        "Take the budget out of the Plan, set onUnpriced: allow in the Project, or apply the step "
        "anew with an agent that tells its tokens.",
    ),
    Reason.DISRUPTED: Policy(Retry.AT_ONCE, False, "", capped=True, keeps_work=True),
    Reason.POD_LOST: Policy(Retry.AT_ONCE, False, "", capped=True, keeps_work=True),
    Reason.TERMINATED: Policy(Retry.AT_ONCE, False, "", capped=True),
    Reason.INFRASTRUCTURE_ERROR: Policy(
        Retry.BACK_OFF,
        False,
        "Look at the pod's log; the operator tries again.",
        capped=True,
        passes=True,
    ),
    Reason.RATE_LIMITED: Policy(
        Retry.LATER,
        False,
        "Wait for the time it names, or lower limits.maxAgents.",
        capped=True,
        passes=True,
        holds=WaitScope.PROVIDER,
        unconfirmed=True,
    ),
    Reason.USAGE_LIMITED: Policy(
        Retry.LATER,
        False,
        "Wait for the provider's limit to reset, or raise it.",
        capped=True,
        passes=True,
        holds=WaitScope.PROVIDER,
        unconfirmed=True,
    ),
    Reason.PROVIDER_UNAVAILABLE: Policy(
        Retry.BACK_OFF,
        False,
        "Look at the provider's status page.",
        capped=True,
        passes=True,
        holds=WaitScope.PROVIDER,
        unconfirmed=True,
    ),
    Reason.AGENT_OUT_OF_MEMORY: Policy(
        Retry.AT_ONCE, True, "Raise resources.memory of the agent in the Project."
    ),
    Reason.AGENT_DISK_FULL: Policy(
        Retry.AT_ONCE, True, "Raise resources.ephemeralStorage of the agent in the Project."
    ),
    **OF_WORK,
    Reason.AGENT_FAILED: Policy(
        Retry.AT_ONCE, True, "Read the agent's message; make the step clearer."
    ),
    Reason.AGENT_NOT_STARTED: Policy(
        Retry.PROBE,
        False,
        "Correct the agent's image or command in the Project.",
        holds=WaitScope.AGENT,
        unconfirmed=True,
    ),
    Reason.SETUP_FAILED: Policy(
        Retry.BACK_OFF,
        False,
        "Correct setup in the Project: its command, timeoutSeconds, and what it may reach "
        "(network.agents, network.checks).",
        capped=True,
        holds=WaitScope.AGENT,
        unconfirmed=True,
    ),
    Reason.NO_FINAL_RECORD: Policy(
        Retry.AT_ONCE, True, "Look at `bernstein logs` for how the agent ended."
    ),
    Reason.MAX_TURNS: Policy(Retry.AT_ONCE, True, "Split the step."),
    Reason.REFUSED: Policy(Retry.AT_ONCE, True, "Reword the step."),
    Reason.EMPTY_DIFF: Policy(
        Retry.AT_ONCE,
        True,
        "If the step is to change nothing, say `changes: none`; where its files are ignored, "
        "change the .gitignore.",
    ),
    Reason.UNEXPECTED_CHANGES: Policy(
        Retry.AT_ONCE, True, "The step says `changes: none`; drop that, or have it change nothing."
    ),
    Reason.SIGNAL_FAILED: Policy(Retry.AT_ONCE, True, _REJECTED),
    Reason.GATE_FAILED: Policy(Retry.AT_ONCE, True, _REJECTED),
    Reason.SCOPE_VIOLATION: Policy(
        Retry.AT_ONCE,
        True,
        "Declare the file in a new step, only add to what appendOnly names, or have Project and "
        "Plan say fileScope: Warn.",
    ),
    Reason.TESTS_WEAKENED: Policy(
        Retry.AT_ONCE, True, "Keep tests, or have neither Project nor Plan say protectTests."
    ),
    Reason.REVIEW_REJECTED: Policy(Retry.AT_ONCE, True, _REJECTED),
    Reason.BASE_FAILS: Policy(
        Retry.NEVER,
        False,
        "Mend what the gate finds on the branch: then `bernstein retry TASK` judges the same work "
        "there, and what is part of a Plan is applied anew. Or set gates.allowBaseFailures in the "
        "Project, or required: false for the gate; give a gate that is not done in time there more "
        "timeoutSeconds.",
    ),
    Reason.GATE_ERRORED: Policy(
        Retry.BACK_OFF,
        False,
        "Check the command and image of the check, in the Project or in the step.",
    ),
    Reason.TOOL_MISSING: Policy(
        Retry.PROBE, False, "Install the command in the image, or name another one in the Project."
    ),
    Reason.TIMEOUT: Policy(
        Retry.AT_ONCE, True, "Raise the scope's limit, or split the step.", keeps_work=True
    ),
    Reason.STALLED: Policy(
        Retry.AT_ONCE, True, "Raise limits.stallSeconds where agents work in silence for longer."
    ),
    Reason.HEARTBEAT_LOST: Policy(Retry.AT_ONCE, True, "", keeps_work=True),
    Reason.MERGE_CONFLICT: Policy(
        Retry.MERGE_ALONE,
        False,
        "Bring the named files on the branch to where they merge, or cancel and plan it again.",
    ),
    Reason.CREDENTIAL_REFUSED: Policy(
        Retry.PROBE,
        False,
        "Let the account push: work to refs/bernstein/, deliver to the branch. If its login is "
        "refused, mend its Secret.",
        not_landed=True,
    ),
    Reason.BRANCH_PROTECTED: Policy(
        Retry.PROBE, False, "Let the deliver account push to the protected branch.", not_landed=True
    ),
    Reason.BRANCH_TAKEN: Policy(
        Retry.PROBE,
        False,
        "Delete the branch that is in the way on the git server, or rename it.",
        not_landed=True,
    ),
    Reason.PULL_REQUEST_CLOSED: Policy(
        Retry.NEVER,
        False,
        "Put its branch where it was verified, if it is not there any more, and reopen it; or "
        "cancel the Plan or Task.",
    ),
    Reason.PULL_REQUEST_CHANGED: Policy(
        Retry.NEVER,
        False,
        "Push what was verified to its branch again, or cancel the Plan or Task.",
    ),
    Reason.PULL_REQUEST_MISSING: Policy(
        Retry.NEVER,
        False,
        "Let the token's account see the repository, or cancel the Plan or Task.",
    ),
    Reason.FORGE_GONE: Policy(
        Retry.NEVER,
        False,
        "Name the forge of the repository in the Project, or cancel the Plan or Task.",
    ),
    Reason.PUSH_REJECTED: Policy(
        Retry.PROBE, False, "Read the git server's message.", not_landed=True
    ),
    Reason.SIGNING_KEY_INVALID: Policy(
        Retry.PROBE,
        False,
        "Put a key made by `ssh-keygen -t ed25519 -N ''` into the Secret that the Project's "
        "merge.signing.key names, with its own .pub where publicKey names one.",
        not_landed=True,
    ),
    Reason.ATTESTATION_KEY_INVALID: Policy(
        Retry.PROBE,
        False,
        "Put a key made by `openssl genpkey -algorithm ed25519` into the Secret that the Project's "
        "attestation.key names, with its own public half where publicKey names one.",
        not_landed=True,
    ),
    Reason.ATTESTATION_REFUSED: Policy(
        Retry.PROBE,
        False,
        "Let the deliver account push to refs/bernstein/attestations/, and delete refs that stand "
        "in the way there.",
        not_landed=True,
    ),
    Reason.TREE_MISMATCH: Policy(
        Retry.PROBE,
        False,
        "Find out who rewrites refs/bernstein/: it holds an unverified tree.",
        not_landed=True,
    ),
    Reason.VERIFICATION_MISSING: Policy(
        Retry.NEVER, False, "Find out who rewrites statuses of Tasks; apply the Plan again."
    ),
    Reason.NOT_ON_BASE: Policy(
        Retry.PROBE,
        False,
        "Find out who rewrites refs/bernstein/ or the branch's history.",
        not_landed=True,
    ),
    Reason.BLOCKED: Policy(
        Retry.UNBLOCKED,
        False,
        "See to that, then: `bernstein unblock TASK --reason WHY`.",
        keeps_work=True,
    ),
    Reason.BLOCK_REFUSED: Policy(Retry.AT_ONCE, True, "See to what it waits for; reword the step."),
    Reason.UNCLAIMED: Policy(Retry.AT_ONCE, False, "", keeps_work=True),
    Reason.KILLED: Policy(Retry.AT_ONCE, False, "", keeps_work=True),
    Reason.CANCELLED: Policy(Retry.NEVER, False, ""),
    Reason.REJECTED: Policy(Retry.AT_ONCE, True, _REJECTED),
    Reason.APPROVAL_EXPIRED: Policy(
        Retry.NEVER, False, "Apply the work anew under another name, and decide in time."
    ),
    Reason.AUTHOR_MISSING: Policy(
        Retry.NEVER,
        False,
        "Whoever stands for it writes his own name into spec.author of the Plan, or of the Task "
        "without one; then another person may decide.",
    ),
    Reason.APPROVAL_REFUSED: Policy(
        Retry.PROBE,
        False,
        "Give the operator's account the rights of the chart, and look at quota, admission "
        "policies and webhooks of the namespace.",
    ),
    Reason.NAME_CONFLICT: Policy(
        Retry.PROBE, False, "Delete or rename what has the name, or use another name here."
    ),
    Reason.WRITE_REFUSED: Policy(
        Retry.PROBE,
        False,
        "Give the operator's account the rights of the chart, and keep admission policies and "
        "webhooks of others from its objects.",
    ),
    Reason.DELETION_HELD: Policy(
        Retry.NEVER,
        False,
        "Take away what holds the object: the finalizer, or, of a Job, the object of others that "
        "names it in its ownerReferences with blockOwnerDeletion.",
    ),
    Reason.PLAN_INVALID: Policy(Retry.NEVER, False, "Correct the plan and apply it again."),
    Reason.BUDGET_EXCEEDED: Policy(
        Retry.NEVER,
        False,
        "Raise `budget` in the plan file and run it again: `bernstein run FILE`; or in the Plan: "
        "`kubectl edit bplan NAME`. Where the message names it, raise limits.modelsUsdPerTask of "
        "the Project.",
    ),
    Reason.PROJECT_NOT_FOUND: Policy(
        Retry.NEVER, False, "Create the Project in this namespace, or name it in projectRef."
    ),
    Reason.PROJECT_GONE: Policy(
        Retry.NEVER,
        False,
        "Cancel the Plan or Task, or delete it and apply it again: what has begun goes on under no "
        "other Project.",
    ),
    Reason.PROJECT_NOT_READY: Policy(
        Retry.NEVER, False, "Put right what the Project's condition Ready tells of."
    ),
    Reason.NETWORK_POLICY_REFUSED: Policy(
        Retry.PROBE,
        False,
        "Correct the Project's network, give the operator rights on networkpolicies, or set "
        "network.policy: Unmanaged.",
    ),
    Reason.REPOSITORY_NOT_FOUND: Policy(
        Retry.NEVER, False, "Name one of the Project's repositories, or add it there."
    ),
    **OF_CHOICES,
    Reason.NO_MODEL: Policy(
        Retry.NEVER, False, "Add a model with its key to models of the Project."
    ),
    Reason.NO_REVIEWER: Policy(
        Retry.NEVER,
        False,
        "Name models of other makers in gates.crossModel.reviewers of the Project, each in models "
        "by a name that says whose it is; and the model of the agent by such a name, in its "
        "models or in the step.",
    ),
    Reason.OPERATOR_TOO_OLD: Policy(
        Retry.NEVER,
        False,
        "Run the version of the operator that the CRDs are from, or use what this one knows.",
    ),
    Reason.INVALID_PATTERN: Policy(
        Retry.NEVER, False, "Correct the pattern and apply the work anew, under another name."
    ),
    Reason.PLAN_GONE: Policy(
        Retry.NEVER, False, "Delete the Task; apply its Plan again under a new name."
    ),
    Reason.PLAN_ENDED: Policy(
        Retry.NEVER, False, "Apply the work that is left anew, as a Plan of its own."
    ),
    Reason.TASK_FAILED: Policy(
        Retry.NEVER,
        False,
        "Read the failed Tasks' messages, then give them another round (`bernstein retry PLAN`), "
        "or apply a Plan with what is left.",
    ),
    Reason.DEPENDENCY_FAILED: Policy(
        Retry.NEVER,
        False,
        "Give what has failed another round (`bernstein retry`), or apply the work that is left "
        "anew, under another name.",
    ),
}

_UNKNOWN = POLICIES[Reason.INFRASTRUCTURE_ERROR]


def policy(reason: str) -> Policy:
    """The row of the table; a reason that it does not know is an error of the infrastructure."""
    return POLICIES.get(reason, _UNKNOWN)
