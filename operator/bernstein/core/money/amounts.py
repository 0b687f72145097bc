"""Sums of US dollars as people write them and as objects carry them."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

_WRITTEN = re.compile(r"\s*\$?\s*([0-9]{1,9}(?:\.[0-9]{1,6})?)\s*\Z", re.ASCII)


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


def dollars(amount: Decimal) -> str:
    """For people: with cents, and with all that is smaller where there is any."""
    return f"${amount:.2f}" if amount == round(amount, 2) else f"${plain(amount)}"


def _decimal_string(value: int | float) -> str:
    if abs(value) >= 10**9:  # also keeps numbers out that Python refuses to print
        return ""
    try:
        return plain(Decimal(repr(value)))
    except InvalidOperation:
        return ""
