"""The changelog has the form of Keep a Changelog, and knows the version that is here."""

from __future__ import annotations

import re
import tomllib

import yaml

from tests.unit.docs.pages import ROOT

TEXT = (ROOT / "CHANGELOG.md").read_text()
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
SECTIONS = [
    "Added",
    "Changed",
    "Deprecated",
    "Removed",
    "Fixed",
    "Security",
    "Upgrade notes",
]


def test_what_is_not_released_stands_before_the_versions_and_the_newest_is_this_one() -> None:
    first, *released = re.findall(r"^## (.*)$", TEXT, re.MULTILINE)

    assert first == "[Unreleased]"
    found = [re.findall(r"^\[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", r) for r in released]
    assert all(found)
    versions, dates = zip(*(one for (one,) in found), strict=True)
    assert versions[0] == VERSION
    assert list(dates) == sorted(dates, reverse=True)


def test_each_version_has_known_sections_in_order_and_none_is_empty() -> None:
    for version in TEXT.split("\n## ")[1:]:
        _, *sections = version.split("\n### ")
        titles = [section.splitlines()[0] for section in sections]
        assert titles == [title for title in SECTIONS if title in titles]
        assert all("\n- " in section for section in sections)


def test_the_chart_has_the_version_of_the_package() -> None:
    chart = yaml.safe_load((ROOT / "charts/bernstein/Chart.yaml").read_text())

    assert chart["version"] == VERSION
