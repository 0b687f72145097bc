"""A Task's next step, from every state."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from bernstein.api.meta import UsageCounts
from bernstein.api.project import Project
from bernstein.api.session import AgentSession, Report
from bernstein.api.states import SessionState, TaskState
from bernstein.api.task import Delivery, Hold, TaskStatus
from bernstein.core import conditions, task
from bernstein.core.errors import (
    MAX_INFRASTRUCTURE_FAILURES,
    MAX_RETRY_AFTER_SECONDS,
    POLICIES,
    PROBE_SECONDS,
    Retry,
)
from bernstein.core.intents import (
    CreateSession,
    Decision,
    DeleteJobs,
    RunCheck,
    StopSession,
    TaskSnapshot,
)
from bernstein.core.pods import JobView
from tests.unit.core import objects
from tests.unit.core.objects import (
    BASE,
    HEAD,
    NOW,
    at,
    dead,
    done,
    job,
    project,
    session,
    sha,
    snapshot,
    stalled_for,
    status,
    told,
    verification,
    with_session,
    work,
)

CANCEL = {"reason": "not needed"}
TOKENS = UsageCounts(input=100_000, output=20_000)
PRICE = "0.6"


def decide(subject: TaskSnapshot) -> Decision:
    return task.decide(subject, NOW)


def after(ended: AgentSession, before: TaskStatus | None = None, **spec: Any) -> TaskStatus:
    """The status that follows when the session of the Task `work` has ended like this."""
    found = before or with_session(TaskState.IN_PROGRESS)
    subject = objects.task(status=found, **spec)
    return decide(snapshot(subject, sessions=(ended,))).status


# --- checkpoints --------------------------------------------------------------------------------

CUT_OFF = ["Timeout", "HeartbeatLost", "Disrupted", "PodLost"]


@pytest.mark.parametrize("reason", CUT_OFF)
def test_the_next_session_goes_on_from_what_one_that_was_cut_off_has_pushed(reason: str) -> None:
    ended = dead(reason, work=work())

    assert after(ended).checkpoint == ended.spec.work_ref


def test_what_a_session_reported_counts_where_its_pod_says_nothing_more() -> None:
    ended = dead("PodLost")
    report = Report(seq=2, checkpoint=sha(7))
    lost = ended.model_copy(update={"status": ended.status.model_copy(update={"report": report})})

    assert after(lost).checkpoint == ended.spec.work_ref
    assert after(ended).checkpoint is None


def test_a_session_that_got_nowhere_leaves_the_checkpoint_before_it() -> None:
    before = with_session(TaskState.IN_PROGRESS, checkpoint="refs/bernstein/11112222/work/s0")
    unchanged = dead("Timeout", work=work(BASE))

    assert after(unchanged, before).checkpoint == before.checkpoint


@pytest.mark.parametrize("reason", ["AgentFailed", "Stalled", "MaxTurns", "Succeeded"])
def test_any_other_end_lets_the_next_session_start_afresh(reason: str) -> None:
    before = with_session(TaskState.IN_PROGRESS, checkpoint="refs/bernstein/11112222/work/s0")

    assert after(dead(reason, work=work()), before).checkpoint is None


# --- from Open to the agent ---------------------------------------------------------------------


def test_a_new_task_is_opened_and_says_which_project_it_belongs_to() -> None:
    found = decide(snapshot(objects.task())).status

    assert (found.state, found.project, found.started_at) == (TaskState.OPEN, "default", NOW)
    assert found.observed_generation == 1
    assert found.history[-1].reason == "Created"


def test_a_ready_task_is_claimed_for_its_next_session_before_the_session_is_made() -> None:
    decision = decide(snapshot(objects.task(status=status(sessions=2, attempt=1))))

    assert decision.status.state is TaskState.CLAIMED
    assert (decision.status.sessions, decision.status.session) == (3, "work-s3")
    assert decision.intents == ()


def test_a_claim_forgets_the_verdicts_of_the_attempt_before_but_not_what_it_is_told() -> None:
    before = status(
        verification=verification(passed=False), delivery=Delivery(state="Pending"), feedback="no"
    )

    found = decide(snapshot(objects.task(status=before))).status

    assert (found.verification, found.delivery, found.feedback) == (None, None, "no")


def test_a_claimed_task_asks_for_its_session_until_it_is_there() -> None:
    claimed = objects.task(status=with_session(TaskState.CLAIMED))

    assert decide(snapshot(claimed)).intents == (CreateSession(1),)
    assert decide(snapshot(claimed, sessions=(session(),))).intents == ()


@pytest.mark.parametrize(
    ("gone", "reason"),
    [
        ({"project": None, "project_problem": "no Project"}, "ProjectNotFound"),
        ({"plan": None, "plan_missing": True}, "PlanGone"),
        (
            {"project": project(agents=[{"name": "b", "adapter": "demo", "image": "b"}])},
            "AgentNotFound",
        ),
    ],
)
def test_a_claim_is_given_back_when_no_session_can_be_made(
    gone: dict[str, Any], reason: str
) -> None:
    claimed = objects.task(status=with_session(TaskState.CLAIMED), cli="demo")

    found = decide(snapshot(claimed, **gone))

    assert (found.status.state, found.intents) == (TaskState.OPEN, ())
    assert found.status.history[-1].reason == reason
    assert found.status.infrastructure_failures == 0
    again = objects.task(status=found.status, cli="demo")
    assert stalled_for(decide(snapshot(again, **gone)).status.conditions) == reason


def test_a_task_is_in_progress_when_the_agent_runs_and_the_hold_is_over() -> None:
    hold = Hold(reason="SecretNotFound", retry_at=at(-1), generation=1)
    claimed = objects.task(status=with_session(TaskState.CLAIMED, hold=hold))

    starting = decide(snapshot(claimed, sessions=(session(state=SessionState.STARTING),)))
    running = decide(snapshot(claimed, sessions=(session(state=SessionState.WORKING),)))

    assert (starting.status.state, starting.status.hold) == (TaskState.CLAIMED, hold)
    assert (running.status.state, running.status.hold) == (TaskState.IN_PROGRESS, None)


def test_an_agent_that_ran_and_ended_unseen_passes_through_in_progress() -> None:
    claimed = with_session(TaskState.CLAIMED)

    found = after(dead(work=work()), claimed)
    assert found.state is TaskState.IN_PROGRESS
    assert after(dead(work=work()), found).state is TaskState.DONE


# --- how sessions end ---------------------------------------------------------------------------


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


def test_a_step_that_is_to_change_nothing_must_not() -> None:
    found = after(dead(work=work()), changes="none")

    assert (found.state, found.attempts[-1].reason) == (TaskState.FAILED, "UnexpectedChanges")


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


ATTEMPTS = tuple(
    {"session": f"work-s{i}", "attempt": i, "counted": True, "reason": "AgentFailed"}
    for i in (1, 2)
)


@pytest.mark.parametrize("reason", AGAIN)
def test_infrastructure_is_capped(reason: str) -> None:
    before = with_session(
        TaskState.IN_PROGRESS, infrastructure_failures=MAX_INFRASTRUCTURE_FAILURES
    )

    found = after(dead(reason, message="again"), before)

    assert (found.state, found.attempt) == (TaskState.FAILED, 0)
    assert told(found.conditions) == {"Stalled": ("True", reason), "Succeeded": ("False", reason)}
    assert found.hold is None


@pytest.mark.parametrize("reason", PROBED)
def test_what_a_person_must_change_is_probed_at_most_every_five_minutes(reason: str) -> None:
    found = after(dead(reason, started=False, message="broken"), with_session(TaskState.CLAIMED))

    assert (found.state, found.attempt, found.infrastructure_failures) == (TaskState.OPEN, 0, 0)
    assert found.hold is not None
    assert found.hold.retry_at == at(PROBE_SECONDS)
    stall = conditions.find(found.conditions, "Stalled")
    assert stall is not None
    assert stall.reason == reason
    assert POLICIES[reason].remedy in stall.message
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

    assert found.hold is not None
    assert found.hold.retry_at == at(seconds)
    assert stalled_for(found.conditions) is None
    held = decide(snapshot(objects.task(status=found)))
    assert (held.status.state, held.requeue_after) == (TaskState.OPEN, seconds)
    assert held.status.queue is not None
    assert held.status.queue.reason == reason


def test_a_change_of_the_project_ends_a_hold() -> None:
    hold = Hold(reason="SecretNotFound", retry_at=at(200), generation=1)
    held = objects.task(status=status(hold=hold))

    assert decide(snapshot(held)).status.state is TaskState.OPEN
    changed = decide(snapshot(held, project=project(generation=2)))
    assert changed.status.state is TaskState.CLAIMED


def test_a_session_that_was_deleted_is_infrastructure() -> None:
    found = decide(snapshot(objects.task(status=with_session(TaskState.IN_PROGRESS)))).status

    assert (found.state, found.infrastructure_failures) == (TaskState.OPEN, 1)


# --- retries ------------------------------------------------------------------------------------


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_max_retries_is_the_number_of_attempts_after_the_first(retries: int) -> None:
    found, sessions = status(), 0
    for _ in range(20):
        subject = objects.task(status=found, maxRetries=retries)
        if found.state is TaskState.IN_PROGRESS:
            sessions += 1
            ended = dead("AgentFailed", number=found.sessions)
            found = decide(snapshot(subject, sessions=(ended,))).status
        elif found.state is TaskState.CLAIMED:
            ended = session(found.sessions, state=SessionState.WORKING)
            found = decide(snapshot(subject, sessions=(ended,))).status
        else:
            found = decide(snapshot(subject)).status

    assert sessions == 1 + retries
    assert (found.state, found.attempt) == (TaskState.FAILED, 1 + retries)
    assert told(found.conditions)["Succeeded"] == ("False", "AgentFailed")
    assert stalled_for(found.conditions) == "AgentFailed"
    assert found.ended_at == NOW


def test_a_failed_task_without_retries_stays_as_it_is() -> None:
    failed = status(TaskState.FAILED, attempt=4)

    assert decide(snapshot(objects.task(status=failed))).status == failed


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


def test_a_model_without_price_counts_tokens_and_says_so() -> None:
    ended = dead(work=work(), usage=TOKENS)
    unknown = ended.model_copy(update={"spec": ended.spec.model_copy(update={"model": "mystery"})})

    found = after(unknown)

    assert (found.spend_usd, found.spend_source) == ("0", "Unpriced")
    assert found.usage == TOKENS


# --- verified or not ----------------------------------------------------------------------------


def lint(code: int) -> tuple[JobView, ...]:
    return (objects.checked("work-s1-lint-0", code, said="F401"),)


def test_a_done_task_asks_for_its_checks() -> None:
    decision = decide(snapshot(objects.task(status=done())))

    assert [type(i) for i in decision.intents] == [RunCheck]
    assert decision.status.state is TaskState.DONE


def test_a_rejected_tree_fails_the_attempt_with_the_verdict_as_feedback() -> None:
    subject = objects.task(status=done(attempts=ATTEMPTS[:1]))

    found = decide(snapshot(subject, jobs=lint(1))).status

    assert (found.state, found.attempt) == (TaskState.FAILED, 1)
    assert "Quality gate 'lint' Failed" in (found.feedback or "")
    assert "F401" in (found.feedback or "")
    assert found.attempts[-1].reason == "GateFailed"
    assert told(found.conditions)["Verified"] == ("False", "GateFailed")


def test_the_last_attempt_that_is_rejected_needs_a_person() -> None:
    found = decide(snapshot(objects.task(status=done(), maxRetries=0), jobs=lint(1))).status

    assert stalled_for(found.conditions) == "GateFailed"


@pytest.mark.parametrize(
    ("gone", "reason"),
    [
        ({"project": None, "project_problem": "no Project"}, "ProjectNotFound"),
        ({"plan": None, "plan_missing": True}, "PlanGone"),
    ],
)
@pytest.mark.parametrize("passed", [None, True])
def test_work_of_a_task_without_plan_or_project_lands_nowhere(
    gone: dict[str, Any], reason: str, passed: bool | None
) -> None:
    judged = verification(passed=passed)
    subject = objects.task(status=done(verification=judged))

    decision = decide(snapshot(subject, jobs=lint(0), **gone))

    assert decision.intents == ()
    assert decision.status.state is TaskState.DONE
    assert stalled_for(decision.status.conditions) == reason


# --- cancel -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "state",
    [
        TaskState.PLANNED,
        TaskState.OPEN,
        TaskState.BLOCKED,
        TaskState.WAITING_FOR_SUBTASKS,
        TaskState.FAILED,
        TaskState.DONE,
        TaskState.PENDING_APPROVAL,
    ],
)
def test_what_does_not_run_is_cancelled_at_once(state: TaskState) -> None:
    before = status(state, verification=verification(passed=True))
    subject = objects.task(status=before, cancel=CANCEL)

    found = decide(snapshot(subject)).status

    assert found.state is TaskState.CANCELLED
    assert told(found.conditions) == {"Succeeded": ("False", "Cancelled")}
    assert found.history[-1].actor == "user"


@pytest.mark.parametrize("state", [TaskState.CLOSED, TaskState.CANCELLED])
def test_a_cancel_of_what_is_over_changes_nothing(state: TaskState) -> None:
    subject = objects.task(status=status(state), cancel=CANCEL)

    assert decide(snapshot(subject)).status == subject.status


@pytest.mark.parametrize("state", [TaskState.CLAIMED, TaskState.IN_PROGRESS])
@pytest.mark.parametrize("where", [None, SessionState.STARTING, SessionState.WORKING])
def test_a_running_agent_is_asked_to_end_and_waited_for(
    state: TaskState, where: SessionState | None
) -> None:
    subject = objects.task(status=with_session(state), cancel=CANCEL)

    decision = decide(snapshot(subject, sessions=(session(state=where),)))

    assert decision.status.state is state
    assert decision.intents == (StopSession("Cancelled"),)


def test_a_task_whose_agent_is_gone_is_cancelled() -> None:
    subject = objects.task(status=with_session(TaskState.IN_PROGRESS), cancel=CANCEL)

    found = decide(snapshot(subject, sessions=(dead("Cancelled", stop="Cancelled"),))).status

    assert found.state is TaskState.CANCELLED
    assert not found.attempts[-1].counted


def test_an_orphan_is_cancelled_by_way_of_failed() -> None:
    subject = objects.task(status=with_session(TaskState.ORPHANED), cancel=CANCEL)

    found = decide(snapshot(subject)).status
    assert found.state is TaskState.FAILED
    again = objects.task(status=found, cancel=CANCEL)
    assert decide(snapshot(again)).status.state is TaskState.CANCELLED


def test_checks_that_run_are_ended_before_a_task_is_cancelled() -> None:
    at_work = job("work-s1-lint-0", objects.pod(objects.running("check")))
    subject = objects.task(status=done(), cancel=CANCEL)

    decision = decide(snapshot(subject, jobs=(at_work,)))

    assert decision.status.state is TaskState.DONE
    assert decision.intents == (DeleteJobs((at_work,)),)


def test_a_cancel_after_the_merge_has_started_comes_too_late() -> None:
    landing = Delivery(state="Pending", step="Landing", round=1)
    before = done(verification=verification(passed=True), delivery=landing)
    subject = objects.task(status=before, cancel=CANCEL)

    found = decide(snapshot(subject)).status

    assert found.state is TaskState.DONE
    assert told(found.conditions)["CancelRefused"] == ("True", "MergeInProgress")


def test_a_cancelled_task_needs_no_person_any_more() -> None:
    stalled = after(dead("SecretNotFound", started=False), with_session(TaskState.CLAIMED))

    found = decide(snapshot(objects.task(status=stalled, cancel=CANCEL))).status

    assert stalled_for(stalled.conditions) == "SecretNotFound"
    assert told(found.conditions) == {"Succeeded": ("False", "Cancelled")}
    assert (found.hold, found.queue) == (None, None)


@pytest.mark.parametrize("state", [None, *TaskState])
@pytest.mark.parametrize("cancel", [None, CANCEL])
def test_a_decision_on_its_own_result_is_quiet_or_goes_one_legal_step(
    state: TaskState | None, cancel: dict[str, str] | None
) -> None:
    """Wherever a Task is, repeated decisions come to rest without a word from outside."""
    found = status(state, verification=verification(passed=True))
    for _ in range(8):
        subject = objects.task(status=found, cancel=cancel)
        decision = decide(snapshot(subject))
        if decision.status == found:
            return
        found = decision.status
    raise AssertionError(f"never at rest: {found.history}")


def test_another_project_of_the_namespace_does_not_count() -> None:
    limits = {"maxAgents": 1}
    mine: Project = project(limits=limits)
    busy = objects.task(
        "other", plan=None, status=status(TaskState.IN_PROGRESS, project="elsewhere")
    )

    decision = decide(snapshot(objects.task(status=status()), others=(busy,), project=mine))

    assert decision.status.state is TaskState.CLAIMED
