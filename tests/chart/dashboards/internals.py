"""Operator and server internals: for who runs them."""

from __future__ import annotations

from bernstein.observe import series
from tests.chart.dashboards.board import Board
from tests.chart.dashboards.panels import (
    BAD,
    BYTES,
    COUNT,
    DAYS,
    GOOD,
    PER_SECOND,
    SECONDS,
    SHARE,
    WARNING,
    Panel,
    Query,
    figure,
)
from tests.chart.dashboards.queries import (
    LEASE,
    increase,
    now,
    quantile,
    rate,
    select,
    share,
    total,
)

OURS = f"* on (job, instance) group_left () {series.BUILD_INFO.name}"
TAKEN = "written|unchanged|repeated"
_QUEUED = select(series.QUEUE_DEPTH)
_LEADS = f"({select(series.LEADER, name=LEASE)} == 1)"
_REQUESTS = increase(series.HTTP_REQUESTS)

AT_ONCE = (
    figure(
        "Leads",
        "1: a replica of the operator has the Lease.",
        COUNT,
        f"max({select(series.LEADER, name=LEASE)})",
        base=BAD,
        steps=((1, GOOD),),
        alerts=("BernsteinOperatorDown", "BernsteinNoLeader"),
    ),
    figure(
        "Processes",
        "Of operator and server that are scraped.",
        COUNT,
        f"count({select(series.BUILD_INFO)})",
        alerts=("BernsteinServerDown",),
    ),
    figure(
        "Reconciles that failed",
        "Of all, in the last 10 minutes.",
        SHARE,
        share(
            total(rate(series.RECONCILES, over="10m", result="error")),
            total(rate(series.RECONCILES, over="10m")),
        ),
        steps=((0.1, BAD),),
        alerts=("BernsteinReconcileErrors",),
    ),
    figure(
        "Certificate ends in",
        "That which the server shows.",
        DAYS,
        f"(min({select(series.CERTIFICATE_EXPIRY)}) - time()) / 86400",
        base=BAD,
        steps=((7, WARNING), (14, GOOD)),
        alerts=("BernsteinCertificateEnds",),
    ),
    figure(
        "Callbacks refused",
        "What pods of agents reported and the server did not take.",
        COUNT,
        total(increase(series.CALLBACKS, result="!" + TAKEN)),
        steps=((30, BAD),),
        alerts=("BernsteinCallbacksRefused",),
    ),
    figure(
        "Server errors",
        "Of all requests, those answered with 5xx.",
        SHARE,
        share(total(increase(series.HTTP_REQUESTS, code="~5..")), total(_REQUESTS)),
        steps=((0.01, WARNING), (0.05, BAD)),
    ),
)

QUEUES = (
    Panel(
        "Depth of queues",
        "Keys that wait, of the replica that leads.",
        "lines",
        COUNT,
        (
            Query(
                f"max by (name) ({_QUEUED} * on (job, instance) group_left () {_LEADS})", "{{name}}"
            ),
        ),
        alerts=("BernsteinQueueStuck",),
    ),
    Panel(
        "Wait in queues",
        "Of nine of ten keys.",
        "lines",
        SECONDS,
        (Query(quantile(0.9, series.QUEUE_WAIT, "name"), "{{name}}"),),
    ),
    Panel(
        "Work on a key",
        "Of nine of ten keys.",
        "lines",
        SECONDS,
        (Query(quantile(0.9, series.QUEUE_WORK, "name"), "{{name}}"),),
    ),
    Panel(
        "Keys added",
        "A second.",
        "lines",
        PER_SECOND,
        (Query(total(rate(series.QUEUE_ADDS), "name"), "{{name}}"),),
    ),
    Panel(
        "Keys put back after an error",
        "A second.",
        "lines",
        PER_SECOND,
        (Query(total(rate(series.QUEUE_RETRIES), "name"), "{{name}}"),),
        alerts=("BernsteinReconcileErrors",),
    ),
    Panel(
        "Reconciles",
        "A second, by controller and result.",
        "lines",
        PER_SECOND,
        (
            Query(
                total(rate(series.RECONCILES), "controller", "result"), "{{controller}}: {{result}}"
            ),
        ),
        alerts=("BernsteinReconcileErrors",),
    ),
    Panel(
        "Time of a reconcile",
        "Of nine of ten, by controller.",
        "lines",
        SECONDS,
        (Query(quantile(0.9, series.RECONCILE_SECONDS, "controller"), "{{controller}}"),),
    ),
    Panel(
        "Lists of informers",
        "Everything of a resource, by why.",
        "bars",
        COUNT,
        (Query(total(increase(series.RELISTS), "resource", "reason"), "{{resource}}: {{reason}}"),),
    ),
    Panel(
        "Replicas",
        "Whether each leads.",
        "lines",
        COUNT,
        (Query(select(series.LEADER, name=LEASE), "{{instance}}"),),
        highest=1,
        alerts=("BernsteinNoLeader",),
    ),
)

API = (
    Panel(
        "Requests to the Kubernetes API",
        "A second, by method and status.",
        "lines",
        PER_SECOND,
        (Query(total(rate(series.REQUESTS), "method", "code"), "{{method}} {{code}}"),),
        width=12,
    ),
    Panel(
        "Answers of the Kubernetes API",
        "Until nine of ten came, watches aside.",
        "lines",
        SECONDS,
        (Query(quantile(0.9, series.REQUEST_SECONDS, "verb", verb="!WATCH"), "{{verb}}"),),
        width=12,
    ),
)

SERVER = (
    Panel(
        "Requests to the server",
        "A second, by route and status.",
        "lines",
        PER_SECOND,
        (Query(total(rate(series.HTTP_REQUESTS), "route", "code"), "{{route}} {{code}}"),),
    ),
    Panel(
        "Answers of the server",
        "Until nine of ten were complete, by route.",
        "lines",
        SECONDS,
        (Query(quantile(0.9, series.HTTP_SECONDS, "route"), "{{route}}"),),
    ),
    Panel(
        "Callbacks",
        "What recorders reported, by what became of it.",
        "bars",
        COUNT,
        (Query(total(increase(series.CALLBACKS), "kind", "result"), "{{kind}}: {{result}}"),),
        alerts=("BernsteinCallbacksRefused",),
    ),
    Panel(
        "Tokens of callbacks",
        "That were looked at, by result.",
        "bars",
        COUNT,
        (Query(total(increase(series.TOKEN_REVIEWS), "result"), "{{result}}"),),
        alerts=("BernsteinCallbacksRefused",),
    ),
    Panel(
        "Memory",
        "Resident, of each process.",
        "lines",
        BYTES,
        (Query(f"process_resident_memory_bytes {OURS}", "{{job}} {{instance}}"),),
    ),
    Panel(
        "CPU",
        "Cores that each process uses.",
        "lines",
        COUNT,
        (
            Query(
                f"rate(process_cpu_seconds_total[$__rate_interval]) {OURS}", "{{job}} {{instance}}"
            ),
        ),
    ),
    Panel(
        "Spans of traces",
        "By what became of them.",
        "bars",
        COUNT,
        (Query(total(increase(series.TRACE_SPANS), "outcome"), "{{outcome}}"),),
        width=24,
    ),
)

REPOSITORIES = (
    Panel(
        "Requests to forges",
        "By forge; `unchanged` cost little of its limit.",
        "bars",
        COUNT,
        (
            Query(
                total(increase(series.FORGE_REQUESTS), "forge", "answer"), "{{forge}}: {{answer}}"
            ),
        ),
    ),
    Panel(
        "Requests left",
        "That a forge still lets a Project's token make.",
        "lines",
        COUNT,
        (Query(now(series.FORGE_REMAINING), "{{namespace}}/{{project}}"),),
        base=BAD,
        steps=((1, WARNING), (100, GOOD)),
    ),
    Panel(
        "Pull requests withdrawn",
        "Of what was deleted.",
        "bars",
        COUNT,
        (Query(total(increase(series.WITHDRAWN), "outcome"), "{{outcome}}"),),
    ),
    Panel(
        "Refs that wait to be deleted",
        "Of what was deleted, by Project.",
        "lines",
        COUNT,
        (Query(now(series.REFS_WAITING), "{{namespace}}/{{project}}"),),
    ),
    Panel(
        "Refs pruned",
        "By what became of them.",
        "bars",
        COUNT,
        (Query(total(increase(series.REFS), "outcome"), "{{outcome}}"),),
    ),
    Panel(
        "Looks at caches",
        "Of repositories, by what became of them.",
        "bars",
        COUNT,
        (Query(total(increase(series.CACHE_FILLS), "outcome"), "{{outcome}}"),),
    ),
    Panel(
        "Written to caches",
        "Bytes a second.",
        "lines",
        "Bps",
        (Query(total(rate(series.CACHE_BYTES), "namespace"), "{{namespace}}"),),
        width=24,
    ),
)

INTERNALS = Board(
    "internals",
    "Bernstein / Operator and server",
    "Whether they work: the Lease, queues, reconciles, the Kubernetes API, callbacks, forges.",
    {
        "At once": AT_ONCE,
        "Queues and reconciles": QUEUES,
        "Kubernetes API": API,
        "Server and processes": SERVER,
        "Repositories and forges": REPOSITORIES,
    },
)
