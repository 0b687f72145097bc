"""Texts of YAML, read by libyaml: half a megabyte of CRDs, which the chart brings along, takes the
reader that is written in Python ten times as long."""

from __future__ import annotations

from typing import Any

import yaml


def documents(text: str) -> list[dict[str, Any]]:
    """All that a stream holds, without what is empty."""
    return [each for each in yaml.load_all(text, yaml.CSafeLoader) if each]


def document(text: str | bytes) -> Any:
    """The only one."""
    return yaml.load(text, yaml.CSafeLoader)
