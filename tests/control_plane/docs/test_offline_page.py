"""The page on clusters without the internet: its chart renders, with its prices and digests."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import yaml

from bernstein.api import prices
from release import charts
from tests.control_plane.conftest import CHART, Tools
from tests.documents import documents
from tests.unit.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "install-without-internet.md"
VERSION = "0.1.0"
DIGEST = f"sha256:{'ab' * 32}"


def test_the_package_is_installed_as_the_page_says(tools: Tools, tmp_path: Path) -> None:
    (stated,) = (block.text for block in blocks("yaml") if block.page == PAGE)
    run = charts.helm(tools.folder / "helm")
    charts.package(run, CHART, VERSION, "bernstein", tmp_path, 1_700_000_000)
    (tmp_path / "prices.yaml").write_text(stated)
    (tmp_path / "values-digests.yaml").write_text(yaml.safe_dump({"image": {"digest": DIGEST}}))
    consoles = (block.text for block in blocks("console") if block.page == PAGE)
    (command,) = (text for text in consoles if text.startswith("$ helm upgrade"))
    words = shlex.split(re.sub(r"\\\n\s*", " ", command.removeprefix("$ ")))
    files = {path.name: str(path) for path in tmp_path.iterdir()}
    chosen = [files.get(word, word) for word in words if word not in ("--wait", "--install")]

    text = tools.helm("template", *(word for word in chosen[2:] if word != "--create-namespace"))

    assert f"image: registry.example.com/team/bernstein@{DIGEST}" in text
    objects = documents(text)
    (table,) = (each for each in objects if each["metadata"]["name"] == "bernstein-prices")
    found = prices.stated(table["data"]["prices.json"])
    assert [price.dump() for price in found] == [
        {"cacheRead": "0", "cacheWrite": "0", **row} for row in yaml.safe_load(stated)["prices"]
    ]
