"""Sums of US dollars as people write them."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

MOST_DOLLARS = 999_999_999
_WRITTEN = re.compile(r"\s*\$?\s*([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*\Z", re.ASCII)

CallSource = Literal["Computed", "Unpriced"]
"""How it is known what questions of our own to models have cost."""
SpendSource = Literal["Reported", "Computed", "Unpriced", "Unreported"]
"""How money that was spent is known."""


_UNKNOWN = ("Unpriced", "Unreported")
"""Sources of what is not all that was spent."""


def known(spend: str, source: str | None) -> str | None:
    """What was spent; None where it is nothing, but nobody has reported it or knows its price."""
    return None if source in _UNKNOWN and not Decimal(spend) else spend


def parse(value: str | int | float) -> str | None:
    """`"$5"`, `"5.00"`, 5 or 5.0 as the decimal string `"5"`; None when it is no sum of money.

    A sum has at most nine digits before the point and six after it.
    """
    if isinstance(value, bool):
        return None
    written = value if isinstance(value, str) else _decimal_string(value)
    match = _WRITTEN.match(written)
    return None if match is None else plain(Decimal(match[1]))


def plain(amount: Decimal) -> str:
    """Without exponent and without zeros at the end: what an object carries."""
    fixed = f"{amount:f}"
    return fixed.rstrip("0").rstrip(".") if "." in fixed else fixed


def _decimal_string(value: int | float) -> str:
    if abs(value) >= 10**9:  # also keeps numbers out that Python refuses to print
        return ""
    try:
        return plain(Decimal(repr(value)))
    except InvalidOperation:
        return ""


def _plain(value: Any) -> Any:
    """What is no sum of money stays as it is, for the pattern to refuse."""
    return (parse(value) or value) if isinstance(value, str | int | float) else value


Dollars = Annotated[
    str,
    Field(
        pattern=r"^\$?[0-9]{1,9}(\.[0-9]{1,6})?$",
        max_length=17,
        json_schema_extra={
            "x-kubernetes-int-or-string": True,
            "minimum": 0,
            "maximum": MOST_DOLLARS,
        },
    ),
    BeforeValidator(_plain),
]
"""US dollars that a person writes into an object, as a whole number or a string; read as Money."""
