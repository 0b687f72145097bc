"""A table of prices of the chart is what the operator reads, and another one restarts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bernstein.controllers import settings
from tests.control_plane.chart.rendering.test_rendering import objects_of
from tests.control_plane.conftest import Tools

STAMP = "bernstein.dev/prices"


def operator(objects: list[dict[str, Any]]) -> dict[str, Any]:
    names = {(each["kind"], each["metadata"]["name"]): each for each in objects}
    template: dict[str, Any] = names["Deployment", "bernstein-operator"]["spec"]["template"]
    return template


def test_the_operator_reads_the_table_of_the_values(tools: Tools, tmp_path: Path) -> None:
    objects = objects_of(tools, "air-gapped")
    (table,) = (each for each in objects if each["metadata"]["name"] == "bernstein-prices")
    spec = operator(objects)["spec"]

    (argument,) = (a for a in spec["containers"][0]["args"] if a.startswith("--prices="))
    path = Path(argument.partition("=")[2])
    mounts = {m["name"]: Path(m["mountPath"]) for m in spec["containers"][0]["volumeMounts"]}
    assert mounts["prices"] == path.parent
    (tmp_path / path.name).write_text(table["data"][path.name])
    found = settings.prices(str(tmp_path / path.name))
    assert [(p.model, p.input, p.cache_read) for p in found] == [
        ("claude-opus", "15", "1.5"),
        ("local-coder", "0.02", "0"),
    ]


def test_other_prices_make_other_pods_and_none_make_none(tools: Tools) -> None:
    plain = operator(objects_of(tools, "default"))
    stamps = {
        operator(objects_of(tools, "air-gapped", *more))["metadata"]["annotations"][STAMP]
        for more in ((), ("--set-json", 'prices=[{"model":"a","input":"1","output":"2"}]'))
    }

    assert len(stamps) == 2
    assert "prices" not in yaml.safe_dump(plain)
