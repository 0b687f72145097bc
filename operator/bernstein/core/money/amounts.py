"""Sums of US dollars as people read them."""

from __future__ import annotations

from decimal import Decimal

from bernstein.api.money import plain


def dollars(amount: Decimal) -> str:
    """For people: with cents, and with all that is smaller where there is any."""
    return f"${amount:.2f}" if amount == round(amount, 2) else f"${plain(amount)}"
