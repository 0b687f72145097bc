"""The chart's rules and dashboards with the usual values: Helm renders the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.documents import document

CHART = Path(__file__).parents[1] / "charts" / "bernstein"
RULES = CHART / "files" / "monitoring" / "rules.yaml"
LEASE = "bernstein-operator"
"""What a release of the usual name calls it."""
RUNBOOKS = "docs/runbooks/"


def rules() -> str:
    """The text of the rules."""
    objectives = values()["rules"]["objectives"]
    text = RULES.read_text()
    for word, value in (
        ("FIRST_PASS_OBJECTIVE", objectives["firstPass"]),
        ("CLOSED_OBJECTIVE", objectives["closed"]),
        ("CLOSED_WITHIN", f"{objectives['closedWithinSeconds']:.1f}"),
        ("OPERATOR_LEASE", LEASE),
        ("RUNBOOKS", RUNBOOKS),
    ):
        text = text.replace(word, str(value))
    return text


def dashboards() -> dict[str, Any]:
    """Each dashboard by its file's name, as Grafana reads it."""
    folder = CHART / "files" / "monitoring" / "dashboards"
    return {
        path.name: json.loads(
            path.read_text().replace("OPERATOR_LEASE", LEASE).replace("RUNBOOKS", RUNBOOKS)
        )
        for path in folder.glob("*.json")
    }


def values() -> dict[str, Any]:
    """What the chart's values say of monitoring."""
    of_monitoring: dict[str, Any] = document((CHART / "values.yaml").read_text())["monitoring"]
    return of_monitoring


def every_rule() -> list[dict[str, Any]]:
    return [rule for group in document(rules())["groups"] for rule in group["rules"]]


def alerts() -> list[dict[str, Any]]:
    return [rule for rule in every_rule() if "alert" in rule]


def alert_names() -> list[str]:
    return sorted({alert["alert"] for alert in alerts()})


def records() -> list[dict[str, Any]]:
    return [rule for rule in every_rule() if "record" in rule]
