"""Overview: what runs, what waits and why, what it cost, and how well it went."""

from __future__ import annotations

from bernstein.observe import series
from tests.chart.dashboards.board import Board
from tests.chart.dashboards.panels import (
    BAD,
    COUNT,
    GOOD,
    LEAST_FIRST_PASS,
    NONE_IS_GOOD,
    SECONDS,
    SHARE,
    USD,
    WARNING,
    Panel,
    Query,
    figure,
)
from tests.chart.dashboards.queries import (
    average,
    increase,
    now,
    quantile,
    rate,
    recorded,
    share,
    total,
)

FIRST = {"attempt": "first"}
ENDED = "Invalid|Succeeded|DeliveredPartially|Failed|Cancelled"
"""Phases of Plans that do not go on."""

NOW = (
    figure(
        "Plans that go on",
        "Plans that have not ended, but for invalid ones.",
        COUNT,
        total(now(series.PLANS, phase=f"!{ENDED}")),
    ),
    figure(
        "Agents at work",
        "Sessions whose agent works.",
        COUNT,
        total(now(series.SESSIONS, state="Working")),
    ),
    figure(
        "Wait for a decision",
        "Approvals that nobody has decided yet.",
        COUNT,
        total(now(series.APPROVALS, state="Pending")),
        steps=((1, WARNING),),
    ),
    figure(
        "Need a person",
        "Plans, Tasks and Projects that do not go on by themselves.",
        COUNT,
        total(now(series.STALLED)),
        steps=NONE_IS_GOOD,
        alerts=("BernsteinStalled",),
    ),
    figure(
        "First-pass rate",
        "First attempts that passed verification, of all first attempts.",
        SHARE,
        share(
            total(increase(series.VERIFICATIONS, result="passed", **FIRST)),
            total(increase(series.VERIFICATIONS, **FIRST)),
        ),
        base=BAD,
        steps=((LEAST_FIRST_PASS, GOOD),),
        alerts=("BernsteinFirstPassBurn",),
    ),
    figure("Spent", "US dollars of sessions that ended.", USD, total(increase(series.COST))),
)

RUNS = (
    Panel(
        "Tasks",
        "Tasks that exist, by state.",
        "stacked",
        COUNT,
        (Query(total(now(series.TASKS), "state"), "{{state}}"),),
    ),
    Panel(
        "Sessions",
        "AgentSessions that exist, by state.",
        "stacked",
        COUNT,
        (Query(total(now(series.SESSIONS), "state"), "{{state}}"),),
    ),
    Panel(
        "Plans",
        "Plans that exist, by phase.",
        "stacked",
        COUNT,
        (Query(total(now(series.PLANS), "phase"), "{{phase}}"),),
    ),
)

WAITS = (
    Panel(
        "What waits, and for what",
        "Plans and Tasks that wait, by the reason that their status says.",
        "stacked",
        COUNT,
        (Query(total(now(series.WAITING), "kind", "reason"), "{{kind}}: {{reason}}"),),
    ),
    Panel(
        "How long they waited",
        "One wait on average, by its reason, counted when it ended.",
        "bars",
        SECONDS,
        (Query(average(series.WAITED, "kind", "reason", over="$__range"), "{{kind}}: {{reason}}"),),
    ),
    Panel(
        "What needs a person",
        "Each by why it does not go on by itself.",
        "table",
        COUNT,
        (Query(total(now(series.STALLED), "namespace", "kind", "reason")),),
        steps=NONE_IS_GOOD,
        alerts=("BernsteinStalled",),
    ),
    Panel(
        "Decisions of people",
        "Until they were acted upon, half of them and nine of ten.",
        "lines",
        SECONDS,
        (
            Query(quantile(0.5, series.DECISIONS, over="$__range"), "half"),
            Query(quantile(0.9, series.DECISIONS, over="$__range"), "nine of ten"),
        ),
    ),
    Panel(
        "Requests of people",
        "What people asked of Plans and Tasks, by the answer.",
        "bars",
        COUNT,
        (
            Query(
                total(increase(series.ANSWERS), "kind", "verb", "answer"),
                "{{kind}} {{verb}}: {{answer}}",
            ),
        ),
    ),
    Panel(
        "Silent agents",
        "Sessions at work of which nothing was heard for a minute.",
        "lines",
        COUNT,
        (Query(total(now(series.SESSIONS_SILENT), "namespace"), "{{namespace}}"),),
        steps=NONE_IS_GOOD,
        alerts=("BernsteinHeartbeatsLost",),
    ),
)

COSTS = (
    Panel(
        "Spend an hour",
        "US dollars of sessions that ended, by Project.",
        "stacked",
        USD,
        (
            Query(
                f"3600 * {total(rate(series.COST), 'namespace', 'project')}",
                "{{namespace}}/{{project}}",
            ),
        ),
        width=12,
    ),
    Panel(
        "Plans that have spent most",
        "Of those that go on.",
        "bars",
        USD,
        (
            Query(
                f"topk(10, {total(now(series.PLAN_SPEND), 'namespace', 'plan')})",
                "{{namespace}}/{{plan}}",
            ),
        ),
        width=12,
    ),
)

WELL = (
    Panel(
        "First-pass rate over time",
        "Of first attempts in the last hour, with what is wanted. Fewer than 5 alert nobody.",
        "lines",
        SHARE,
        (
            Query(
                share(
                    total(
                        increase(series.VERIFICATIONS, over="1h", result="passed", **FIRST),
                        "namespace",
                    ),
                    total(increase(series.VERIFICATIONS, over="1h", **FIRST), "namespace"),
                ),
                "{{namespace}}",
            ),
            Query(recorded("first_pass:objective"), "wanted"),
        ),
        highest=1,
        alerts=("BernsteinFirstPassBurn",),
    ),
    Panel(
        "Creation to Closed",
        "Of Tasks that were Closed: half of them, and nine of ten.",
        "lines",
        SECONDS,
        (
            Query(quantile(0.5, series.TASK_CLOSED_SECONDS, over="1h"), "half"),
            Query(quantile(0.9, series.TASK_CLOSED_SECONDS, over="1h"), "nine of ten"),
        ),
        alerts=("BernsteinClosedLateBurn",),
    ),
    Panel(
        "Closed by attempts",
        "How many attempts Tasks took that were Closed.",
        "bars",
        COUNT,
        (Query(total(increase(series.TASKS_CLOSED), "attempts"), "{{attempts}}"),),
    ),
    Panel(
        "Deliveries",
        "How deliveries ended.",
        "bars",
        COUNT,
        (Query(total(increase(series.MERGES), "kind", "result"), "{{kind}}: {{result}}"),),
        width=12,
    ),
    Panel(
        "Moves of Tasks",
        "How often Tasks entered a state, a second.",
        "lines",
        "ops",
        (Query(total(rate(series.TASK_MOVES), "state"), "{{state}}"),),
        width=12,
    ),
)

OVERVIEW = Board(
    "overview",
    "Bernstein / Overview",
    "What runs, what waits and why, what it cost, and how much passes at first sight.",
    {
        "Now": NOW,
        "What runs": RUNS,
        "What waits, and why": WAITS,
        "What it cost": COSTS,
        "How well it goes": WELL,
    },
)
