"""How sessions end: what it says of the work, costs the Task, and leaves to the next one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bernstein.api.meta import UsageCounts
from bernstein.api.session import AgentSession, Report
from bernstein.api.states import TaskState
from bernstein.api.verification import RejectedWork
from bernstein.core import conditions
from bernstein.core.reasons import POLICIES, policy
from bernstein.core.reasons.limits import MAX_INFRASTRUCTURE_FAILURES
from bernstein.core.reasons.row import Retry
from bernstein.core.reasons.waits import MAX_RETRY_AFTER_SECONDS, PROBE_SECONDS
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    HEAD,
    at,
    dead,
    sha,
    snapshot,
    stalled_for,
    told,
    with_session,
    work,
)
from tests.unit.core.tasks.decisions import ATTEMPTS, CANCEL, after, decide

TOKENS = UsageCounts(input=100_000, output=20_000)
PRICE = "0.6"

# --- checkpoints --------------------------------------------------------------------------------

EARLIER = "refs/bernstein/1111222233334444/work/s0"


CUT_OFF = ["Timeout", "HeartbeatLost", "Disrupted", "PodLost"]


@pytest.mark.parametrize("reason", CUT_OFF)
def test_the_next_session_goes_on_from_what_one_that_was_cut_off_has_pushed(reason: str) -> None:
    ended = dead(reason, work=work())

    assert after(ended).checkpoint == ended.spec.work_ref
    assert after(ended).checkpoint_sha == work().sha, "no other commit at that ref is taken"


def test_what_a_session_reported_counts_where_its_pod_says_nothing_more() -> None:
    ended = dead("PodLost")
    report = Report(seq=2, checkpoint=sha(7))
    lost = ended.model_copy(update={"status": ended.status.model_copy(update={"report": report})})

    assert after(lost).checkpoint == ended.spec.work_ref
    assert after(lost).checkpoint_sha is None, "what was pushed last is not known"
    assert after(ended).checkpoint is None


def test_a_session_that_got_nowhere_leaves_the_checkpoint_before_it() -> None:
    before = with_session(TaskState.IN_PROGRESS, checkpoint=EARLIER, checkpointSha=sha(7))
    unchanged = dead("Timeout", work=work(BASE))

    assert after(unchanged, before).checkpoint == before.checkpoint
    assert after(unchanged, before).checkpoint_sha == sha(7)


@pytest.mark.parametrize("reason", ["AgentFailed", "Stalled", "MaxTurns", "Succeeded"])
def test_any_other_end_lets_the_next_session_start_afresh(reason: str) -> None:
    before = with_session(TaskState.IN_PROGRESS, checkpoint=EARLIER)

    assert after(dead(reason, work=work()), before).checkpoint is None
    assert after(dead(reason, work=work()), before).checkpoint_sha is None


# --- success ------------------------------------------------------------------------------------


def test_reported_success_is_done_and_not_yet_verified() -> None:
    found = after(dead(work=work(), usage=TOKENS))

    assert (found.state, found.attempt) == (TaskState.DONE, 1)
    assert found.verification is not None
    assert found.verification.passed is None
    assert (found.verification.base, found.verification.sha) == (BASE, HEAD)
    assert found.attempts[-1].counted


@pytest.mark.parametrize(
    ("spec", "no_change", "reason"),
    [
        ({}, False, "EmptyDiff"),
        ({}, True, "EmptyDiff"),
        ({"completionSignals": [{"type": "path_exists", "path": "a"}]}, False, "EmptyDiff"),
        ({"completionSignals": [{"type": "path_exists", "path": "a"}]}, True, None),
        ({"changes": "none"}, False, None),
    ],
)
def test_an_empty_change_needs_the_step_or_the_agent_with_a_signal_to_say_so(
    spec: dict[str, Any], no_change: bool, reason: str | None
) -> None:
    found = after(dead(work=work(BASE), no_change=no_change), **spec)

    assert found.state is (TaskState.FAILED if reason else TaskState.DONE)
    assert found.attempts[-1].reason == (reason or "Succeeded")
    assert found.attempt == 1


def test_what_was_ignored_is_told_where_nothing_changed() -> None:
    found = after(dead(work=work(BASE), message="1 new path is ignored: a.log (.gitignore:2)"))

    text = "no file changed; 1 new path is ignored: a.log (.gitignore:2)"
    assert found.attempts[-1].message.endswith(text)
    assert found.feedback is not None
    assert found.feedback.endswith(text)


def test_a_step_that_is_to_change_nothing_must_not() -> None:
    found = after(dead(work=work()), changes="none")

    assert (found.state, found.attempts[-1].reason) == (TaskState.FAILED, "UnexpectedChanges")
    assert found.rejected == RejectedWork(ref=work().ref, sha=work().sha)


def test_an_attempt_that_changed_nothing_leaves_nothing_to_show() -> None:
    assert after(dead(work=work(sha=BASE))).rejected is None
    assert after(dead("AgentFailed")).rejected is None


# --- failures -----------------------------------------------------------------------------------


COUNTED = [r for r, row in POLICIES.items() if row.counts and r != "HeartbeatLost"]
AGAIN = [r for r, row in POLICIES.items() if row.capped]
PROBED = [r for r, row in POLICIES.items() if row.retry is Retry.PROBE]


@pytest.mark.parametrize("reason", COUNTED)
def test_what_the_agent_is_to_blame_for_costs_an_attempt_and_is_told_to_the_next(
    reason: str,
) -> None:
    found = after(dead(reason, message="because"))

    assert (found.state, found.attempt) == (TaskState.FAILED, 1)
    assert found.feedback == f"{reason}: because"
    assert found.infrastructure_failures == 0
    assert decide(snapshot(objects.task(status=found))).status.state is TaskState.OPEN


def test_a_silent_agent_is_orphaned_then_failed_then_tried_again() -> None:
    states = []
    found = after(dead("HeartbeatLost"))
    while found.state is not TaskState.OPEN:
        states.append(found.state)
        found = decide(snapshot(objects.task(status=found))).status

    assert states == [TaskState.ORPHANED, TaskState.FAILED]
    assert found.attempt == 1


@pytest.mark.parametrize("reason", AGAIN)
@pytest.mark.parametrize("state", [TaskState.CLAIMED, TaskState.IN_PROGRESS])
def test_infrastructure_costs_no_attempt(reason: str, state: TaskState) -> None:
    started = state is TaskState.IN_PROGRESS

    found = after(dead(reason, started=started), with_session(state, attempt=2, attempts=ATTEMPTS))

    assert (found.state, found.attempt) == (TaskState.OPEN, 2)
    assert found.infrastructure_failures == 1
    assert not found.attempts[-1].counted


@pytest.mark.parametrize("reason", AGAIN)
def test_infrastructure_is_capped(reason: str) -> None:
    before = with_session(
        TaskState.IN_PROGRESS, infrastructure_failures=MAX_INFRASTRUCTURE_FAILURES
    )

    found = after(dead(reason, message="again"), before)

    assert (found.state, found.attempt) == (TaskState.FAILED, 0)
    assert told(found.conditions) == {"Stalled": ("True", reason), "Succeeded": ("False", reason)}
    assert found.waiting is not None
    assert (found.waiting.until, found.waiting.tried) == (None, None)


@pytest.mark.parametrize("reason", PROBED)
def test_what_a_person_must_change_is_probed_at_most_every_five_minutes(reason: str) -> None:
    found = after(dead(reason, started=False, message="broken"), with_session(TaskState.CLAIMED))

    assert (found.state, found.attempt, found.infrastructure_failures) == (TaskState.OPEN, 0, 0)
    assert found.waiting is not None
    assert found.waiting.until == at(PROBE_SECONDS)
    stall = conditions.find(found.conditions, "Stalled")
    assert stall is not None
    assert stall.reason == reason
    assert policy(reason).remedy in stall.message
    held = decide(snapshot(objects.task(status=found)))
    assert (held.status.state, held.requeue_after) == (TaskState.OPEN, PROBE_SECONDS)


@pytest.mark.parametrize("reason", [r for r in PROBED if r != "ModelAuthFailed"])
def test_probes_that_cost_a_whole_run_are_capped(reason: str) -> None:
    found = after(dead(reason), with_session(TaskState.IN_PROGRESS, infrastructure_failures=4))
    assert (found.state, found.infrastructure_failures) == (TaskState.OPEN, 5)
    assert stalled_for(found.conditions) == reason

    last = after(dead(reason), with_session(TaskState.IN_PROGRESS, infrastructure_failures=5))
    assert last.state is TaskState.FAILED


@pytest.mark.parametrize(
    ("usage", "failures"), [(None, 0), (UsageCounts(input=5), 0), (UsageCounts(output=1), 1)]
)
def test_a_refused_model_key_is_a_free_probe_unless_the_model_answered(
    usage: UsageCounts | None, failures: int
) -> None:
    found = after(dead("ModelAuthFailed", usage=usage))

    assert (found.state, found.infrastructure_failures) == (TaskState.OPEN, failures)


@pytest.mark.parametrize(
    ("reason", "said", "failures", "seconds"),
    [
        ("UsageLimited", 7200, 0, 7200),
        ("UsageLimited", 10**6, 0, MAX_RETRY_AFTER_SECONDS),
        ("UsageLimited", None, 0, 30),
        ("RateLimited", 12, 3, 12),
        ("ProviderUnavailable", None, 0, 30),
        ("ProviderUnavailable", None, 2, 120),
        ("InfrastructureError", None, 4, 300),
    ],
)
def test_it_waits_until_the_provider_says_or_backs_off(
    reason: str, said: int | None, failures: int, seconds: int
) -> None:
    before = with_session(TaskState.IN_PROGRESS, infrastructure_failures=failures)

    found = after(dead(reason, retry_after=said), before)

    assert found.waiting is not None
    assert found.waiting.until == at(seconds)
    assert stalled_for(found.conditions) is None
    held = decide(snapshot(objects.task(status=found)))
    assert (held.status.state, held.requeue_after) == (TaskState.OPEN, seconds)
    assert held.status.waiting is not None
    assert held.status.waiting.reason == reason


# --- money --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reason", ["Succeeded", "AgentFailed", "UsageLimited", "Disrupted", "SecretNotFound"]
)
def test_spend_counts_however_a_session_ends(reason: str) -> None:
    before = with_session(TaskState.IN_PROGRESS, spend_usd="0.1", usage=UsageCounts(input=1))

    found = after(dead(reason, work=work(), usage=TOKENS), before)

    assert Decimal(found.spend_usd) == Decimal("0.1") + Decimal(PRICE)
    assert found.usage == UsageCounts(input=100_001, output=20_000)
    assert (found.spend_source, found.attempts[-1].spend_usd) == ("Reported", PRICE)


def test_spend_counts_when_the_agent_was_cancelled() -> None:
    before = objects.task(status=with_session(TaskState.IN_PROGRESS), cancel=CANCEL)

    found = decide(snapshot(before, sessions=(dead("Cancelled", usage=TOKENS),))).status

    assert (found.state, found.spend_usd) == (TaskState.CANCELLED, PRICE)


def of_adapter(adapter: str, usage: UsageCounts | None) -> AgentSession:
    ended = dead(work=work(), usage=usage)
    return ended.model_copy(update={"spec": ended.spec.model_copy(update={"adapter": adapter})})


@pytest.mark.parametrize("usage", [None, UsageCounts()])
def test_what_an_agent_that_tells_no_tokens_costs_is_not_known(usage: UsageCounts | None) -> None:
    found = after(of_adapter("generic", usage))

    assert (found.spend_usd, found.spend_source) == ("0", "Unreported")


def test_an_agent_that_can_tell_and_has_used_nothing_has_reported() -> None:
    assert after(of_adapter("codex", UsageCounts())).spend_source == "Reported"


def test_what_one_session_did_not_tell_stays_unknown_whatever_the_next_one_tells() -> None:
    before = with_session(TaskState.IN_PROGRESS, spend_source="Unreported")

    found = after(dead(work=work(), usage=TOKENS), before)

    assert (found.spend_usd, found.spend_source) == (PRICE, "Unreported")


def test_a_model_without_price_counts_tokens_and_says_so() -> None:
    ended = dead(work=work(), usage=TOKENS)
    unknown = ended.model_copy(update={"spec": ended.spec.model_copy(update={"model": "mystery"})})

    found = after(unknown)

    assert (found.spend_usd, found.spend_source) == ("0", "Unpriced")
    assert found.usage == TOKENS


@pytest.mark.parametrize(
    ("before", "adapter", "model", "says"),
    [
        ("Unpriced", "claude", None, "Unpriced"),
        ("Unpriced", "generic", None, "Unreported"),
        ("Unreported", "claude", "mystery", "Unreported"),
        ("Reported", "claude", "mystery", "Unpriced"),
        ("Reported", "claude", None, "Reported"),
    ],
)
def test_what_hides_most_of_its_sessions_cost_stays(
    before: str, adapter: str, model: str | None, says: str
) -> None:
    ended = of_adapter(adapter, None if adapter == "generic" else TOKENS)
    if model is not None:
        ended = ended.model_copy(update={"spec": ended.spec.model_copy(update={"model": model})})

    found = after(ended, with_session(TaskState.IN_PROGRESS, spend_source=before))

    assert found.spend_source == says
