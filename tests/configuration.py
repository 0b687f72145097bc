"""What a program of ours is told, as those read it who play it in tests."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from typing import Any

from bernstein.api.encoding import load


def told(container: Mapping[str, Any]) -> dict[str, Any]:
    """The configuration in its command with every field, also those that have their default."""
    *_, program, text = container["command"]
    module = importlib.import_module(f"bernstein.pods.programs.{program}")
    return dataclasses.asdict(load(module.CONFIG, text.replace("$$", "$")))
