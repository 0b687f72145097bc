"""What a registry of charts shows is what the chart brings."""

from __future__ import annotations

from typing import Any

import yaml

from bernstein import crds
from bernstein.api.plan import parse
from bernstein.core.plans.expansion import expand
from tests.chart.values_table import CHART

ANNOTATIONS = yaml.safe_load((CHART / "Chart.yaml").read_text())["annotations"]


def shown(name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(ANNOTATIONS[f"artifacthub.io/{name}"])
    return found


def test_every_kind_is_shown_as_its_definition_has_it() -> None:
    definitions = [crds.definition(kind) for kind in crds.KINDS]

    assert {(each["kind"], each["name"]) for each in shown("crds")} == {
        (d["spec"]["names"]["kind"], d["metadata"]["name"]) for d in definitions
    }
    assert {each["version"] for each in shown("crds")} == {
        version["name"] for d in definitions for version in d["spec"]["versions"]
    }
    assert all(each["displayName"] and each["description"] for each in shown("crds"))


def test_the_example_is_a_plan_that_can_run() -> None:
    (example,) = shown("crdsExamples")

    plan = parse({**example, "metadata": {**example["metadata"], "uid": "u"}})

    assert len(expand(plan, "default")) == 1
