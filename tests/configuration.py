"""What a program of ours is told, as those read it who play it in tests."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from typing import Any

from bernstein.api.encoding import load
from bernstein.api.pod import CONFIG_VARIABLE


def told(container: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration in its environment with every field, also those that have their default."""
    text = next(e["value"] for e in container["env"] if e["name"] == CONFIG_VARIABLE)
    module = importlib.import_module(f"bernstein.pods.programs.{container['command'][-1]}")
    return dataclasses.asdict(load(module.CONFIG, text.replace("$$", "$")))
