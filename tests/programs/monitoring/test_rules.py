"""The rules in Prometheus' own checker: what each fires at, and what it does not."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import monitoring
from tests.programs.monitoring.promtool import promtool

HERE = Path(__file__).parent
ALERTS = HERE / "alerts"
RECORDS = HERE / "records.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.yaml").write_text(monitoring.rules())
    return tmp_path


def told(file: Path, kind: str) -> list[dict[str, Any]]:
    tests = yaml.safe_load(file.read_text())["tests"]
    return [expected for test in tests for expected in test.get(kind, ())]


def test_prometheus_takes_the_rules(folder: Path) -> None:
    promtool("check", "rules", "--lint=all", "--lint-fatal", "rules.yaml", folder=folder)


@pytest.mark.parametrize("file", [*sorted(ALERTS.iterdir()), RECORDS], ids=lambda file: file.stem)
def test_what_is_told_of_a_rule_is_so(file: Path, folder: Path) -> None:
    shutil.copy(file, folder)
    promtool("test", "rules", file.name, folder=folder)


def test_of_every_alert_it_is_told_when_it_fires_and_when_not() -> None:
    assert [file.stem for file in sorted(ALERTS.iterdir())] == monitoring.alert_names()
    for alert in monitoring.alerts():
        name, severity = alert["alert"], alert["labels"]["severity"]
        expected = told(ALERTS / f"{name}.yaml", "alert_rule_test")
        assert {each["alertname"] for each in expected} == {name}
        fired = [labels["exp_labels"] for each in expected for labels in each["exp_alerts"]]
        assert severity in {labels["severity"] for labels in fired}, name
        assert any(not each["exp_alerts"] for each in expected), name


def test_of_every_recording_rule_it_is_told_what_it_records() -> None:
    expected = [each["expr"] for each in told(RECORDS, "promql_expr_test") if each["exp_samples"]]
    for record in monitoring.records():
        assert any(re.search(rf"\b{record['record']}\b", expr) for expr in expected), record
