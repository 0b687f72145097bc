"""Queries of the dashboards, made of the series that we have: one with a label that its series
lacks cannot be written."""

from __future__ import annotations

from bernstein.observe.series import BUILD_INFO, ENGINE, Series

LEASE = "OPERATOR_LEASE"
"""The word for which the chart puts the name of the operator's Lease."""
STEP, SPAN = "$__rate_interval", "$__range"
"""Grafana's own: some scrapes, and all that the dashboard shows."""
CHOSEN = ("namespace", "project", "plan")
"""Labels by which a user of a dashboard chooses: a series that has one is narrowed by it."""
PARTS = ("bucket", "sum", "count")


def select(entry: Series, part: str = "", /, **where: str) -> str:
    """The series with these values of labels: `a|b` is either, `~x` what the regular expression
    matches, and `!` before any of them all else.

    `part` of a histogram: `bucket`, `sum` or `count`. Raises ValueError for what it does not have.
    """
    unknown = where.keys() - {*entry.labels} - ({"le"} if part == "bucket" else set())
    if unknown:
        raise ValueError(f"{entry.name} has no label {', '.join(sorted(unknown))}")
    if (entry.kind == "histogram") is not (part in PARTS):
        raise ValueError(f"{entry.name} is a {entry.kind}, which has no part {part!r}")
    matchers = [f'{label}=~"${label}"' for label in CHOSEN if label in entry.labels]
    matchers += [_matcher(label, value) for label, value in where.items()]
    name = f"{entry.name}_{part}" if part else entry.name
    return f"{name}{{{', '.join(matchers)}}}" if matchers else name


def _matcher(label: str, value: str) -> str:
    wanted = value.removeprefix("!")
    pattern = wanted.startswith("~") or "|" in wanted
    operator = ("!" if value.startswith("!") else "") + ("=~" if pattern else "=")
    operator = operator.replace("!=~", "!~")
    return f'{label}{operator}"{wanted.removeprefix("~")}"'


def rate(entry: Series, part: str = "", /, *, over: str = STEP, **where: str) -> str:
    """How many a second."""
    return _ours(entry, f"rate({select(entry, part, **where)}[{over}])")


def increase(entry: Series, part: str = "", /, *, over: str = SPAN, **where: str) -> str:
    """How many in all."""
    return _ours(entry, f"increase({select(entry, part, **where)}[{over}])")


def now(entry: Series, /, **where: str) -> str:
    return _ours(entry, select(entry, **where))


def _ours(entry: Series, expression: str) -> str:
    """Series of the engine have names that other operators have, too."""
    if entry not in ENGINE:
        return expression
    return f"{expression} * on (job, instance) group_left () {BUILD_INFO.name}"


def total(expression: str, *by: str) -> str:
    return f"sum by ({', '.join(by)}) ({expression})" if by else f"sum({expression})"


def share(part: str, whole: str) -> str:
    """0 where nothing of it has happened yet: such a counter does not exist before."""
    return f"({part} or 0 * {whole}) / {whole}"


def quantile(share: float, entry: Series, *by: str, over: str = STEP, **where: str) -> str:
    """The value below which this share of what was observed is."""
    seen = total(rate(entry, "bucket", over=over, **where), "le", *by)
    return f"histogram_quantile({share}, {seen})"


def average(entry: Series, *by: str, over: str = STEP, **where: str) -> str:
    spent = total(rate(entry, "sum", over=over, **where), *by)
    return f"{spent} / {total(rate(entry, 'count', over=over, **where), *by)}"


def recorded(name: str) -> str:
    """What the rules record: an objective, or a ratio of each namespace."""
    chosen = "" if name.endswith(":objective") else '{namespace=~"$namespace"}'
    return f"bernstein:{name}{chosen}"
