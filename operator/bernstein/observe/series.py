"""Every metric by name, with labels and meaning; `docs/reference/metrics.md` follows this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MetricType = Literal["counter", "gauge", "histogram"]

QUEUE_BUCKETS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0)
REQUEST_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
RECONCILE_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0)
_USUAL = (5.0, 10.0, 15.0, 20.0, 30.0, 45.0, 60.0, 90.0, 120.0)
"""Where most of our durations are, so that their quantiles say something."""
JOB_BUCKETS = (1.0, 2.0, *_USUAL, 300.0, 600.0, 1800.0, 3600.0, 10800.0, 21600.0)
LANDING_BUCKETS = (*_USUAL, 180.0, 300.0, 600.0, 1800.0, 3600.0, 14400.0)
WAIT_BUCKETS = (1.0, 5.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 14400.0, 86400.0)
SCORE_BUCKETS = (0.25, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.99, 1.0)
DECISION_BUCKETS = (60.0, 300.0, 900.0, 3600.0, 14400.0, 28800.0, 86400.0, 259200.0, 604800.0)
LIFE_BUCKETS = (30.0, 60.0, 90.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 14400.0, 86400.0)


@dataclass(frozen=True, slots=True)
class Series:
    """One metric. A counter's name ends in `_total`; durations are seconds, money is US dollars."""

    name: str
    kind: MetricType
    labels: tuple[str, ...]
    meaning: str
    buckets: tuple[float, ...] = ()


BUILD_INFO = Series(
    "bernstein_build_info", "gauge", ("version",), "1, labelled with the running version."
)

TASKS = Series(
    "bernstein_tasks", "gauge", ("namespace", "state"), "Tasks that exist now, by state."
)
SESSIONS = Series(
    "bernstein_sessions", "gauge", ("namespace", "state"), "AgentSessions that exist now, by state."
)
PLANS = Series(
    "bernstein_plans", "gauge", ("namespace", "phase"), "Plans that exist now, by phase."
)
APPROVALS = Series(
    "bernstein_approvals",
    "gauge",
    ("namespace", "state"),
    "Approvals that exist now, by state: `Pending` ones wait for a person.",
)
STALLED = Series(
    "bernstein_stalled",
    "gauge",
    ("namespace", "kind", "reason"),
    "What needs a person now, by why: Plans and Tasks whose condition `Stalled` is True, and "
    "Projects whose condition `Ready` is False.",
)
WAITING = Series(
    "bernstein_waiting",
    "gauge",
    ("namespace", "kind", "reason"),
    "Plans and Tasks that wait now, by what for (`status.waiting`), a person's help included.",
)
TASK_MOVES = Series(
    "bernstein_task_moves_total",
    "counter",
    ("namespace", "state"),
    "Times a Task entered this state.",
)
TASK_CLOSED_SECONDS = Series(
    "bernstein_task_closed_seconds",
    "histogram",
    ("namespace",),
    "Time from the creation of a Task until it was Closed.",
    LIFE_BUCKETS,
)
TASKS_CLOSED = Series(
    "bernstein_tasks_closed_total",
    "counter",
    ("namespace", "project", "role", "attempts"),
    "Tasks that were Closed, by their role (one that is not built in is `other`) and by how many "
    "attempts it took: `1` to `4`, or `more`. All but `1` is rework.",
)
SESSIONS_SILENT = Series(
    "bernstein_sessions_silent",
    "gauge",
    ("namespace",),
    "AgentSessions at work of which nothing has been heard for a minute: four heartbeats are "
    "missing.",
)
AGENT_END_TO_CLOSED = Series(
    "bernstein_agent_end_to_closed_seconds",
    "histogram",
    ("namespace",),
    "Time from the end of a Task's last session until the Task was Closed: checks, turn and merge.",
    LANDING_BUCKETS,
)
WAITED = Series(
    "bernstein_waited_seconds",
    "histogram",
    ("namespace", "kind", "reason"),
    "Time that a Plan or Task waited for one reason (`status.waiting`) without a break, counted "
    "when that ended.",
    WAIT_BUCKETS,
)
ANSWERS = Series(
    "bernstein_requests_total",
    "counter",
    ("namespace", "kind", "verb", "answer"),
    "Requests of people (`spec.requests`) that were answered, by the kind of what they were made "
    "of, by verb and by answer (`Done`, `Refused`).",
)
DECISIONS = Series(
    "bernstein_approval_decision_seconds",
    "histogram",
    ("namespace", "kind", "decision"),
    "Time from the question to people about a `Task` or a `Plan` until what they decided was acted "
    "upon, by the decision: `Approve`, `Reject`, `Retry`, or `Expired`, where nobody did.",
    DECISION_BUCKETS,
)
SESSIONS_STARTED = Series(
    "bernstein_sessions_started_total",
    "counter",
    ("namespace", "adapter"),
    "AgentSessions that were started.",
)
SESSIONS_ENDED = Series(
    "bernstein_sessions_ended_total",
    "counter",
    ("namespace", "adapter", "reason"),
    "AgentSessions that ended, by the reason of their outcome (`Succeeded` or a failure's name).",
)
JOB_SECONDS = Series(
    "bernstein_job_duration_seconds",
    "histogram",
    ("namespace", "kind", "result"),
    "Run time of Jobs by kind (`agent`, `check`, `format`, `inspect`, `judge`, `begin`, `prepare`, "
    "`land`, `propose`, `watch`, `listen`, `probe`, `prune`, `cache`) and result (`succeeded`, "
    "`failed`).",
    JOB_BUCKETS,
)
SIGNAL_VERDICTS = Series(
    "bernstein_signal_verdicts_total",
    "counter",
    ("namespace", "type", "verdict"),
    "Verdicts of completion signals, by the signal's type, on the work of a Task and on a Plan's "
    "as a whole.",
)
GATE_VERDICTS = Series(
    "bernstein_gate_verdicts_total",
    "counter",
    ("namespace", "gate", "verdict"),
    "Verdicts of quality gates, by the gate's name, on the work of a Task and on a Plan's as a "
    "whole.",
)
GATE_CACHE_HITS = Series(
    "bernstein_gate_cache_hits_total",
    "counter",
    ("namespace", "gate"),
    "Of these, verdicts on a tree that were known, so that no Job was run for them.",
)
VERIFICATIONS = Series(
    "bernstein_verifications_total",
    "counter",
    ("namespace", "attempt", "result"),
    "Verifications that ended: `attempt` is `first` or `later` of a Task, or `plan` for a Plan's "
    "work as a whole; `result` is `passed` or `rejected`. The first-pass rate is `first` and "
    "`passed` over `first`.",
)
QUALITY_SCORE = Series(
    "bernstein_quality_score_ratio",
    "histogram",
    ("namespace", "attempt"),
    "Quality scores of verifications that ended, from 0 to 1, where a gate with a weight ran; "
    "`attempt` as above.",
    SCORE_BUCKETS,
)
MERGES = Series(
    "bernstein_merges_total",
    "counter",
    ("namespace", "kind", "strategy", "forge", "result"),
    "Deliveries that ended, or came to an open pull request, by the kind of what was delivered "
    "(`Task`, `Plan`), by strategy (`direct`, `pr`), by the forge of its pull request (`gitea`, "
    "`github`, `gitlab`, else `none`) and by state (`Merged`, `PullRequestOpen`, `Conflict`, ...). "
    "What has changed nothing is `NoChange`, `direct` and `none` wherever it would have gone.",
)
FEEDBACK = Series(
    "bernstein_feedback_total",
    "counter",
    ("namespace", "kind"),
    "Times that what was said of a pull request went back to an agent, by whose it is (`Task`, "
    "`Plan`).",
)
FORGE_REQUESTS = Series(
    "bernstein_forge_requests_total",
    "counter",
    ("namespace", "forge", "answer"),
    "Requests by which Jobs that propose pull requests, watch them, or read what is said of them, "
    "asked the forge, counted when they ended, well or not, unless their pod was lost: `unchanged` "
    "ones were answered by a tag (304), and cost little or nothing of its limit; all others are "
    "`full`.",
)
FORGE_REMAINING = Series(
    "bernstein_forge_requests_remaining",
    "gauge",
    ("namespace", "project"),
    "Requests that the forge let a Project's token make when the last watching Job ended, until it "
    "raises its limit again; 0 once it has turned one away for its limits, whichever of them; "
    "absent where it does not say, or nothing is watched.",
)
REFS = Series(
    "bernstein_refs_pruned_total",
    "counter",
    ("namespace", "outcome"),
    "Refs below refs/bernstein/ that nobody needed any more, by what became of them: `deleted`; "
    "`left`, as they had been moved or the git server refused to delete them; `lost`, as there was "
    "no room to remember them.",
)
WITHDRAWN = Series(
    "bernstein_pull_requests_withdrawn_total",
    "counter",
    ("namespace", "outcome"),
    "Pull requests of deleted Plans and Tasks by what became of them: `closed`; `left` open, as "
    "the forge could not be asked, or refused.",
)
REFS_WAITING = Series(
    "bernstein_refs_waiting",
    "gauge",
    ("namespace", "project"),
    "Refs of deleted Plans, Tasks and sessions that are to be deleted; absent where there are "
    "none.",
)
CACHE_FILLS = Series(
    "bernstein_cache_fills_total",
    "counter",
    ("namespace", "outcome"),
    "Looks at caches of repositories by what became of them: `filled`; `unchanged`, as it had what "
    "the branch's tip needs; `failed`, also where pods could not mount the claim.",
)
CACHE_BYTES = Series(
    "bernstein_cache_filled_bytes_total",
    "counter",
    ("namespace",),
    "Bytes that were written to caches of repositories: packs and their indexes.",
)
BUDGETED_PLANS = Series(
    "bernstein_budgeted_plans",
    "gauge",
    ("namespace", "project", "spent"),
    "Plans with a budget that have not ended, by what they have spent of it: `less` than 80 %, "
    "`most`, or `all`.",
)
BUDGET = Series(
    "bernstein_budget_usd",
    "gauge",
    ("namespace", "project", "amount"),
    "US dollars of the budgets of Plans that have not ended: what of them is `spent`, and what is "
    "`left`.",
)
PLAN_SPEND = Series(
    "bernstein_plan_spend_usd",
    "gauge",
    ("namespace", "project", "plan"),
    "US dollars that a Plan has spent that has not ended; of the 200 that have spent most.",
)
PLAN_BUDGET = Series(
    "bernstein_plan_budget_usd",
    "gauge",
    ("namespace", "project", "plan"),
    "The budget of the same Plans in US dollars, of those that have one.",
)
COST = Series(
    "bernstein_cost_usd_total",
    "counter",
    ("namespace", "project", "adapter", "role", "tier"),
    "Spend in US dollars of AgentSessions that ended, as tokens times the price table, by the "
    "role of their Task and the tier of their model (`opus`, `sonnet`, `haiku`); others are "
    "`other`.",
)
TOKENS = Series(
    "bernstein_tokens_total",
    "counter",
    ("namespace", "project", "adapter", "role", "tier", "kind"),
    "Tokens of the same sessions by kind: `input` (uncached), `output`, `cache_read`, "
    "`cache_write`.",
)

QUEUE_DEPTH = Series(
    "workqueue_depth", "gauge", ("name",), "Keys that wait in a work queue, delayed ones aside."
)
QUEUE_ADDS = Series("workqueue_adds_total", "counter", ("name",), "Keys added to a work queue.")
QUEUE_WAIT = Series(
    "workqueue_queue_duration_seconds",
    "histogram",
    ("name",),
    "Time that a key waited in the queue before it was worked on.",
    QUEUE_BUCKETS,
)
QUEUE_WORK = Series(
    "workqueue_work_duration_seconds",
    "histogram",
    ("name",),
    "Time that working on a key took.",
    QUEUE_BUCKETS,
)
QUEUE_RETRIES = Series(
    "workqueue_retries_total", "counter", ("name",), "Keys put back with back-off after an error."
)
RECONCILES = Series(
    "controller_runtime_reconcile_total",
    "counter",
    ("controller", "result"),
    "Reconciles by result: `success`, `requeue_after`, `requeue`, `error`; `settled` = what has "
    "ended was seen to need none when the operator began to lead.",
)
RECONCILE_SECONDS = Series(
    "controller_runtime_reconcile_time_seconds",
    "histogram",
    ("controller",),
    "Time of one reconcile.",
    RECONCILE_BUCKETS,
)
REQUESTS = Series(
    "rest_client_requests_total",
    "counter",
    ("method", "resource", "code"),
    "Requests to the Kubernetes API by HTTP method (`WATCH` for watches), resource and status; "
    "code `<error>` = no answer.",
)
REQUEST_SECONDS = Series(
    "rest_client_request_duration_seconds",
    "histogram",
    ("verb", "resource"),
    "Time until the Kubernetes API answered; for watches until they were open.",
    REQUEST_BUCKETS,
)
LEADER = Series(
    "leader_election_master_status",
    "gauge",
    ("name",),
    "1 while this process holds the Lease of that name, else 0.",
)
RELISTS = Series(
    "bernstein_informer_relists_total",
    "counter",
    ("resource", "reason"),
    "Times an informer listed everything: `Started`, `CaughtUp` (its replica became "
    "the leader), `Expired` (its revision was too old), "
    "`Failed`.",
)

HTTP_REQUESTS = Series(
    "bernstein_http_requests_total",
    "counter",
    ("method", "route", "code"),
    "HTTP requests that the server answered, by route pattern (`unmatched` for unknown paths).",
)
HTTP_SECONDS = Series(
    "bernstein_http_request_duration_seconds",
    "histogram",
    ("route",),
    "Time until the server's answer was complete.",
    REQUEST_BUCKETS,
)
CALLBACKS = Series(
    "bernstein_callbacks_total",
    "counter",
    ("kind", "result"),
    "Callbacks of recorders (`heartbeat`, `result`): `written`, `unchanged`, `repeated`, or the "
    "reason for which they were refused.",
)
TOKEN_REVIEWS = Series(
    "bernstein_token_reviews_total",
    "counter",
    ("result",),
    "Callback tokens looked at: `cached`, `accepted`, `refused`, `malformed`, `limited`, "
    "`unavailable`.",
)
CERTIFICATE_EXPIRY = Series(
    "bernstein_certificate_expiry_timestamp_seconds",
    "gauge",
    (),
    "When the certificate ends that the server shows, in seconds since 1970; absent without TLS.",
)

TRACE_SPANS = Series(
    "bernstein_trace_spans_total",
    "counter",
    ("outcome",),
    "Spans of traces by what became of them: `sent`; `refused` by the collector; `dropped`, as it "
    "took none for ten minutes, or too many waited. Without a collector nothing is counted.",
)

ENGINE = (
    QUEUE_DEPTH,
    QUEUE_ADDS,
    QUEUE_WAIT,
    QUEUE_WORK,
    QUEUE_RETRIES,
    RECONCILES,
    RECONCILE_SECONDS,
    REQUESTS,
    REQUEST_SECONDS,
    LEADER,
    RELISTS,
)
OPERATOR = (
    TASKS,
    SESSIONS,
    PLANS,
    APPROVALS,
    STALLED,
    WAITING,
    TASK_MOVES,
    TASK_CLOSED_SECONDS,
    TASKS_CLOSED,
    AGENT_END_TO_CLOSED,
    WAITED,
    ANSWERS,
    DECISIONS,
    SESSIONS_STARTED,
    SESSIONS_ENDED,
    SESSIONS_SILENT,
    JOB_SECONDS,
    SIGNAL_VERDICTS,
    GATE_VERDICTS,
    GATE_CACHE_HITS,
    VERIFICATIONS,
    QUALITY_SCORE,
    MERGES,
    FEEDBACK,
    FORGE_REQUESTS,
    FORGE_REMAINING,
    REFS,
    WITHDRAWN,
    REFS_WAITING,
    CACHE_FILLS,
    CACHE_BYTES,
    BUDGETED_PLANS,
    BUDGET,
    PLAN_SPEND,
    PLAN_BUDGET,
    COST,
    TOKENS,
    TRACE_SPANS,
)
SERVER = (HTTP_REQUESTS, HTTP_SECONDS, CALLBACKS, TOKEN_REVIEWS, CERTIFICATE_EXPIRY)
ALL = (BUILD_INFO, *OPERATOR, *SERVER, *ENGINE)
