"""Cost and routing: who spends what, for what, on which models."""

from __future__ import annotations

from bernstein.observe import series
from tests.chart.dashboards.board import Board
from tests.chart.dashboards.panels import (
    BAD,
    COUNT,
    NONE_IS_GOOD,
    SHARE,
    USD,
    WARNING,
    Panel,
    Query,
    figure,
)
from tests.chart.dashboards.queries import increase, now, rate, share, total

_CLOSED = total(increase(series.TASKS_CLOSED))
_READ = total(increase(series.TOKENS, kind="cache_read"))
_SPENT, _BUDGET = now(series.PLAN_SPEND), now(series.PLAN_BUDGET)
_FAILED = total(increase(series.SESSIONS_ENDED, reason="!Succeeded"))

AT_ONCE = (
    figure("Spent", "US dollars of sessions that ended.", USD, total(increase(series.COST))),
    figure(
        "For each Closed Task",
        "What was spent over the Tasks that were Closed.",
        USD,
        f"{total(increase(series.COST))} / {_CLOSED}",
    ),
    figure(
        "Read from caches",
        "Share of the input of models that providers had cached.",
        SHARE,
        share(_READ, total(increase(series.TOKENS, kind="input|cache_read|cache_write"))),
    ),
    figure(
        "Left in budgets",
        "Of Plans that have not ended.",
        USD,
        total(now(series.BUDGET, amount="left")),
    ),
    figure(
        "Nearly spent",
        "Plans that have spent 80 % of their budget.",
        COUNT,
        total(now(series.BUDGETED_PLANS, spent="most")),
        steps=((1, WARNING),),
        alerts=("BernsteinBudgetNearlySpent",),
    ),
    figure(
        "All spent",
        "Plans that have spent their budget: nothing of theirs begins.",
        COUNT,
        total(now(series.BUDGETED_PLANS, spent="all")),
        steps=NONE_IS_GOOD,
        alerts=("BernsteinBudgetSpent",),
    ),
)

MONEY = (
    Panel(
        "Spend an hour, by tier",
        "Tier of the model that a session had.",
        "stacked",
        USD,
        (Query(f"3600 * {total(rate(series.COST), 'tier')}", "{{tier}}"),),
    ),
    *(
        Panel(
            f"Spend by {label}",
            about,
            "bars",
            USD,
            (Query(total(increase(series.COST), *by), legend),),
        )
        for label, about, by, legend in (
            ("role", "Of the Task; one that is not built in is `other`.", ("role",), "{{role}}"),
            ("adapter", "What ran the agent.", ("adapter",), "{{adapter}}"),
            ("Project", "All of its Plans.", ("namespace", "project"), "{{namespace}}/{{project}}"),
            ("tier", "`other`: a model of no tier.", ("tier",), "{{tier}}"),
            (
                "role and tier",
                "Which models the routing gave to whom.",
                ("role", "tier"),
                "{{role}}: {{tier}}",
            ),
        )
    ),
)

TOKENS = (
    Panel(
        "Tokens a second",
        "Of sessions that ended, by kind.",
        "lines",
        COUNT,
        (Query(total(rate(series.TOKENS), "kind"), "{{kind}}"),),
        width=12,
    ),
    Panel(
        "Tokens",
        "By tier and kind.",
        "bars",
        COUNT,
        (Query(total(increase(series.TOKENS), "tier", "kind"), "{{tier}}: {{kind}}"),),
        width=12,
    ),
)

BUDGETS = (
    Panel(
        "Budgets of Projects",
        "Of Plans that have not ended: spent, and left.",
        "bars",
        USD,
        (
            Query(
                total(now(series.BUDGET), "namespace", "project", "amount"),
                "{{namespace}}/{{project}}: {{amount}}",
            ),
        ),
    ),
    Panel(
        "Plans by what they spent",
        "Plans with a budget: less than 80 % of it, most, all.",
        "stacked",
        COUNT,
        (Query(total(now(series.BUDGETED_PLANS), "spent"), "{{spent}}"),),
        alerts=("BernsteinBudgetNearlySpent", "BernsteinBudgetSpent"),
    ),
    Panel(
        "Share of a Plan's budget",
        "The ten that have least left.",
        "bars",
        SHARE,
        (Query(f"topk(10, {_SPENT} / {_BUDGET})", "{{namespace}}/{{plan}}"),),
        steps=((0.8, WARNING), (1, BAD)),
        alerts=("BernsteinBudgetNearlySpent", "BernsteinBudgetSpent"),
    ),
)

SESSIONS = (
    Panel(
        "Sessions that were started",
        "An hour, by adapter.",
        "lines",
        COUNT,
        (Query(f"3600 * {total(rate(series.SESSIONS_STARTED), 'adapter')}", "{{adapter}}"),),
    ),
    Panel(
        "How sessions ended",
        "By adapter and reason.",
        "bars",
        COUNT,
        (
            Query(
                total(increase(series.SESSIONS_ENDED), "adapter", "reason"),
                "{{adapter}}: {{reason}}",
            ),
        ),
        alerts=("BernsteinHeartbeatsLost",),
    ),
    figure(
        "Sessions that ended badly",
        "Of all that ended.",
        SHARE,
        share(_FAILED, total(increase(series.SESSIONS_ENDED))),
        width=8,
        steps=((0.2, WARNING), (0.5, BAD)),
    ),
)

COST = Board(
    "cost",
    "Bernstein / Cost and routing",
    "Who spends what, for what and on which models, and what budgets have left.",
    {
        "At once": AT_ONCE,
        "Money": MONEY,
        "Tokens": TOKENS,
        "Budgets": BUDGETS,
        "Sessions": SESSIONS,
    },
    since="now-24h",
)
