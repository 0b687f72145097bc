"""The built-in tables: prices of models, and how many tokens they can make.

A process may have other prices in place of them, from a file that it is told at its start.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from importlib import resources
from typing import Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

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


class _Stated(Price):
    """A key that is misspelled would leave its price at 0."""

    model_config = ConfigDict(extra="forbid")


_in_place: list[tuple[Price, ...]] = []


def built_in() -> tuple[Price, ...]:
    """Prices in US dollars per million tokens: of the package's data file, or those that `replace`
    was told."""
    return _in_place[-1] if _in_place else _of_package()


@cache
def _of_package() -> tuple[Price, ...]:
    return tuple(Price.model_validate(row) for row in _tables()["prices"])


def replace(prices: tuple[Price, ...]) -> None:
    """Have these in place of the package's, in this process."""
    _in_place.append(prices)


def stated(text: str) -> tuple[Price, ...]:
    """Prices that a file states: JSON, an object with the list `prices`, as the package's has it.

    Raises ValueError, in a line, with the place and what is wrong there.
    """
    try:
        given = json.loads(text)
    except RecursionError:
        raise ValueError("it is no JSON that can be read: too deeply nested") from None
    except ValueError as error:
        raise ValueError(f"it is no JSON: {error}") from None
    rows = given.get("prices") if isinstance(given, dict) else None
    if not isinstance(rows, list) or not rows:
        raise ValueError("it is no object with a list 'prices' in which something stands")
    try:
        read = TypeAdapter(list[_Stated]).validate_python(rows)
    except ValidationError as error:
        first = error.errors()[0]
        number, *path = (str(part) for part in first["loc"])
        place = ".".join([f"prices[{number}]", *path])
        raise ValueError(f"{place}: {first['msg']}") from None
    twice = [model for model, times in Counter(price.model for price in read).items() if times > 1]
    if twice:
        raise ValueError(f"the model '{twice[0]}' stands there twice")
    return tuple(Price.model_validate(price.model_dump()) for price in read)


@cache
def rates() -> tuple[Rate, ...]:
    """Tokens a second, from the same file."""
    return tuple(Rate.model_validate(row) for row in _tables()["rates"])
