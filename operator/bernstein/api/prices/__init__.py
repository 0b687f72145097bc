"""The built-in price table."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from bernstein.api.project import Price


@cache
def built_in() -> tuple[Price, ...]:
    """Prices in US dollars per million tokens, from the package's data file."""
    text = resources.files(__name__).joinpath("prices.json").read_text(encoding="utf-8")
    return tuple(Price.model_validate(row) for row in json.loads(text)["prices"])
