"""The table of failures: what follows from each, and what helps."""

from __future__ import annotations

import pytest

from bernstein.core import errors
from bernstein.core.errors import POLICIES, Retry, back_off_seconds, policy

TABLE = {
    "SecretNotFound": (Retry.PROBE, False, "Secret"),
    "ConfigMapNotFound": (Retry.PROBE, False, "ConfigMap"),
    "ImagePullFailed": (Retry.PROBE, False, "image pull secret"),
    "RepositoryUnreachable": (Retry.PROBE, False, "url"),
    "RepositoryAuthFailed": (Retry.PROBE, False, "Secret"),
    "RepositoryInvalid": (Retry.PROBE, False, "git fsck"),
    "Unschedulable": (Retry.PROBE, False, "nodes"),
    "Disrupted": (Retry.AT_ONCE, False, ""),
    "PodLost": (Retry.AT_ONCE, False, ""),
    "Terminated": (Retry.AT_ONCE, False, ""),
    "AgentOutOfMemory": (Retry.AT_ONCE, True, "resources.memory"),
    "AgentDiskFull": (Retry.AT_ONCE, True, "resources.ephemeralStorage"),
    "ModelAuthFailed": (Retry.PROBE, False, "Secret"),
    "RateLimited": (Retry.LATER, False, "limit"),
    "UsageLimited": (Retry.LATER, False, "limit"),
    "ProviderUnavailable": (Retry.BACK_OFF, False, "status page"),
    "AgentFailed": (Retry.AT_ONCE, True, "message"),
    "MaxTurns": (Retry.AT_ONCE, True, "Split"),
    "Refused": (Retry.AT_ONCE, True, "Reword"),
    "EmptyDiff": (Retry.AT_ONCE, True, "changes: none"),
    "SignalFailed": (Retry.AT_ONCE, True, "verdict"),
    "GateFailed": (Retry.AT_ONCE, True, "verdict"),
    "GateErrored": (Retry.BACK_OFF, False, "command and image"),
    "Timeout": (Retry.AT_ONCE, True, "limit"),
    "HeartbeatLost": (Retry.AT_ONCE, True, ""),
    "MergeConflict": (Retry.MERGE_ALONE, False, "files"),
    "CredentialRefused": (Retry.PROBE, False, "push"),
    "BranchProtected": (Retry.PROBE, False, "branch"),
    "RefMoved": (Retry.BACK_OFF, False, "refs/bernstein/"),
    "TreeMismatch": (Retry.PROBE, False, "unverified"),
    "NotOnBase": (Retry.PROBE, False, "history"),
    "PlanInvalid": (Retry.NEVER, False, "new name"),
    "BudgetExceeded": (Retry.NEVER, False, "budget"),
    "NoPricing": (Retry.PROBE, False, "price"),
    "PlanGone": (Retry.NEVER, False, "Delete"),
    "ImageUnusable": (Retry.PROBE, False, "non-root"),
    "RefNotFound": (Retry.PROBE, False, "branch"),
    "PodRejected": (Retry.PROBE, False, "quota"),
    "InfrastructureError": (Retry.BACK_OFF, False, "log"),
    "SnapshotTooLarge": (Retry.AT_ONCE, True, ".gitignore"),
    "AgentNotStarted": (Retry.PROBE, False, "command"),
    "NoFinalRecord": (Retry.AT_ONCE, True, "bernstein logs"),
    "UnexpectedChanges": (Retry.AT_ONCE, True, "changes: none"),
    "ToolMissing": (Retry.PROBE, False, "Install"),
    "Stalled": (Retry.AT_ONCE, True, "limits.stallSeconds"),
    "PushRejected": (Retry.PROBE, False, "git server"),
    "VerificationMissing": (Retry.NEVER, False, "statuses"),
    "Cancelled": (Retry.NEVER, False, ""),
    "NameConflict": (Retry.PROBE, False, "rename"),
    "ProjectNotFound": (Retry.NEVER, False, "projectRef"),
    "ProjectNotReady": (Retry.NEVER, False, "condition Ready"),
    "NetworkPolicyRefused": (Retry.PROBE, False, "Unmanaged"),
    "AgentNotFound": (Retry.NEVER, False, "agents"),
    "TaskFailed": (Retry.NEVER, False, "what is left"),
    "DependencyFailed": (Retry.NEVER, False, "left"),
}
CAPPED = {
    "Disrupted",
    "InfrastructureError",
    "PodLost",
    "ProviderUnavailable",
    "RateLimited",
    "RefMoved",
    "Terminated",
    "UsageLimited",
}
"""Nobody's fault, and tried again without a person: these need an end."""


@pytest.mark.parametrize("reason", TABLE)
def test_each_cause_has_its_retry_its_cost_and_its_remedy(reason: str) -> None:
    retry, counts, remedy = TABLE[reason]
    row = POLICIES[reason]

    assert (row.retry, row.counts, row.capped) == (retry, counts, reason in CAPPED)
    assert remedy in row.remedy


def test_the_table_has_no_other_rows() -> None:
    assert set(POLICIES) == set(TABLE)


@pytest.mark.parametrize("reason", POLICIES)
def test_no_failure_is_tried_again_for_nothing_without_end(reason: str) -> None:
    row = POLICIES[reason]
    slow = row.retry in (Retry.PROBE, Retry.NEVER, Retry.MERGE_ALONE)

    assert slow or row.counts or row.capped or reason == "GateErrored"


@pytest.mark.parametrize("reason", POLICIES)
def test_what_a_person_must_change_is_named(reason: str) -> None:
    row = POLICIES[reason]

    if row.retry in (Retry.PROBE, Retry.MERGE_ALONE):
        assert row.remedy.endswith(".")


def test_a_reason_that_the_table_does_not_know_is_capped_infrastructure() -> None:
    row = policy("SomethingNew")

    assert (row.retry, row.counts, row.capped) == (Retry.BACK_OFF, False, True)


def test_back_off_doubles_up_to_the_time_between_probes() -> None:
    waits = [back_off_seconds(n) for n in (0, 1, 2, 3, 4, 100)]

    assert waits == [30, 60, 120, 240, 300, errors.PROBE_SECONDS]
