"""Argo CD's own Lua runner says of every status of the operator what is true of it."""

from __future__ import annotations

from collections import defaultdict

import pytest

from bernstein.api.approvals.approval import ApprovalState
from bernstein.api.states import SessionState, TaskState
from bernstein.kube.resource import Object
from tests.platform.gitops import customizations, statuses
from tests.platform.gitops.judges import Shown, shown
from tests.unit.core.delivery.proposed.proposals import watched
from tests.unit.core.objects import sha
from tests.unit.core.plans.decisions import GIVEN_UP, look
from tests.unit.core.plans.part.parts import FIRST
from tests.unit.core.plans.part.test_proposed import proposed

NEVER_WRITTEN = {TaskState.WAITING_FOR_SUBTASKS}
"""States that no release has moved a Task to so far."""
PHASES: dict[str, dict[str | None, set[str]]] = {
    "Plan": {
        None: {"Progressing"},
        "Pending": {"Progressing", "Degraded"},
        "Invalid": {"Degraded"},
        "PendingApproval": {"Suspended", "Progressing"},
        "Starting": {"Progressing"},
        "Running": {"Progressing", "Suspended"},
        "Suspended": {"Suspended"},
        "Stalled": {"Degraded"},
        "Delivering": {"Progressing"},
        "Cancelling": {"Progressing", "Degraded"},
        "Cancelled": {"Degraded"},
        "Failed": {"Degraded"},
        "DeliveredPartially": {"Degraded"},
        "Succeeded": {"Healthy"},
    },
    "Task": {
        None: {"Progressing"},
        "Planned": {"Progressing", "Suspended"},
        "Open": {"Progressing", "Suspended", "Degraded"},
        "Claimed": {"Progressing", "Degraded"},
        "InProgress": {"Progressing"},
        "Done": {"Progressing", "Degraded"},
        "PendingApproval": {"Suspended", "Degraded"},
        "Blocked": {"Degraded", "Progressing"},
        "Orphaned": {"Progressing"},
        "Failed": {"Degraded", "Progressing"},
        "Cancelled": {"Degraded"},
        "Closed": {"Healthy"},
    },
    "AgentSession": {
        None: {"Progressing"},
        "Starting": {"Progressing", "Degraded"},
        "Working": {"Progressing", "Degraded"},
        "Idle": {"Progressing", "Degraded"},
        "Dead": {"Progressing", "Healthy", "Degraded"},
    },
    "Approval": {
        None: {"Progressing"},
        "Pending": {"Suspended"},
        "Approved": {"Healthy"},
        "Rejected": {"Healthy"},
        "Void": {"Healthy"},
        "Expired": {"Degraded"},
    },
    "Project": {None: {"Progressing", "Healthy", "Degraded"}},
    "AgentRole": {None: {"Healthy", "Degraded"}},
}
"""What may be shown of an object whose status is about its spec, by its phase."""
RESTS = {
    "Plan": {"AwaitingApproval", "PullRequestOpen"},
    "Task": {"AwaitingApproval", "PullRequestOpen", "PlanSuspended"},
}
"""Why one waits that goes on once a person has done his part."""
OURS = pytest.mark.parametrize("kind", PHASES)


@pytest.fixture(scope="module")
def told() -> list[tuple[Object, Shown]]:
    return list(zip(statuses.objects(), shown(statuses.objects()), strict=True))


def test_the_config_map_is_made_of_the_scripts() -> None:
    assert customizations.FILE.read_text() == customizations.text(), "make generate"
    assert {folder.name for folder in customizations.kinds()} == PHASES.keys()


def test_every_phase_is_seen() -> None:
    seen = defaultdict(set)
    for obj in statuses.objects():
        seen[obj["kind"]].add(statuses.phase_of(obj))
    assert seen["Plan"] == PHASES["Plan"].keys()
    assert seen["Task"] - {None} == set(TaskState) - NEVER_WRITTEN
    assert seen["AgentSession"] - {None} >= set(SessionState) - {SessionState.IDLE}
    assert seen["Approval"] - {None} == set(ApprovalState)


@OURS
def test_every_phase_has_the_health_that_is_true_of_it(
    kind: str, told: list[tuple[Object, Shown]]
) -> None:
    seen: dict[str | None, set[str]] = defaultdict(set)
    for obj, says in told:
        if obj["kind"] == kind and statuses.is_current(obj):
            seen[statuses.phase_of(obj)].add(says.status)
    wrong = {phase: found for phase, found in seen.items() if not found <= PHASES[kind][phase]}
    assert not wrong
    assert seen


@pytest.mark.parametrize("kind", RESTS)
def test_suspended_is_what_rests_or_waits_for_people_and_nothing_else(
    kind: str, told: list[tuple[Object, Shown]]
) -> None:
    seen = [(o, says) for o, says in told if o["kind"] == kind and statuses.is_current(o)]
    rests = 0
    for obj, says in seen:
        reason = obj["status"].get("waiting", {}).get("reason")
        expected = statuses.phase_of(obj) == "Suspended" or reason in RESTS[kind]
        assert (says.status == "Suspended") == expected, obj
        rests += expected
    assert rests


def test_nothing_is_unknown_and_everything_says_why(told: list[tuple[Object, Shown]]) -> None:
    known = {"Progressing", "Suspended", "Healthy", "Degraded"}
    assert {says.status for _, says in told} == known
    assert all(says.message for _, says in told)


def test_a_status_about_an_older_spec_is_no_health(told: list[tuple[Object, Shown]]) -> None:
    older = [says for obj, says in told if not statuses.is_current(obj)]
    assert older
    assert {says.status for says in older} == {"Progressing"}


def test_what_is_degraded_says_the_reason_of_its_condition(
    told: list[tuple[Object, Shown]],
) -> None:
    for obj, says in told:
        if says.status == "Degraded" and obj["kind"] != "Approval":
            reasons = {c["reason"] for c in statuses.conditions_of(obj).values()}
            assert says.message.split(":")[0] in reasons


def test_what_rests_is_about_its_spec_as_it_is() -> None:
    """Else it would be Progressing for ever."""
    assert not [obj for obj in statuses.at_the_end() if not statuses.is_current(obj)]


def test_a_plan_whose_pull_request_is_open_waits_for_people() -> None:
    status = look(proposed(), FIRST, GIVEN_UP, project=watched("Open", sha(1))).status
    plan = {
        "apiVersion": "bernstein.dev/v1alpha1",
        "kind": "Plan",
        "metadata": {"name": "a", "generation": status.observed_generation},
        "spec": {},
        "status": status.dump(),
    }
    (says,) = shown([plan])
    assert says.status == "Suspended"
    assert says.message.startswith("PullRequestOpen")
