"""Names, types and labels of metrics: dashboards and alerts of others know them, so they stay."""

from bernstein.observe import series

PINNED = """
bernstein_agent_end_to_closed_seconds histogram namespace
bernstein_approval_decision_seconds histogram namespace,kind,decision
bernstein_approvals gauge namespace,state
bernstein_budget_usd gauge namespace,project,amount
bernstein_budgeted_plans gauge namespace,project,spent
bernstein_build_info gauge version
bernstein_cache_filled_bytes_total counter namespace
bernstein_cache_fills_total counter namespace,outcome
bernstein_callbacks_total counter kind,result
bernstein_certificate_expiry_timestamp_seconds gauge -
bernstein_cost_usd_total counter namespace,project,adapter,role,tier
bernstein_feedback_total counter namespace,kind
bernstein_forge_requests_remaining gauge namespace,project
bernstein_forge_requests_total counter namespace,forge,answer
bernstein_gate_cache_hits_total counter namespace,gate
bernstein_gate_verdicts_total counter namespace,gate,verdict
bernstein_http_request_duration_seconds histogram route
bernstein_http_requests_total counter method,route,code
bernstein_informer_relists_total counter resource,reason
bernstein_job_duration_seconds histogram namespace,kind,result
bernstein_merges_total counter namespace,kind,strategy,forge,result
bernstein_plan_budget_usd gauge namespace,project,plan
bernstein_plan_spend_usd gauge namespace,project,plan
bernstein_plans gauge namespace,phase
bernstein_pull_requests_withdrawn_total counter namespace,outcome
bernstein_quality_score_ratio histogram namespace,attempt
bernstein_refs_pruned_total counter namespace,outcome
bernstein_refs_waiting gauge namespace,project
bernstein_requests_total counter namespace,kind,verb,answer
bernstein_sessions gauge namespace,state
bernstein_sessions_ended_total counter namespace,adapter,reason
bernstein_sessions_silent gauge namespace
bernstein_sessions_started_total counter namespace,adapter
bernstein_signal_verdicts_total counter namespace,type,verdict
bernstein_stalled gauge namespace,kind,reason
bernstein_task_closed_seconds histogram namespace
bernstein_task_moves_total counter namespace,state
bernstein_tasks gauge namespace,state
bernstein_tasks_closed_total counter namespace,project,role,attempts
bernstein_token_reviews_total counter result
bernstein_tokens_total counter namespace,project,adapter,role,tier,kind
bernstein_trace_spans_total counter outcome
bernstein_verifications_total counter namespace,attempt,result
bernstein_waited_seconds histogram namespace,kind,reason
bernstein_waiting gauge namespace,kind,reason
controller_runtime_reconcile_time_seconds histogram controller
controller_runtime_reconcile_total counter controller,result
leader_election_master_status gauge name
rest_client_request_duration_seconds histogram verb,resource
rest_client_requests_total counter method,resource,code
workqueue_adds_total counter name
workqueue_depth gauge name
workqueue_queue_duration_seconds histogram name
workqueue_retries_total counter name
workqueue_work_duration_seconds histogram name
"""


def test_no_metric_is_renamed_retyped_or_gets_other_labels_by_chance() -> None:
    now = {f"{e.name} {e.kind} {','.join(e.labels) or '-'}" for e in series.ALL}
    assert now == set(PINNED.strip().splitlines())


def test_nothing_that_somebody_may_write_is_a_label_without_a_bound() -> None:
    """Names of objects and people's words. `plan` is bounded by a number of Plans."""
    labels = {label: e.name for e in series.ALL for label in e.labels}
    for unbounded in ("task", "session", "user", "by", "title", "model", "branch", "repository"):
        assert unbounded not in labels
    of_plans = {e.name for e in series.ALL if "plan" in e.labels}
    assert of_plans == {"bernstein_plan_spend_usd", "bernstein_plan_budget_usd"}
