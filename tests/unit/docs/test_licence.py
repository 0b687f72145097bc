"""The package, the chart and the image say the same licence, and its text is complete."""

from __future__ import annotations

import hashlib
import tomllib

import yaml

from tests.unit.docs.pages import ROOT

TEXTS = {"Apache-2.0": "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30"}
"""SHA-256 of https://www.apache.org/licenses/LICENSE-2.0.txt, by SPDX identifier."""
PACKAGE = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CHART = yaml.safe_load((ROOT / "charts/bernstein/Chart.yaml").read_text())
DOCKERFILE = (ROOT / "images/bernstein/Dockerfile").read_text()


def test_the_text_is_the_whole_licence_that_the_package_names() -> None:
    assert PACKAGE["license-files"] == ["LICENSE"]
    found = hashlib.sha256((ROOT / "LICENSE").read_bytes()).hexdigest()
    assert found == TEXTS[PACKAGE["license"]]


def test_the_chart_names_the_same_licence() -> None:
    assert CHART["annotations"]["artifacthub.io/license"] == PACKAGE["license"]


def test_the_image_takes_the_text_along() -> None:
    copied = [line.split()[1:-1] for line in DOCKERFILE.splitlines() if line.startswith("COPY ")]
    assert ["pyproject.toml", "LICENSE"] in copied
