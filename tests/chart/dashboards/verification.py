"""Verification and gates: what is judged, how, and what comes of it."""

from __future__ import annotations

from bernstein.observe import series
from tests.chart.dashboards.board import Board
from tests.chart.dashboards.panels import (
    BAD,
    COUNT,
    GOOD,
    LEAST_FIRST_PASS,
    SECONDS,
    SHARE,
    WARNING,
    Panel,
    Query,
    figure,
)
from tests.chart.dashboards.queries import (
    SPAN,
    average,
    increase,
    quantile,
    rate,
    recorded,
    share,
    total,
)

JUDGES = "check|judge|format|inspect"
FIRST = {"attempt": "first"}
GATES, SIGNALS, HITS = series.GATE_VERDICTS, series.SIGNAL_VERDICTS, series.GATE_CACHE_HITS
_JUDGED = total(increase(GATES), "gate")
_ERRORED = total(increase(GATES, verdict="Errored"), "gate")
_REWORKED = total(increase(series.TASKS_CLOSED, attempts="!1"))

AT_ONCE = (
    figure(
        "First-pass rate",
        "First attempts that passed, of all first attempts.",
        SHARE,
        share(
            total(increase(series.VERIFICATIONS, result="passed", **FIRST)),
            total(increase(series.VERIFICATIONS, **FIRST)),
        ),
        width=5,
        base=BAD,
        steps=((LEAST_FIRST_PASS, GOOD),),
        alerts=("BernsteinFirstPassBurn",),
    ),
    figure(
        "Passed of all",
        "Verifications that passed, first and later ones.",
        SHARE,
        share(
            total(increase(series.VERIFICATIONS, result="passed")),
            total(increase(series.VERIFICATIONS)),
        ),
        width=5,
    ),
    figure(
        "Rework",
        "Tasks that took more than one attempt, of all that were Closed.",
        SHARE,
        share(_REWORKED, total(increase(series.TASKS_CLOSED))),
        width=5,
        steps=((1 - LEAST_FIRST_PASS, WARNING),),
    ),
    figure(
        "Quality score",
        "Average of verifications in which a gate with a weight ran.",
        SHARE,
        average(series.QUALITY_SCORE, over=SPAN),
        width=5,
    ),
    figure(
        "Sent back",
        "Times that what was said of a pull request went back to an agent.",
        COUNT,
        total(increase(series.FEEDBACK)),
    ),
)


def _burns(title: str, told: str, records: str, objective: str, alert: str) -> Panel:
    """The share of what misses an objective, over four windows, beside what it allows."""
    return Panel(
        title,
        told,
        "lines",
        SHARE,
        (
            *(
                Query(f"max({recorded(f'{records}:ratio_rate{window}')})", window)
                for window in ("10m", "1h", "6h", "3d")
            ),
            Query(f"1 - {recorded(f'{objective}:objective')}", "allowed"),
        ),
        width=12,
        highest=1,
        alerts=(alert,),
    )


OBJECTIVE = (
    _burns(
        "Rejected at first sight",
        "Share of first attempts over four windows; above the dashed line an error budget burns.",
        "first_pass_rejected",
        "first_pass",
        "BernsteinFirstPassBurn",
    ),
    _burns(
        "Closed late",
        "Share of Tasks that were Closed later than wanted, over four windows.",
        "closed_late",
        "closed_in_time",
        "BernsteinClosedLateBurn",
    ),
    Panel(
        "Verifications",
        "That ended, by attempt and result.",
        "bars",
        COUNT,
        (
            Query(
                total(increase(series.VERIFICATIONS), "attempt", "result"),
                "{{attempt}}: {{result}}",
            ),
        ),
    ),
    Panel(
        "Quality scores",
        "Half of them are below.",
        "lines",
        SHARE,
        (Query(quantile(0.5, series.QUALITY_SCORE, "attempt", over="1h"), "{{attempt}}"),),
        highest=1,
    ),
    Panel(
        "Agent's end to Closed",
        "Checks, turn and merge: half of them, and nine of ten.",
        "lines",
        SECONDS,
        (
            Query(quantile(0.5, series.AGENT_END_TO_CLOSED, over="1h"), "half"),
            Query(quantile(0.9, series.AGENT_END_TO_CLOSED, over="1h"), "nine of ten"),
        ),
    ),
)

OF_GATES = (
    Panel(
        "Verdicts of gates",
        "By gate and verdict.",
        "bars",
        COUNT,
        (Query(total(increase(GATES), "gate", "verdict"), "{{gate}}: {{verdict}}"),),
    ),
    Panel(
        "Gates that reject",
        "Share of a gate's verdicts that were Failed.",
        "bars",
        SHARE,
        (
            Query(
                share(total(increase(GATES, verdict="Failed"), "gate"), _JUDGED),
                "{{gate}}",
            ),
        ),
        highest=1,
    ),
    Panel(
        "Gates that cannot judge",
        "Share of a gate's verdicts that were Errored.",
        "bars",
        SHARE,
        (Query(share(_ERRORED, _JUDGED), "{{gate}}"),),
        steps=((0.2, BAD),),
        highest=1,
        alerts=("BernsteinGateErrored",),
    ),
    Panel(
        "Verdicts that were known",
        "Share of a gate's verdicts for which no Job was run.",
        "bars",
        SHARE,
        (Query(share(total(increase(HITS), "gate"), _JUDGED), "{{gate}}"),),
        highest=1,
    ),
    Panel(
        "Verdicts of signals",
        "By type and verdict.",
        "bars",
        COUNT,
        (Query(total(increase(SIGNALS), "type", "verdict"), "{{type}}: {{verdict}}"),),
    ),
    Panel(
        "Verdicts an hour",
        "By verdict, of gates and of signals.",
        "lines",
        COUNT,
        (
            Query(f"3600 * {total(rate(GATES), 'verdict')}", "gates: {{verdict}}"),
            Query(f"3600 * {total(rate(SIGNALS), 'verdict')}", "signals: {{verdict}}"),
        ),
    ),
)

JOBS = (
    Panel(
        "Jobs that judge",
        "How long nine of ten ran, by kind.",
        "lines",
        SECONDS,
        (Query(quantile(0.9, series.JOB_SECONDS, "kind", over="1h", kind=JUDGES), "{{kind}}"),),
        width=12,
    ),
    Panel(
        "Jobs by result",
        "All kinds of Jobs that ended.",
        "bars",
        COUNT,
        (
            Query(
                total(increase(series.JOB_SECONDS, "count"), "kind", "result"),
                "{{kind}}: {{result}}",
            ),
        ),
        width=12,
    ),
)

VERIFICATION = Board(
    "verification",
    "Bernstein / Verification and gates",
    "How much passes, which gates reject, which cannot judge, and what that costs in time.",
    {"At once": AT_ONCE, "Objectives": OBJECTIVE, "Gates and signals": OF_GATES, "Jobs": JOBS},
    since="now-24h",
)
