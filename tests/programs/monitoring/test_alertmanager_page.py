"""The Alertmanager example, read by Alertmanager's own tool: who is told of what."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests import monitoring

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "monitor.md"


def amtool(*arguments: str) -> str:
    done = subprocess.run(
        ["amtool", *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def example(tmp_path: Path) -> str:
    found = re.search(r"```yaml\n(# alertmanager\.yml\n.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None
    path = tmp_path / "alertmanager.yml"
    path.write_text(found[1])
    return str(path)


def test_alertmanager_takes_it(example: str) -> None:
    assert "SUCCESS" in amtool("check-config", example)


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        (("alertname=BernsteinNoLeader", "severity=critical"), "on-call"),
        (("alertname=BernsteinCertificateEnds", "severity=warning"), "platform"),
        (("alertname=BernsteinStalled", "severity=warning", "namespace=team-a"), "team-a"),
        (("alertname=BernsteinBudgetSpent", "severity=critical", "namespace=team-a"), "team-a"),
        (("alertname=BernsteinStalled", "severity=warning", "namespace=team-b"), "platform"),
    ],
)
def test_each_alert_goes_to_whom_the_page_says(
    example: str, labels: tuple[str, ...], receiver: str
) -> None:
    told = amtool("config", "routes", "test", "--config.file", example, *labels)
    assert told.strip() == receiver


def test_it_names_no_alert_that_does_not_exist(example: str) -> None:
    for matcher in re.findall(r"alertname=~?\"([^\"]+)\"", Path(example).read_text()):
        assert any(re.fullmatch(matcher, name) for name in monitoring.alert_names()), matcher
