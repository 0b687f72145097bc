"""Each alert has a page, and what stands on it exists: headings, commands, series, reasons."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bernstein.api.pod import SESSION_OVER
from bernstein.cli.commands import COMMANDS
from bernstein.observe import series
from tests import monitoring
from tests.unit.docs.pages import ROOT

RUNBOOKS = ROOT / monitoring.RUNBOOKS
PAGES = sorted(path for path in RUNBOOKS.glob("*.md") if path.stem != "README")
HEADINGS = ["Meaning", "Impact", "Diagnosis", "Mitigation"]
PROCESS = ("process_cpu_seconds_total",)
"""Series of every process."""
_OF_HISTOGRAMS = re.compile(r"_(bucket|count|sum)$")
NAMED = re.compile(r"\b(?:bernstein|workqueue|controller_runtime|rest_client|process)_[a-z_]+\b")


def names() -> set[str]:
    return {entry.name for entry in series.ALL} | set(PROCESS)


def unknown(text: str) -> set[str]:
    """The series in `text` that nobody has."""
    return {
        name
        for name in NAMED.findall(text)
        if name not in names() and _OF_HISTOGRAMS.sub("", name) not in names()
    }


def test_every_alert_has_its_page_and_no_page_is_left_over() -> None:
    assert [page.stem for page in PAGES] == monitoring.alert_names()
    for alert in monitoring.alerts():
        url = alert["annotations"]["runbook_url"]
        assert url == f"{monitoring.RUNBOOKS}{alert['alert']}.md"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_it_says_what_it_means_whom_it_hurts_how_to_look_and_what_helps(page: Path) -> None:
    text = page.read_text()
    assert text.startswith(f"# {page.stem}\n")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == HEADINGS
    diagnosis = text.partition("## Diagnosis")[2].partition("## Mitigation")[0]
    assert re.search(r"^\$ (kubectl|bernstein) ", diagnosis, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_and_series_that_it_names_exist(page: Path) -> None:
    text = page.read_text()
    commands = {command.name for command in COMMANDS}
    called = re.findall(r"(?:`|^\$ )bernstein ([a-z-]+)", text, re.MULTILINE)
    assert set(called) <= commands
    assert unknown(text) == set()


def test_every_word_for_which_a_callback_is_refused_has_its_row() -> None:
    server = ROOT / "operator/bernstein/server"
    sources = [(server / name).read_text() for name in ("sessions.py", "http/refusal.py")]
    answered = {SESSION_OVER, *re.findall(r'Refusal\(\s*\d{3},\s*"(\w+)"', " ".join(sources))}
    (rule,) = (each for each in monitoring.alerts() if each["alert"] == "BernsteinCallbacksRefused")
    (reviewed,) = re.findall(r'token_reviews_total\{result=~"([a-z|]+)"', rule["expr"])
    not_believed = set(re.findall(r'token_reviewed\("(\w+)"', (server / "identity.py").read_text()))

    page = (RUNBOOKS / "BernsteinCallbacksRefused.md").read_text()
    rows = re.findall(r"^\| (`.+?`) \|", page, re.MULTILINE)
    told = {word for row in rows[1:] for word in re.findall(r"`(\w+)`", row)}

    assert set(reviewed.split("|")) == not_believed - {"accepted", "cached"}
    assert told == answered | set(reviewed.split("|"))


def test_the_list_has_every_alert_with_its_severities() -> None:
    page = (RUNBOOKS / "README.md").read_text()
    listed = dict(re.findall(r"^\| \[(\w+)\]\(\1\.md\) \| (.+?) \|", page, re.MULTILINE))
    severities: dict[str, list[str]] = {}
    for alert in monitoring.alerts():
        severities.setdefault(alert["alert"], []).append(f"`{alert['labels']['severity']}`")
    assert listed == {name: " or ".join(of) for name, of in severities.items()}


@pytest.mark.parametrize(
    "rule", monitoring.every_rule(), ids=lambda r: r.get("alert", r.get("record"))
)
def test_rules_read_no_series_that_does_not_exist(rule: dict[str, str]) -> None:
    recorded = {record["record"] for record in monitoring.records()}
    assert set(re.findall(r"\bbernstein:[a-z0-9_:]+", rule["expr"])) <= recorded
    assert unknown(re.sub(r"\bbernstein:[a-z0-9_:]+", "", rule["expr"])) == set()


@pytest.mark.parametrize(
    "rule", monitoring.every_rule(), ids=lambda r: r.get("alert", r.get("record"))
)
def test_rules_match_and_group_by_labels_that_the_series_have(rule: dict[str, str]) -> None:
    of_target = {"job", "instance", "le"}
    for name, matchers in re.findall(r"\b([a-z_]+)\{([^}]*)\}", rule["expr"]):
        entry = next(e for e in series.ALL if e.name == _OF_HISTOGRAMS.sub("", name))
        matched = set(re.findall(r"([a-z_]+)(?:=|!|=~)", matchers))
        assert matched <= {*entry.labels, *of_target}
    known = {label for entry in series.ALL for label in entry.labels} | of_target
    for grouped in re.findall(r"(?:by|on) \(([^)]*)\)", rule["expr"]):
        assert {*filter(None, grouped.split(", "))} <= known


def test_the_time_to_closed_that_is_wanted_is_a_bucket() -> None:
    wanted = monitoring.values()["rules"]["objectives"]["closedWithinSeconds"]
    assert wanted in series.TASK_CLOSED_SECONDS.buckets
