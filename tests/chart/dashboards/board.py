"""A dashboard: its variables, its rows of panels, and the way to the other ones."""

from __future__ import annotations

from dataclasses import dataclass

from grafana_foundation_sdk.builders.dashboard import (
    Dashboard,
    DashboardLink,
    DatasourceVariable,
    QueryVariable,
    Row,
)
from grafana_foundation_sdk.models import dashboard as model

from bernstein.observe import series
from tests.chart.dashboards.panels import SOURCE, Panel
from tests.chart.dashboards.queries import CHOSEN

TAG = "bernstein"
UNITED = "|".join((series.COST.name, series.TASKS_CLOSED.name, series.BUDGET.name))
VALUES = {
    "namespace": f"label_values({series.PLANS.name}, namespace)",
    "project": f'label_values({{__name__=~"{UNITED}", namespace=~"$namespace"}}, project)',
    "plan": (
        f'label_values({series.PLAN_SPEND.name}{{namespace=~"$namespace", project=~"$project"}},'
        " plan)"
    ),
}
"""Where the values come from that a user may choose."""


@dataclass(frozen=True)
class Board:
    """`name` is that of its file; `rows` are panels by the row's title."""

    name: str
    title: str
    about: str
    rows: dict[str, tuple[Panel, ...]]
    since: str = "now-6h"

    def panels(self) -> list[Panel]:
        return [panel for row in self.rows.values() for panel in row]

    def chosen(self) -> list[str]:
        """Variables that a query of it has, and those by which their values are chosen."""
        texts = " ".join(query.expr for panel in self.panels() for query in panel.queries)
        last = max((n for n, name in enumerate(CHOSEN) if f"${name}" in texts), default=-1)
        return list(CHOSEN[: last + 1])

    def built(self) -> model.Dashboard:
        made = (
            Dashboard(self.title)
            .uid(f"bernstein-{self.name}")
            .description(self.about)
            .tags([TAG])
            .timezone("browser")
            .time(self.since, "now")
            .refresh("1m")
            .tooltip(model.DashboardCursorSync.CROSSHAIR)
            .link(_to_the_others())
            .with_variable(DatasourceVariable("datasource").label("Data source").type("prometheus"))
        )
        for name in self.chosen():
            made.with_variable(_variable(name))
        numbers = iter(range(1, 1000))
        for title, panels in self.rows.items():
            made.with_row(Row(title).id(next(numbers)))
            for panel in panels:
                made.with_panel(panel.builder().id(next(numbers)))
        return made.build()


def _to_the_others() -> DashboardLink:
    kind = model.DashboardLinkType.DASHBOARDS
    link = DashboardLink("Bernstein").type(kind).tags([TAG]).as_dropdown(True)
    return link.include_vars(True).keep_time(True)


def _variable(name: str) -> QueryVariable:
    return (
        QueryVariable(name)
        .label(name.capitalize())
        .description(f"Narrows whatever is counted by {name}.")
        .datasource(SOURCE)
        .query({"query": VALUES[name], "refId": name})
        .refresh(model.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(model.VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(model.VariableOption(selected=True, text="All", value="$__all"))
    )
