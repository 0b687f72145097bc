"""The table of failures: what follows from each, and what helps."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bernstein import core
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.api.project import Project
from bernstein.api.reasons import LEFT, Reason
from bernstein.api.waiting import WaitScope
from bernstein.core.diagnosis import FAILED_CREATE_SECONDS
from bernstein.core.reasons import POLICIES, policy
from bernstein.core.reasons.row import Retry
from bernstein.core.reasons.waits import (
    MAX_RETRY_AFTER_SECONDS,
    PROBE_SECONDS,
    seconds_to_wait,
)
from bernstein.core.remedies import remedy_of, with_remedy
from tests.unit.core.objects import Object, project

TABLE = {
    "SecretNotFound": (Retry.SOON, False, "Secret"),
    "ConfigMapNotFound": (Retry.SOON, False, "ConfigMap"),
    "ImagePullFailed": (Retry.SOON, False, "image pull secret"),
    "RepositoryUnreachable": (Retry.PROBE, False, "url"),
    "RepositoryAuthFailed": (Retry.PROBE, False, "Secret"),
    "HostKeyUntrusted": (Retry.PROBE, False, "known_hosts"),
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
    "OutsideCheckout": (Retry.AT_ONCE, True, "checkout.folders"),
    "AgentFailed": (Retry.AT_ONCE, True, "message"),
    "MaxTurns": (Retry.AT_ONCE, True, "Split"),
    "Refused": (Retry.AT_ONCE, True, "Reword"),
    "EmptyDiff": (Retry.AT_ONCE, True, "changes: none"),
    "SignalFailed": (Retry.AT_ONCE, True, "verdict"),
    "GateFailed": (Retry.AT_ONCE, True, "verdict"),
    "ScopeViolation": (Retry.AT_ONCE, True, "fileScope: Warn"),
    "TestsWeakened": (Retry.AT_ONCE, True, "neither Project nor Plan say protectTests"),
    "BaseFails": (Retry.NEVER, False, "gates.allowBaseFailures"),
    "GateErrored": (Retry.BACK_OFF, False, "command and image"),
    "Timeout": (Retry.AT_ONCE, True, "limit"),
    "HeartbeatLost": (Retry.AT_ONCE, True, ""),
    "MergeConflict": (Retry.MERGE_ALONE, False, "files"),
    "CredentialRefused": (Retry.PROBE, False, "push"),
    "BranchProtected": (Retry.PROBE, False, "branch"),
    "IntegrationMoved": (Retry.PROBE, False, "Put the ref back"),
    "IntegrationExists": (Retry.PROBE, False, "Delete that ref"),
    "UnknownLanding": (Retry.NEVER, False, "under a new name"),
    "RefMoved": (Retry.BACK_OFF, False, "refs/bernstein/"),
    "SigningKeyInvalid": (Retry.PROBE, False, "ssh-keygen -t ed25519"),
    "AttestationKeyInvalid": (Retry.PROBE, False, "openssl genpkey"),
    "AttestationRefused": (Retry.PROBE, False, "refs/bernstein/attestations/"),
    "TreeMismatch": (Retry.PROBE, False, "unverified"),
    "NotOnBase": (Retry.PROBE, False, "history"),
    "PlanInvalid": (Retry.NEVER, False, "apply it again"),
    "BudgetExceeded": (Retry.NEVER, False, "budget"),
    "NoPricing": (Retry.PROBE, False, "price"),
    "TokensNotReported": (Retry.NEVER, False, "onUnpriced: allow"),
    "OperatorTooOld": (Retry.NEVER, False, "version"),
    "InvalidPattern": (Retry.NEVER, False, "Correct the pattern"),
    "PlanEnded": (Retry.NEVER, False, "Plan of its own"),
    "PlanGone": (Retry.NEVER, False, "Delete"),
    "ImageUnusable": (Retry.SOON, False, "non-root"),
    "RefNotFound": (Retry.PROBE, False, "branch"),
    "PodRejected": (Retry.SOON, False, "quota"),
    "InfrastructureError": (Retry.BACK_OFF, False, "log"),
    "SnapshotTooLarge": (Retry.AT_ONCE, True, ".gitignore"),
    "ReviewRejected": (Retry.AT_ONCE, True, "Read the verdict"),
    "SecretFound": (Retry.AT_ONCE, True, "FAKE"),
    "AgentNotStarted": (Retry.PROBE, False, "command"),
    "SetupFailed": (Retry.BACK_OFF, False, "setup in the Project"),
    "NoFinalRecord": (Retry.AT_ONCE, True, "bernstein logs"),
    "UnexpectedChanges": (Retry.AT_ONCE, True, "changes: none"),
    "ToolMissing": (Retry.PROBE, False, "Install"),
    "Stalled": (Retry.AT_ONCE, True, "limits.stallSeconds"),
    "PushRejected": (Retry.PROBE, False, "git server"),
    "BranchTaken": (Retry.PROBE, False, "Delete the branch"),
    "PullRequestClosed": (Retry.NEVER, False, "reopen it"),
    "PullRequestChanged": (Retry.NEVER, False, "what was verified"),
    "ForgeGone": (Retry.NEVER, False, "Name the forge"),
    "PullRequestMissing": (Retry.NEVER, False, "the token's account"),
    "VerificationMissing": (Retry.NEVER, False, "statuses"),
    "Blocked": (Retry.UNBLOCKED, False, "bernstein unblock"),
    "BlockRefused": (Retry.AT_ONCE, True, "what it waits for"),
    "DocumentRefused": (Retry.AT_ONCE, True, "Read why"),
    "Unclaimed": (Retry.AT_ONCE, False, ""),
    "Killed": (Retry.AT_ONCE, False, ""),
    "Cancelled": (Retry.NEVER, False, ""),
    "Rejected": (Retry.AT_ONCE, True, "Read the verdict"),
    "ApprovalExpired": (Retry.NEVER, False, "in time"),
    "AuthorMissing": (Retry.NEVER, False, "spec.author"),
    "ApprovalRefused": (Retry.PROBE, False, "quota"),
    "NameConflict": (Retry.PROBE, False, "rename"),
    "WriteRefused": (Retry.PROBE, False, "rights"),
    "DeletionHeld": (Retry.NEVER, False, "blockOwnerDeletion"),
    "ProjectNotFound": (Retry.NEVER, False, "projectRef"),
    "ProjectGone": (Retry.NEVER, False, "Cancel"),
    "ProjectNotReady": (Retry.NEVER, False, "condition Ready"),
    "NetworkPolicyRefused": (Retry.PROBE, False, "Unmanaged"),
    "ModelNotFound": (Retry.NEVER, False, "budget.prices"),
    "NoModel": (Retry.NEVER, False, "models of the Project"),
    "NoReviewer": (Retry.NEVER, False, "gates.crossModel.reviewers"),
    "RepositoryNotFound": (Retry.NEVER, False, "repositories"),
    "AgentNotFound": (Retry.NEVER, False, "agents"),
    "TaskFailed": (Retry.NEVER, False, "what is left"),
    "RetryExhausted": (Retry.NEVER, False, "more runs"),
    "DependencyFailed": (Retry.NEVER, False, "left"),
}
CAPPED = {
    "Disrupted",
    "InfrastructureError",
    "PodLost",
    "ProviderUnavailable",
    "RateLimited",
    "RefMoved",
    "SetupFailed",
    "Terminated",
    "UsageLimited",
}
"""Nobody's fault, and tried again without a person: these need an end."""
HOLDS = {
    "AgentNotStarted": WaitScope.AGENT,
    "ConfigMapNotFound": WaitScope.AGENT,
    "HostKeyUntrusted": WaitScope.REPOSITORY,
    "ImagePullFailed": WaitScope.AGENT,
    "ImageUnusable": WaitScope.AGENT,
    "IntegrationMoved": WaitScope.PLAN,
    "ModelAuthFailed": WaitScope.PROVIDER,
    "PodRejected": WaitScope.AGENT,
    "ProviderUnavailable": WaitScope.PROVIDER,
    "RateLimited": WaitScope.PROVIDER,
    "RefNotFound": WaitScope.PLAN,
    "RepositoryAuthFailed": WaitScope.REPOSITORY,
    "RepositoryInvalid": WaitScope.PLAN,
    "RepositoryUnreachable": WaitScope.REPOSITORY,
    "SecretNotFound": WaitScope.AGENT,
    "SetupFailed": WaitScope.AGENT,
    "Unschedulable": WaitScope.AGENT,
    "UsageLimited": WaitScope.PROVIDER,
}
"""Who waits with a Task that is held; for every other reason nobody does."""
UNCONFIRMED = {
    "AgentNotStarted",
    "ModelAuthFailed",
    "PodRejected",
    "ProviderUnavailable",
    "RateLimited",
    "SetupFailed",
    "UsageLimited",
}
"""What sessions say, or may be about one Task's own words: one of them holds no other Task."""
PASSES = {"InfrastructureError", "ProviderUnavailable", "RateLimited", "UsageLimited"}
KEEPS_WORK = {
    *("Blocked", "Disrupted", "HeartbeatLost", "Killed", "PodLost", "Timeout", "Unclaimed"),
}
BY_A_PERSON = {"Killed", "Unclaimed"}
"""Somebody asks for each of these."""
NOT_LANDED = {
    "AttestationKeyInvalid",
    "AttestationRefused",
    "BranchProtected",
    "BranchTaken",
    "CredentialRefused",
    "NotOnBase",
    "PushRejected",
    "RefMoved",
    "SigningKeyInvalid",
    "TreeMismatch",
}
NAMES_OBJECT = {"SecretNotFound", "ConfigMapNotFound", "ImagePullFailed", "ImageUnusable"}


@pytest.mark.parametrize("reason", TABLE)
def test_each_cause_has_its_retry_its_cost_and_its_remedy(reason: str) -> None:
    retry, counts, remedy = TABLE[reason]
    row = policy(reason)

    assert (row.retry, row.counts, row.capped) == (retry, counts, reason in CAPPED)
    assert remedy in row.remedy


@pytest.mark.parametrize("reason", TABLE)
def test_each_cause_is_told_apart_where_it_matters_beyond_its_task(reason: str) -> None:
    row = policy(reason)

    assert row.holds is HOLDS.get(reason, WaitScope.TASK)
    assert row.unconfirmed == (reason in UNCONFIRMED)
    flags = (row.passes, row.keeps_work, row.not_landed, row.names_object)
    assert flags == tuple(reason in s for s in (PASSES, KEEPS_WORK, NOT_LANDED, NAMES_OBJECT))


def test_the_table_has_no_other_rows() -> None:
    assert set(Reason) == set(TABLE)
    assert set(POLICIES) == {*Reason, *ForgeReason}


@pytest.mark.parametrize("reason", POLICIES)
def test_no_failure_is_tried_again_for_nothing_without_end(reason: str) -> None:
    row = policy(reason)
    rare = (Retry.SOON, Retry.PROBE, Retry.NEVER, Retry.MERGE_ALONE, Retry.UNBLOCKED)
    slow = row.retry in rare or reason in BY_A_PERSON

    # What a forge does not do is asked for by a Job of its own, every five minutes in the end.
    by_itself = {"GateErrored", *ForgeReason}
    assert slow or row.counts or row.capped or reason in by_itself


@pytest.mark.parametrize("reason", POLICIES)
def test_what_a_person_must_change_is_named(reason: str) -> None:
    row = policy(reason)

    if row.retry in (Retry.SOON, Retry.PROBE, Retry.MERGE_ALONE):
        assert row.remedy.endswith(".")


def test_a_reason_that_the_table_does_not_know_is_capped_infrastructure() -> None:
    row = policy("SomethingNew")

    assert (row.retry, row.counts, row.capped) == (Retry.BACK_OFF, False, True)


def test_back_off_doubles_up_to_the_time_between_probes() -> None:
    waits = [seconds_to_wait("InfrastructureError", n) for n in (0, 1, 2, 3, 4, 5, 100)]

    assert waits == [30, 30, 60, 120, 240, 300, PROBE_SECONDS]


@pytest.mark.parametrize(
    ("reason", "shows"),
    [("PodRejected", FAILED_CREATE_SECONDS), ("ImagePullFailed", 0), ("ImageUnusable", 0)],
)
def test_a_freed_quota_or_a_corrected_image_is_noticed_within_15_s_after_hours_too(
    reason: str, shows: float
) -> None:
    """`shows`: seconds until a pod tells that it is not so yet; then the next one is waited for."""
    waits = [seconds_to_wait(reason, tries) for tries in range(1, 1000)]

    assert shows + max(waits) <= 15
    assert sum(waits) > 7200


def test_the_provider_says_when_to_come_back_up_to_a_day() -> None:
    waits = [seconds_to_wait("RateLimited", 1, asked) for asked in (None, 45, 10**9)]

    assert waits == [30, 45, MAX_RETRY_AFTER_SECONDS]


def test_what_only_a_change_outside_can_mend_is_probed_and_a_lost_pod_is_made_anew() -> None:
    assert seconds_to_wait("RepositoryAuthFailed", 1) == PROBE_SECONDS
    assert seconds_to_wait("Disrupted", 3) == 0


@pytest.mark.parametrize("reason", ["SecretNotFound", "ImagePullFailed", "PodRejected"])
def test_what_a_new_pod_alone_shows_is_tried_soon_however_often_it_was_tried(reason: str) -> None:
    assert {seconds_to_wait(reason, n) for n in (1, 19, 20, 1000)} == {8}


def test_where_another_one_looks_for_the_same_it_is_tried_every_minute_later_on() -> None:
    waits = [seconds_to_wait("SecretNotFound", n, elsewhere=True) for n in (1, 19, 20, 1000)]

    assert waits == [8, 8, 60, 60]


CA = {"name": "forge-ca", "key": "ca.crt"}
ACCOUNT = {a: {"secretName": f"git-{a}"} for a in ("read", "work", "deliver")}
SUBJECT = project(
    repositories=[
        {"name": "app", "url": "https://git.example/app.git", "credentials": ACCOUNT, "ca": CA}
    ],
    agents=[
        {
            "name": "model",
            "adapter": "demo",
            "image": "agent:1",
            "apiKey": {"name": "model", "key": "token"},
            "configMap": "agent-files",
        }
    ],
    pods={"imagePullSecrets": ["pull"]},
)


@pytest.mark.parametrize(
    ("kind", "name", "field"),
    [
        ("secret", "git-read", "spec.repositories[0].credentials.read.secretName"),
        ("secret", "model", "spec.agents[0].apiKey.name"),
        ("secret", "pull", "spec.pods.imagePullSecrets[0]"),
        ("configmap", "forge-ca", "spec.repositories[0].ca.name"),
        ("configmap", "agent-files", "spec.agents[0].configMap"),
    ],
)
def test_a_missing_object_is_told_with_the_field_that_names_it(
    kind: str, name: str, field: str
) -> None:
    reason = "SecretNotFound" if kind == "secret" else "ConfigMapNotFound"

    told = remedy_of(reason, f'{kind} "{name}" not found', SUBJECT)

    assert told.startswith("Create the ")
    assert told.endswith(f"field: {field}.")


def test_a_name_that_no_field_has_is_told_without_one() -> None:
    told = remedy_of("SecretNotFound", 'secret "other" not found', SUBJECT)

    assert told.endswith("or correct the Project's field.")


BY_OUR_POLICY = (
    "Forbidden (403): jobs.batch 'x' is forbidden: ValidatingAdmissionPolicy 'bernstein-operator' "
    "denied request: Bernstein's operator makes Jobs with fields of pods that it sets itself only, "
    "not with: tolerations. The value admissionPolicies.podFields of its chart may allow: affinity"
)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ('"new-" is forbidden: no PriorityClass with name nosuch was found', "priorityClassName"),
        ('"new-" is forbidden: pod rejected: RuntimeClass "nosuch" not found', "runtimeClassName"),
    ],
)
def test_a_class_of_pods_that_is_not_there_is_told_with_the_field_that_names_it(
    said: str, field: str
) -> None:
    for subject in (None, SUBJECT):
        told = remedy_of("PodRejected", f"Error creating: pods {said}", subject)

        assert told.startswith("Create the ")
        assert f"spec.pods.{field} of the Project" in told
    assert with_remedy(said, "PodRejected") == f"{said}. Remedy: {told}"


@pytest.mark.parametrize("subject", [None, SUBJECT], ids=["alone", "of a Project"])
def test_what_a_webhook_adds_to_jobs_is_told_with_the_value_that_allows_it(
    subject: Project | None,
) -> None:
    told = remedy_of("PodRejected", BY_OUR_POLICY, subject)

    assert "admissionPolicies.podFields" in told
    assert "app.kubernetes.io/managed-by=bernstein" in told
    assert remedy_of("PodRejected", "exceeded quota", subject) != told


def test_a_branch_of_ours_that_was_moved_or_renamed_is_not_told_to_be_deleted() -> None:
    """What was made anew is pushed to it from where it was left."""
    made = "somebody else has made refs/heads/bernstein/web-01234567: it is at 1"
    left = f"refs/heads/bernstein/web-01234567 {LEFT} 1, and is not there"

    assert remedy_of("BranchTaken", made).startswith("Delete the branch")
    assert remedy_of("BranchTaken", left).startswith("Have the branch where it was left: rename")


def test_without_a_remedy_the_text_stands_alone() -> None:
    assert with_remedy("it was cancelled", "Cancelled") == "it was cancelled"


def test_what_needs_a_person_has_a_reason_of_the_table() -> None:
    """Written out, it would be a word that the table, the documents and scripts do not know."""
    parsed = [ast.parse(f.read_text()) for f in Path(core.__path__[0]).rglob("*.py")]
    calls = [n for tree in parsed for n in ast.walk(tree) if isinstance(n, ast.Call)]
    asked = [call.args[1] for call in calls if getattr(call.func, "id", "") in ("waits", "held")]

    assert any(isinstance(reason, ast.Attribute) for reason in asked)
    assert not [reason.value for reason in asked if isinstance(reason, ast.Constant)]


@pytest.mark.parametrize(
    ("network", "named"),
    [
        ({}, {"network.git", "network.agents"}),
        ({"git": [{"ports": [{"port": 443}]}]}, {"network.git", "network.agents"}),
        ({"agents": []}, {"network.git"}),
        ({"policy": "Unmanaged"}, {"your own NetworkPolicies"}),
    ],
)
def test_who_cannot_reach_the_repository_is_told_which_field_may_keep_it_from_that(
    network: Object, named: set[str]
) -> None:
    found = remedy_of("RepositoryUnreachable", "no", project(network=network))

    every = {"network.git", "network.agents", "your own NetworkPolicies"}
    assert {each for each in every if each in found} == named
    assert "url and CA" in found
