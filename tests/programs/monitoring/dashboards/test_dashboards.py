"""Every query of a dashboard, in Prometheus' own parser and over what a real one has scraped."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from html import escape
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from tests.chart.dashboards import BOARDS
from tests.chart.dashboards.board import VALUES, Board
from tests.chart.dashboards.panels import Panel
from tests.programs.monitoring.dashboards import played
from tests.programs.monitoring.dashboards.drawing import FOLDER, drawn
from tests.programs.monitoring.dashboards.events import NEEDS
from tests.programs.monitoring.dashboards.prometheus import ALL, Prometheus, prometheus, replaced
from tests.unit.docs.pages import ROOT, blocks, pages, prose

PANELS = [(board.name, panel) for board in BOARDS for panel in board.panels()]


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    folder = tmp_path_factory.mktemp("prometheus")
    with prometheus(folder, played.operator(), played.server()) as running:
        yield running


def empty(scraped: Prometheus, chosen: dict[str, str]) -> set[tuple[str, str]]:
    """Panels of which a query says nothing."""
    return {
        (board, panel.title)
        for board, panel in PANELS
        for query in panel.queries
        if not said(scraped, panel, replaced(query.expr, chosen))
    }


def said(scraped: Prometheus, panel: Panel, expr: str) -> bool:
    return bool(scraped.at_the_end(expr) if panel.instant else scraped.over_time(expr))


def test_prometheus_reads_every_query(tmp_path: Path) -> None:
    queries = [replaced(q.expr) for _, panel in PANELS for q in panel.queries]
    rules = [{"record": f"query:{n}", "expr": expr} for n, expr in enumerate(queries)]
    (tmp_path / "rules.yaml").write_text(
        yaml.safe_dump({"groups": [{"name": "dashboards", "rules": rules}]})
    )
    done = subprocess.run(
        ["promtool", "check", "rules", "--lint=none", "rules.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules)} rules found" in done.stdout


def asked_on_pages() -> dict[str, str]:
    """The queries that pages show, by where they stand."""
    found = {
        f"{block}+{number}": line
        for block in blocks("promql")
        for number, line in enumerate(block.text.splitlines())
    }
    for page in pages():
        for number, query in enumerate(_IN_A_SENTENCE.findall(prose(page))):
            found[f"{page.relative_to(ROOT)} {number}"] = query
    return found


_IN_A_SENTENCE = re.compile(
    r"`((?:count|histogram_quantile|max|rate|sum|topk)(?: by \([a-z_, ]+\) )?\([^`]+)`"
)
"""A query as a page quotes it, maybe in a table."""
UNANSWERED = {'rest_client_requests_total{code!~"2.."}', "process_cpu_seconds_total"}
"""The model's client refuses nothing, and is no process of its own."""


def test_the_queries_of_the_pages_are_answered(scraped: Prometheus) -> None:
    asked = asked_on_pages()
    assert len(asked) > 10

    empty = {place: query for place, query in asked.items() if not scraped.at_the_end(query)}

    assert [q for q in empty.values() if not any(part in q for part in UNANSWERED)] == []


def test_every_panel_shows_something_or_it_is_told_what_it_needs(scraped: Prometheus) -> None:
    assert empty(scraped, ALL) == set(NEEDS)


def test_who_chooses_a_namespace_and_a_project_sees_what_is_theirs(scraped: Prometheus) -> None:
    (namespace,) = scraped.values_of("namespace", replaced("bernstein_plans"))
    (project,) = scraped.values_of("project", "bernstein_budget_usd")
    chosen = {"namespace": namespace, "project": project, "plan": ".*"}
    assert empty(scraped, chosen) == set(NEEDS)

    nobody = empty(scraped, {**chosen, "namespace": "nobody"})
    narrowed = {
        (board, panel.title)
        for board, panel in PANELS
        if any("$namespace" in query.expr for query in panel.queries)
    }
    assert nobody == narrowed | set(NEEDS)


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.name)
def test_a_picture_shows_every_panel_and_there_is_one_for_the_docs(
    scraped: Prometheus, board: Board
) -> None:
    picture = drawn(board, scraped)
    kept = (FOLDER / f"dashboard-{board.name}.svg").read_text()
    for panel in board.panels():
        title = f">{escape(panel.title)}</text>"
        assert title in picture
        assert title in kept
    nothing = sum(name == board.name for name, _ in NEEDS)
    assert picture.count(">nothing yet<") <= nothing
    assert ET.fromstring(picture).tag.endswith("svg")  # noqa: S314 - it is our own


@pytest.mark.parametrize("name", VALUES)
def test_there_is_something_to_choose(scraped: Prometheus, name: str) -> None:
    selector, _, label = VALUES[name].removeprefix("label_values(").rpartition(",")
    assert label.strip(" )") == name
    assert scraped.values_of(name, replaced(selector))
