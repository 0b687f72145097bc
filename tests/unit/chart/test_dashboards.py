"""The chart's dashboards: what stands in their files, and that it means something."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from bernstein.observe import series
from tests import monitoring
from tests.chart import dashboards
from tests.chart.dashboards import queries
from tests.chart.dashboards.queries import CHOSEN, select
from tests.unit.docs.pages import ROOT
from tests.unit.docs.test_runbooks import PROCESS

STORED = dashboards.stored()
OF_PROCESSES = {*PROCESS, "process_resident_memory_bytes"}
OF_TARGETS = {"job", "instance", "le"}
_PART = re.compile(r"_(bucket|count|sum)$")
_WORDS = {"sum", "max", "min", "count", "rate", "increase", "histogram_quantile", "topk", "time"}
_WORDS |= {"by", "on", "group_left", "or"}


def panels(board: dict[str, Any]) -> list[dict[str, Any]]:
    """Those of a stored dashboard, rows aside."""
    return [panel for panel in board["panels"] if panel["type"] != "row"]


EVERY = [(name, panel) for name, board in STORED.items() for panel in panels(board)]
QUERIES = [
    pytest.param(target, id=f"{name}: {panel['title']} {target['refId']}")
    for name, panel in EVERY
    for target in panel["targets"]
]


def entry(name: str) -> series.Series | None:
    by_name = {each.name: each for each in series.ALL}
    return by_name.get(name) or by_name.get(_PART.sub("", name))


def test_the_files_are_what_the_code_makes_and_no_other_is_there() -> None:
    folder = dashboards.FOLDER
    assert {path: path.read_text() for path in folder.iterdir()} == dashboards.files()


def test_the_four_that_there_are_lead_to_each_other() -> None:
    assert set(STORED) == {"overview", "verification", "cost", "internals"}
    for board in STORED.values():
        (link,) = board["links"]
        assert set(link["tags"]) <= set(board["tags"])
    assert len({board["uid"] for board in STORED.values()}) == len(STORED)


@pytest.mark.parametrize("target", QUERIES)
def test_a_query_reads_series_that_there_are_by_labels_that_they_have(
    target: dict[str, Any],
) -> None:
    expr = target["expr"]
    recorded = {rule["record"] for rule in monitoring.records()}
    assert set(re.findall(r"bernstein:\w+(?::\w+)*", expr)) <= recorded
    plain = re.sub(r"bernstein:[\w:]+", "", expr)
    for name, matchers in re.findall(r"([a-z_]+)\{([^}]*)\}", plain):
        known = entry(name)
        assert known is not None, name
        extra = {"le"} if name.endswith("_bucket") else set()
        assert set(re.findall(r"(\w+)(?:=~|!~|!=|=)", matchers)) <= {*known.labels, *extra}
    bare = re.sub(r'"[^"]*"|\{[^}]*\}|\[[^\]]*\]|(?:by|on|group_left) \([^)]*\)', "", plain)
    names = set(re.findall(r"[a-z][a-z_]+", bare)) - _WORDS
    assert all(entry(name) or name in OF_PROCESSES for name in names), names


@pytest.mark.parametrize("target", QUERIES)
def test_lines_are_grouped_and_named_by_labels_of_their_series(target: dict[str, Any]) -> None:
    expr = re.sub(r"bernstein:[\w:]+", "", target["expr"])
    used = {e for name in re.findall(r"[a-z][a-z_]+", expr) if (e := entry(name))}
    labels = {label for each in used for label in each.labels} | OF_TARGETS
    grouped = set(re.findall(r"\w+", " ".join(re.findall(r"\bby \(([^)]*)\)", expr))))
    named = set(re.findall(r"\{\{(\w+)\}\}", target.get("legendFormat", "")))
    assert grouped <= labels
    assert named <= (grouped or labels)


@pytest.mark.parametrize(("name", "panel"), EVERY, ids=lambda each: str(each)[:20])
def test_a_panel_says_what_it_shows_in_which_unit_and_what_to_do(
    name: str, panel: dict[str, Any]
) -> None:
    defaults = panel["fieldConfig"]["defaults"]
    assert panel["description"].endswith(".")
    assert defaults["unit"]
    assert defaults["thresholds"]["steps"][0].get("value") is None
    assert panel["datasource"]["uid"] == "${datasource}"
    for link in panel.get("links", ()):
        page = link["url"].replace("RUNBOOKS", monitoring.RUNBOOKS)
        assert (ROOT / page).is_file()


@pytest.mark.parametrize("name", STORED)
def test_titles_are_told_apart_and_panels_lie_side_by_side(name: str) -> None:
    titles = [panel["title"] for panel in panels(STORED[name])]
    assert len(set(titles)) == len(titles)
    taken: set[tuple[int, int]] = set()
    for panel in STORED[name]["panels"]:
        at = panel["gridPos"]
        x, y = at.get("x", 0), at.get("y", 0)
        cells = {(a, b) for a in range(x, x + at["w"]) for b in range(y, y + at["h"])}
        assert not cells & taken, panel["title"]
        assert x + at["w"] <= 24
        taken |= cells


@pytest.mark.parametrize("name", STORED)
def test_a_dashboard_has_the_variables_that_narrow_something_in_it(name: str) -> None:
    board = STORED[name]
    defined = [variable["name"] for variable in board["templating"]["list"]]
    texts = json.dumps([panel["targets"] for panel in panels(board)])
    used = [variable for variable in CHOSEN if f"${variable}" in texts]
    assert defined == ["datasource", *CHOSEN[: CHOSEN.index(used[-1]) + 1]]
    assert {"namespace", "project"} <= set(defined)


def test_every_series_of_ours_is_on_some_panel() -> None:
    texts = json.dumps([panel["targets"] for _, panel in EVERY])
    assert {each.name for each in series.ALL if each.name not in texts} == set()


def test_every_alert_is_on_some_panel() -> None:
    linked = {link["url"] for _, panel in EVERY for link in panel.get("links", ())}
    assert linked == {f"RUNBOOKS{name}.md" for name in monitoring.alert_names()}


@pytest.mark.parametrize(
    ("part", "where", "complaint"),
    [("", {"gate": "a"}, "has no label gate"), ("sum", {}, "is a gauge")],
)
def test_what_a_series_does_not_have_cannot_be_asked(
    part: str, where: dict[str, str], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        select(series.TASKS, part, **where)


def test_series_are_narrowed_by_what_was_chosen_and_those_of_the_engine_to_ours() -> None:
    assert select(series.TASKS, state="!Open|Done") == (
        'bernstein_tasks{namespace=~"$namespace", state!~"Open|Done"}'
    )
    assert queries.rate(series.QUEUE_ADDS).endswith(
        "* on (job, instance) group_left () bernstein_build_info"
    )
