"""Panels: a figure, lines over time, bars side by side, a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from grafana_foundation_sdk.builders import bargauge, common, stat, table, timeseries
from grafana_foundation_sdk.builders.dashboard import DashboardLink, ThresholdsConfig
from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.models import common as looks
from grafana_foundation_sdk.models import dashboard as model
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

SOURCE = model.DataSourceRef(type_val="prometheus", uid="${datasource}")
RUNBOOKS = "RUNBOOKS"
"""The word for which the chart puts where the pages of alerts are."""
Kind = Literal["figure", "lines", "stacked", "bars", "table"]
Builder: TypeAlias = stat.Panel | timeseries.Panel | bargauge.Panel | table.Panel
Steps: TypeAlias = tuple[tuple[float, str], ...]

COUNT, USD, SECONDS, SHARE, BYTES = "short", "currencyUSD", "s", "percentunit", "bytes"
PER_SECOND, DAYS = "ops", "d"
GOOD, WARNING, BAD = "green", "orange", "red"
NONE_IS_GOOD: Steps = ((1, BAD),)
LEAST_FIRST_PASS = 0.7
"""An objective is never lower; the line of the one that is set is drawn beside it."""


@dataclass(frozen=True)
class Query:
    """`legend` names each line by its labels: `{{label}}`."""

    expr: str
    legend: str = ""


@dataclass(frozen=True)
class Panel:
    """One thing to see. `steps`: from which value on it has which colour; what is below the first
    is `base`. `alerts` names the pages that say what to do about it."""

    title: str
    about: str
    kind: Kind
    unit: str
    queries: tuple[Query, ...]
    width: int = 8
    steps: Steps = ()
    base: str = GOOD
    alerts: tuple[str, ...] = ()
    highest: float | None = None

    @property
    def height(self) -> int:
        return 4 if self.kind == "figure" else 8

    @property
    def instant(self) -> bool:
        return self.kind in ("figure", "bars", "table")

    def builder(self) -> Builder:
        made = _BUILDERS[self.kind]()
        made.title(self.title).description(self.about).datasource(SOURCE)
        made.height(self.height).span(self.width).unit(self.unit)
        made.no_value("0" if self.unit in (COUNT, USD) else "-")
        made.min(0)
        if self.highest is not None:
            made.max(self.highest)
        made.thresholds(_thresholds(self.base, self.steps))
        if self.alerts:
            made.links([_runbook(alert) for alert in self.alerts])
        for number, query in enumerate(self.queries):
            made.with_target(self._target(query).ref_id(chr(ord("A") + number)))
        return made

    def _target(self, query: Query) -> Dataquery:
        made = Dataquery().expr(query.expr).datasource(SOURCE)
        if query.legend:
            made.legend_format(query.legend)
        if self.kind == "table":
            made.format(PromQueryFormat.TABLE)
        return made.instant() if self.instant else made.range()


def figure(
    title: str,
    about: str,
    unit: str,
    expr: str,
    *,
    width: int = 4,
    steps: Steps = (),
    base: str = GOOD,
    alerts: tuple[str, ...] = (),
) -> Panel:
    return Panel(title, about, "figure", unit, (Query(expr),), width, steps, base, alerts)


def _thresholds(base: str, steps: Steps) -> ThresholdsConfig:
    first = model.Threshold(value=None, color=base)
    others = [model.Threshold(value=value, color=color) for value, color in steps]
    return ThresholdsConfig().mode(model.ThresholdsMode.ABSOLUTE).steps([first, *others])


def _runbook(alert: str) -> DashboardLink:
    link = DashboardLink(f"Runbook: {alert}").type(model.DashboardLinkType.LINK)
    return link.url(f"{RUNBOOKS}{alert}.md").target_blank(True)


def _figure() -> stat.Panel:
    last = common.ReduceDataOptions().calcs(["lastNotNull"])
    made = stat.Panel().reduce_options(last).graph_mode(looks.BigValueGraphMode.NONE)
    return made.color_mode(looks.BigValueColorMode.VALUE)


def _lines() -> timeseries.Panel:
    legend = common.VizLegendOptions().show_legend(True)
    legend.display_mode(looks.LegendDisplayMode.LIST).placement(looks.LegendPlacement.BOTTOM)
    tooltip = common.VizTooltipOptions().mode(looks.TooltipDisplayMode.MULTI)
    made = timeseries.Panel().legend(legend).tooltip(tooltip).line_width(2).fill_opacity(0)
    line = common.GraphThresholdsStyleConfig().mode(looks.GraphThresholdsStyleMode.OFF)
    return made.show_points(looks.VisibilityMode.NEVER).thresholds_style(line)


def _stacked() -> timeseries.Panel:
    stacking = common.StackingConfig().mode(looks.StackingMode.NORMAL).group("A")
    return _lines().stacking(stacking).fill_opacity(40).line_width(1)


def _bars() -> bargauge.Panel:
    last = common.ReduceDataOptions().calcs(["lastNotNull"])
    made = bargauge.Panel().reduce_options(last).orientation(looks.VizOrientation.HORIZONTAL)
    return made.display_mode(looks.BarGaugeDisplayMode.BASIC)


def _table() -> table.Panel:
    hidden = model.DataTransformerConfig(id_val="organize", options={"excludeByName": _NOT_SHOWN})
    return table.Panel().with_transformation(hidden)


_NOT_SHOWN = {"Time": True}
_BUILDERS: Mapping[Kind, Callable[[], Builder]] = {
    "figure": _figure,
    "lines": _lines,
    "stacked": _stacked,
    "bars": _bars,
    "table": _table,
}
