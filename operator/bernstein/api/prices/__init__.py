"""The built-in tables: prices of models, and how many tokens they can make."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Any

from pydantic import Field

from bernstein.api.meta import Line, Model
from bernstein.api.project import Price


class Rate(Model):
    """Tokens a second that sessions with a model can have at most; absent: as of any model."""

    model: Line
    """Exact name, or a prefix of it; the longest match counts."""
    input: int | None = Field(default=None, ge=1)
    output: int | None = Field(default=None, ge=1)


@cache
def _tables() -> dict[str, Any]:
    text = resources.files(__name__).joinpath("prices.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


@cache
def built_in() -> tuple[Price, ...]:
    """Prices in US dollars per million tokens, from the package's data file."""
    return tuple(Price.model_validate(row) for row in _tables()["prices"])


@cache
def rates() -> tuple[Rate, ...]:
    """Tokens a second, from the same file."""
    return tuple(Rate.model_validate(row) for row in _tables()["rates"])
