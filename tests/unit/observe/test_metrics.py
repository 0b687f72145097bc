from contextlib import AbstractContextManager
from decimal import Decimal
from itertools import count, pairwise
from typing import Any

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from bernstein.api.pod import (
    AGENT,
    CHECK,
    CHECKOUT,
    COLLECT,
    COMPARE,
    PROBE_KEY,
    PROGRAMS,
    PUSHER,
    RECORDER,
)
from bernstein.kube.observer import Observer
from bernstein.observe import series
from bernstein.observe.allowances import Allowances
from bernstein.observe.budgets import Budgets
from bernstein.observe.metrics import Metrics, ServerMetrics
from bernstein.observe.population import Census
from bernstein.observe.registry import render
from bernstein.observe.silence import Heard
from bernstein.observe.work import Work

WORK = Work("team", "shop", "codex", role="qa", tier="opus")
WHO = {
    "namespace": "team",
    "project": "shop",
    "adapter": "codex",
    "role": "qa",
    "tier": "opus",
}
_BESIDE_OTHERS = {CHECKOUT, COLLECT, COMPARE, PROBE_KEY, PUSHER, RECORDER}
"""Programs that run in Jobs of other names."""


def value(metrics: Metrics | ServerMetrics, name: str, /, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def names(metrics: Metrics | ServerMetrics) -> set[str]:
    return {sample.name for family in metrics.registry.collect() for sample in family.samples}


def test_both_kinds_of_metrics_are_observers_of_the_engine() -> None:
    observers: list[Observer] = [Metrics(), ServerMetrics()]
    for observer in observers:
        observer.request("GET", "pods", 200, 0.1)
        observer.queue_added("tasks")
        observer.queue_depth("tasks", 3)
        observer.queue_started("tasks", 0.2)
        observer.queue_finished("tasks", 0.3)
        observer.queue_retried("tasks")
        observer.reconciled("tasks", "requeue_after", 0.4)
        observer.passed_over("tasks")
        observer.relisted("pods", "Expired")
        observer.leading("bernstein", True)


def test_the_engine_is_counted_under_the_common_names() -> None:
    metrics = Metrics(process=False)

    metrics.request("GET", "pods", 200, 0.1)
    metrics.request("PATCH", "tasks", 409, 0.1)
    metrics.queue_added("tasks")
    metrics.queue_depth("tasks", 3)
    metrics.queue_started("tasks", 0.2)
    metrics.queue_finished("tasks", 0.3)
    metrics.queue_retried("tasks")
    metrics.reconciled("tasks", "error", 0.4)
    metrics.passed_over("tasks")
    metrics.relisted("pods", "Expired")
    metrics.leading("bernstein", True)

    labels = {"method": "PATCH", "resource": "tasks", "code": "409"}
    assert value(metrics, "rest_client_requests_total", **labels) == 1
    assert value(metrics, "workqueue_adds_total", name="tasks") == 1
    assert value(metrics, "workqueue_depth", name="tasks") == 3
    assert value(metrics, "workqueue_queue_duration_seconds_sum", name="tasks") == 0.2
    assert value(metrics, "workqueue_work_duration_seconds_sum", name="tasks") == 0.3
    assert value(metrics, "workqueue_retries_total", name="tasks") == 1
    settled = {"controller": "tasks", "result": "settled"}
    assert value(metrics, "controller_runtime_reconcile_total", **settled) == 1
    assert (
        value(metrics, "controller_runtime_reconcile_time_seconds_count", controller="tasks") == 1
    )
    outcome = {"controller": "tasks", "result": "error"}
    assert value(metrics, "controller_runtime_reconcile_total", **outcome) == 1
    seconds = "controller_runtime_reconcile_time_seconds_sum"
    assert value(metrics, seconds, controller="tasks") == 0.4
    relists = {"resource": "pods", "reason": "Expired"}
    assert value(metrics, "bernstein_informer_relists_total", **relists) == 1
    assert value(metrics, "leader_election_master_status", name="bernstein") == 1


def test_losing_the_lease_is_seen() -> None:
    metrics = Metrics(process=False)
    metrics.leading("bernstein", True)
    metrics.leading("bernstein", False)
    assert value(metrics, "leader_election_master_status", name="bernstein") == 0


def test_a_request_without_an_answer_is_an_error_and_not_code_0() -> None:
    metrics = Metrics(process=False)
    metrics.request("GET", "pods", 0, 30.0)
    labels = {"method": "GET", "resource": "pods", "code": "<error>"}
    assert value(metrics, "rest_client_requests_total", **labels) == 1


def test_sessions_money_and_tokens_add_up() -> None:
    metrics = Metrics(process=False)

    metrics.session_started("team", "codex")
    metrics.session_ended("team", "codex", "RateLimited")
    metrics.spent(WORK, Decimal("0.25"))
    metrics.spent(WORK, 0.5)
    metrics.tokens(WORK, input=100, output=20, cache_read=3)
    metrics.tokens(WORK, input=1)

    who = {"namespace": "team", "adapter": "codex"}
    assert value(metrics, "bernstein_sessions_started_total", **who) == 1
    ended = {**who, "reason": "RateLimited"}
    assert value(metrics, "bernstein_sessions_ended_total", **ended) == 1
    who = WHO
    assert value(metrics, "bernstein_cost_usd_total", **who) == 0.75
    assert value(metrics, "bernstein_tokens_total", **who, kind="input") == 101
    assert value(metrics, "bernstein_tokens_total", **who, kind="cache_read") == 3
    assert value(metrics, "bernstein_tokens_total", **who, kind="cache_write") is None


def test_amounts_that_are_not_positive_change_nothing() -> None:
    metrics = Metrics(process=False)
    metrics.spent(WORK, 1.0)
    metrics.spent(WORK, -1.0)
    for odd in (float("nan"), float("inf"), Decimal("NaN")):
        metrics.spent(WORK, odd)
    metrics.tokens(WORK, input=-5)
    who = WHO
    assert value(metrics, "bernstein_cost_usd_total", **who) == 1.0
    assert value(metrics, "bernstein_tokens_total", **who, kind="input") is None


def test_jobs_verdicts_and_deliveries_are_counted() -> None:
    metrics = Metrics(process=False)

    metrics.job_finished("team", "agent", "succeeded", 42.0)
    metrics.signal_verdict("team", "path_exists", "Failed")
    metrics.gate_verdict("team", "no_foo", "Passed")
    metrics.gate_was_known("team", "no_foo")
    metrics.verified("team", "first", passed=True)
    metrics.verified("team", "later", passed=False, score=85)
    metrics.delivered("team", "Task", "Merged")
    metrics.delivered("team", "Plan", "PullRequestOpen", strategy="pr", forge="gitea")
    metrics.delivered("team", "Plan", "Merged", strategy="pr", forge="nonsense")
    metrics.sent_back("team", "Plan")
    metrics.forge_asked("team", "gitea", requests=9, unchanged=7)
    metrics.forge_asked("team", "gitea", requests=0, unchanged=0)
    metrics.task_moved("team", "Closed")
    metrics.task_closed("team", 300.0)

    job = {"namespace": "team", "kind": "agent", "result": "succeeded"}
    assert value(metrics, "bernstein_job_duration_seconds_sum", **job) == 42.0
    assert value(metrics, "bernstein_job_duration_seconds_bucket", **job, le="45.0") == 1
    assert value(metrics, "bernstein_job_duration_seconds_bucket", **job, le="30.0") == 0
    signal = {"namespace": "team", "type": "path_exists", "verdict": "Failed"}
    assert value(metrics, "bernstein_signal_verdicts_total", **signal) == 1
    scored = {"namespace": "team", "attempt": "later"}
    assert value(metrics, "bernstein_quality_score_ratio_sum", **scored) == 0.85
    assert value(metrics, "bernstein_quality_score_ratio_count", **scored) == 1
    scored = {"namespace": "team", "attempt": "first"}
    assert value(metrics, "bernstein_quality_score_ratio_count", **scored) is None
    gate = {"namespace": "team", "gate": "no_foo", "verdict": "Passed"}
    assert value(metrics, "bernstein_gate_verdicts_total", **gate) == 1
    known = {"namespace": "team", "gate": "no_foo"}
    assert value(metrics, "bernstein_gate_cache_hits_total", **known) == 1
    first = {"namespace": "team", "attempt": "first", "result": "passed"}
    assert value(metrics, "bernstein_verifications_total", **first) == 1
    later = {"namespace": "team", "attempt": "later", "result": "rejected"}
    assert value(metrics, "bernstein_verifications_total", **later) == 1
    merged = {"namespace": "team", "kind": "Task", "result": "Merged"}
    direct = {"strategy": "direct", "forge": "none"}
    assert value(metrics, "bernstein_merges_total", **merged, **direct) == 1
    opened = {"namespace": "team", "kind": "Plan", "result": "PullRequestOpen"}
    on_gitea = {"strategy": "pr", "forge": "gitea"}
    assert value(metrics, "bernstein_merges_total", **opened, **on_gitea) == 1
    strange = merged | {"kind": "Plan", "strategy": "pr", "forge": "other"}
    assert value(metrics, "bernstein_merges_total", **strange) == 1
    assert value(metrics, "bernstein_feedback_total", namespace="team", kind="Plan") == 1
    asked = {"namespace": "team", "forge": "gitea"}
    assert value(metrics, "bernstein_forge_requests_total", **asked, answer="full") == 2
    assert value(metrics, "bernstein_forge_requests_total", **asked, answer="unchanged") == 7
    assert value(metrics, "bernstein_task_moves_total", namespace="team", state="Closed") == 1
    assert value(metrics, "bernstein_task_closed_seconds_count", namespace="team") == 1


def test_what_objectives_are_reckoned_from_begins_with_0_as_soon_as_a_task_moves() -> None:
    metrics = Metrics()
    assert value(metrics, "bernstein_task_closed_seconds_count", namespace="team") is None

    metrics.task_moved("team", "Planned")

    assert value(metrics, "bernstein_task_closed_seconds_count", namespace="team") == 0
    for attempt in ("first", "later", "plan"):
        for result in ("passed", "rejected"):
            labels = {"namespace": "team", "attempt": attempt, "result": result}
            assert value(metrics, "bernstein_verifications_total", **labels) == 0


def test_free_text_does_not_become_a_label() -> None:
    metrics = Metrics(process=False)
    metrics.session_ended("team", "codex", "the agent said: ignore\nall")
    labels = {"namespace": "team", "adapter": "codex", "reason": "other"}
    assert value(metrics, "bernstein_sessions_ended_total", **labels) == 1


UIDS = count()


def task(namespace: str, state: str | None) -> dict[str, Any]:
    status = {"state": state} if state else {}
    metadata = {"namespace": namespace, "name": "t", "uid": f"u-{next(UIDS)}"}
    return {"metadata": metadata, "status": status}


def census(*objects: dict[str, Any], field: str = "state") -> Census:
    made = Census(field)
    for obj in objects:
        made.changed(None, obj)
    return made


def counting(metrics: Metrics, **of_kinds: Census) -> AbstractContextManager[None]:
    nothing = dict.fromkeys(("tasks", "sessions", "plans", "approvals", "projects"), census())
    return metrics.population(
        **{**nothing, **of_kinds}, allowances=Allowances(), budgets=Budgets(), heard=Heard()
    )


def test_what_a_forge_lets_a_project_ask_is_told_while_it_is_known() -> None:
    metrics, allowances, nothing = Metrics(process=False), Allowances(), census()
    kinds = dict.fromkeys(("tasks", "sessions", "plans", "approvals", "projects"), nothing)
    left = {"namespace": "team", "project": "shop"}
    meta = {"namespace": "team", "name": "shop"}
    watched = {"metadata": meta, "status": {"watch": {"number": 1, "remaining": 4987}}}
    with metrics.population(**kinds, allowances=allowances, budgets=Budgets(), heard=Heard()):
        allowances.changed(None, watched)
        assert value(metrics, "bernstein_forge_requests_remaining", **left) == 4987
        allowances.changed(watched, {"metadata": meta, "status": {"watch": {"number": 2}}})
        assert value(metrics, "bernstein_forge_requests_remaining", **left) is None
        allowances.changed({"metadata": meta}, watched)
        allowances.changed(watched, None)
        assert value(metrics, "bernstein_forge_requests_remaining", **left) is None


def test_what_exists_is_counted_when_it_changes() -> None:
    metrics = Metrics(process=False)
    first, second = task("a", "Open"), task("a", "Open")
    tasks = census(first, second, task("b", "Closed"), task("b", None))
    with counting(metrics, tasks=tasks):
        assert value(metrics, "bernstein_tasks", namespace="a", state="Open") == 2
        assert value(metrics, "bernstein_tasks", namespace="b", state="New") == 1
        assert value(metrics, "bernstein_tasks", namespace="c", state="Open") is None

        tasks.changed(first, first | {"status": {"state": "Claimed"}})
        tasks.changed(second, second | {"status": {"state": "Claimed"}})
        assert value(metrics, "bernstein_tasks", namespace="a", state="Open") == 0
        assert value(metrics, "bernstein_tasks", namespace="a", state="Claimed") == 2

        # The last state of what is deleted may be one that nobody was told of.
        tasks.changed(first | {"status": {"state": "Done"}}, None)
        assert value(metrics, "bernstein_tasks", namespace="a", state="Claimed") == 1
        assert value(metrics, "bernstein_tasks", namespace="a", state="Done") == 0


def test_plans_are_counted_by_phase_also_before_they_have_one() -> None:
    metrics = Metrics(process=False)
    running = {"metadata": {"namespace": "a", "uid": "1"}, "status": {"phase": "Running"}}
    plans = census(running, {"metadata": {"namespace": "a", "uid": "2"}}, field="phase")
    with counting(metrics, plans=plans):
        assert value(metrics, "bernstein_plans", namespace="a", phase="Running") == 1
        assert value(metrics, "bernstein_plans", namespace="a", phase="New") == 1


def approval(namespace: str, state: str | None) -> dict[str, Any]:
    status = {"status": {"state": state}} if state else {}
    return {"metadata": {"namespace": namespace, "uid": f"u-{next(UIDS)}"}, **status}


def test_what_waits_for_people_is_counted() -> None:
    metrics = Metrics(process=False)
    first = approval("a", "Pending")
    asked = (first, approval("a", "Pending"), approval("a", "Void"), approval("b", "Pending"))
    approvals = census(*asked, approval("b", None))
    with counting(metrics, approvals=approvals):
        assert value(metrics, "bernstein_approvals", namespace="a", state="Pending") == 2
        assert value(metrics, "bernstein_approvals", namespace="a", state="Void") == 1
        assert value(metrics, "bernstein_approvals", namespace="b", state="Pending") == 1
        assert value(metrics, "bernstein_approvals", namespace="b", state="New") == 1

        approvals.changed(first, first | {"status": {"state": "Approved"}})
        assert value(metrics, "bernstein_approvals", namespace="a", state="Pending") == 1
        assert value(metrics, "bernstein_approvals", namespace="a", state="Approved") == 1


def test_what_exists_is_counted_by_none_that_does_not_lead() -> None:
    metrics = Metrics(process=False)
    gauges = {"bernstein_tasks", "bernstein_sessions", "bernstein_plans", "bernstein_stalled"}
    gauges |= {"bernstein_waiting"}
    assert not gauges & {family.name for family in metrics.registry.collect()}

    for _ in range(2):  # it may lead again
        with counting(metrics, tasks=census(task("a", "Open"))):
            assert value(metrics, "bernstein_tasks", namespace="a", state="Open") == 1
        assert not gauges & {family.name for family in metrics.registry.collect()}


def stalled(namespace: str, reason: str, truth: str = "True") -> dict[str, Any]:
    condition = {"type": "Stalled", "status": truth, "reason": reason}
    other = {"type": "Reconciling", "status": "True", "reason": "AgentNotFound"}
    metadata = {"namespace": namespace, "uid": f"u-{next(UIDS)}"}
    return {"metadata": metadata, "status": {"conditions": [other, condition]}}


def test_what_needs_a_person_is_counted_by_kind_and_reason() -> None:
    metrics = Metrics(process=False)
    gone = stalled("a", "SecretNotFound")
    tasks = census(stalled("a", "SecretNotFound"), gone, task("a", "Open"))
    plans = census(stalled("a", "TaskFailed"), stalled("a", "TaskFailed", "False"))
    with counting(metrics, tasks=tasks, plans=plans):
        of_tasks = {"namespace": "a", "kind": "Task", "reason": "SecretNotFound"}
        assert value(metrics, "bernstein_stalled", **of_tasks) == 2
        of_plans = {"namespace": "a", "kind": "Plan", "reason": "TaskFailed"}
        assert value(metrics, "bernstein_stalled", **of_plans) == 1

        tasks.changed(gone, None)
        assert value(metrics, "bernstein_stalled", **of_tasks) == 1


def test_a_project_that_is_not_ready_needs_a_person() -> None:
    metrics = Metrics(process=False)
    projects = Census(None, ("Ready", "False"))
    ready = {"type": "Ready", "status": "False", "reason": "RepositoryAuthFailed"}
    bad = {"metadata": {"namespace": "a", "uid": "1"}, "status": {"conditions": [ready]}}
    good = {**bad, "status": {"conditions": [{**ready, "status": "True", "reason": "Ready"}]}}
    projects.changed(None, bad)
    projects.changed(None, {"metadata": {"namespace": "a", "uid": "2"}})

    with counting(metrics, projects=projects):
        unready = {"namespace": "a", "kind": "Project", "reason": "RepositoryAuthFailed"}
        assert value(metrics, "bernstein_stalled", **unready) == 1

        projects.changed(bad, good)
        assert value(metrics, "bernstein_stalled", **unready) is None


def waiting(namespace: str, reason: str, **more: Any) -> dict[str, Any]:
    metadata = {"namespace": namespace, "uid": f"u-{next(UIDS)}"}
    return {"metadata": metadata, "status": {"waiting": {"reason": reason}, **more}}


def test_what_waits_now_is_counted_by_kind_and_reason() -> None:
    metrics = Metrics(process=False)
    first = waiting("a", "MaxAgents")
    over = waiting("a", "MaxAgents", endedAt="2030-01-01T00:00:00Z")
    tasks = census(
        first, waiting("a", "MaxAgents"), over, waiting("a", "Forged"), task("a", "Open")
    )
    plans = census(waiting("a", "Suspended"), field="phase")
    with counting(metrics, tasks=tasks, plans=plans):
        for_agents = {"namespace": "a", "kind": "Task", "reason": "MaxAgents"}
        assert value(metrics, "bernstein_waiting", **for_agents) == 2
        assert value(metrics, "bernstein_waiting", **{**for_agents, "reason": "other"}) == 1
        rests = {"namespace": "a", "kind": "Plan", "reason": "Suspended"}
        assert value(metrics, "bernstein_waiting", **rests) == 1

        tasks.changed(first, {**first, "status": {"state": "Claimed"}})
        assert value(metrics, "bernstein_waiting", **for_agents) == 1
        tasks.changed(over, None)
        assert value(metrics, "bernstein_waiting", **for_agents) == 1


def test_a_reason_that_nobody_knows_makes_no_series_of_its_own() -> None:
    metrics = Metrics(process=False)
    tasks = census(*(stalled("a", f"Forged{number}") for number in range(50)))
    with counting(metrics, tasks=tasks):
        counted = {"namespace": "a", "kind": "Task", "reason": "other"}
        assert value(metrics, "bernstein_stalled", **counted) == 50
        metrics.waited("a", "Task", "Forged", 1.0)
        assert value(metrics, "bernstein_waited_seconds_count", **counted) == 1
        metrics.job_finished("a", "forged", "failed", 1.0)
        job = {"namespace": "a", "kind": "other", "result": "failed"}
        assert value(metrics, "bernstein_job_duration_seconds_count", **job) == 1


def test_each_kind_of_job_of_which_a_program_of_ours_speaks_has_a_series_of_its_own() -> None:
    kinds = {AGENT, CHECK, *PROGRAMS} - _BESIDE_OTHERS
    metrics = Metrics(process=False)
    for kind in kinds:
        metrics.job_finished("a", kind, "failed", 1.0)
        job = {"namespace": "a", "kind": kind, "result": "failed"}
        assert value(metrics, "bernstein_job_duration_seconds_count", **job) == 1
        assert f"`{kind}`" in series.JOB_SECONDS.meaning


def test_what_usually_takes_five_seconds_to_two_minutes_is_told_apart() -> None:
    for entry in (series.JOB_SECONDS, series.AGENT_END_TO_CLOSED):
        usual = [bucket for bucket in entry.buckets if 5 <= bucket <= 120]
        assert len(usual) >= 9, entry.name
        for lower, upper in pairwise(usual):
            assert upper <= 2 * lower, entry.name


def test_metrics_objects_share_nothing() -> None:
    one, other = Metrics(), Metrics()
    one.session_started("team", "codex")
    labels = {"namespace": "team", "adapter": "codex"}
    assert value(other, "bernstein_sessions_started_total", **labels) is None


def test_process_series_come_with_the_process_only() -> None:
    assert "process_resident_memory_bytes" in names(Metrics())
    assert "process_resident_memory_bytes" not in names(Metrics(process=False))


def test_both_exposition_formats_are_served_without_created_samples_and_exemplars() -> None:
    metrics = Metrics(process=False)
    metrics.session_started("team", "codex")
    metrics.job_finished("team", "agent", "failed", 1.0)

    plain, plain_type = render(metrics.registry)
    modern, modern_type = render(metrics.registry, "application/openmetrics-text; version=1.0.0")

    assert plain_type.startswith("text/plain")
    assert modern_type.startswith("application/openmetrics-text")
    assert b"_created" not in plain + modern
    parse: Any = text_string_to_metric_families
    families = list(parse(modern.decode()))
    assert "bernstein_sessions_started" in {family.name for family in families}
    assert {sample.exemplar for family in families for sample in family.samples} == {None}
