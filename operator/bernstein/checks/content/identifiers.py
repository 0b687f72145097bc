"""Finds numbers that identify people or their money, by their form and their check digits.

Only ASCII letters beside a number make it part of a word: many scripts write no space there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_CARD = re.compile(
    r"""(?<![0-9A-Za-z.+])(?<!\d-)
    (?: \d{13,19}
      | \d{4}([ -])(?:\d{4}\1){2,3}\d{1,4}  # 4-4-4-4 and longer ones
      | \d{4}([ -])\d{6}\2\d{4,5}          # 4-6-5, 4-6-4
    )
    (?![A-Za-z0-9_-]|\.\d)""",
    re.VERBOSE,
)
_ISSUERS = (
    (re.compile(r"4"), {13, 16, 19}),
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), {16}),
    (re.compile(r"3[47]"), {15}),
    (re.compile(r"6011|64[4-9]|65"), {16, 19}),
    (re.compile(r"30[0-5]|3[689]"), {14}),
    (re.compile(r"35(2[89]|[3-8])"), {16}),
    (re.compile(r"62"), {16, 17, 18, 19}),
)
_SSN = re.compile(
    r"(?<![A-Za-z0-9_-])(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![A-Za-z0-9_-])"
)
_IBAN = re.compile(
    r"(?<![A-Za-z0-9_])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9_])"
)


def card_numbers(line: str) -> Iterator[re.Match[str]]:
    """Payment card numbers: prefix and length are an issuer's, and the Luhn digit is right."""
    for match in _CARD.finditer(line):
        digits = re.sub(r"[ -]", "", match[0])
        if len(set(digits)) > 1 and _issued(digits) and luhn(digits):
            yield match


def social_security_numbers(line: str) -> Iterator[re.Match[str]]:
    """US social security numbers in their usual form, and in the ranges that are in use."""
    return _SSN.finditer(line)


def bank_accounts(line: str) -> Iterator[re.Match[str]]:
    """International bank account numbers with right check digits."""
    return (match for match in _IBAN.finditer(line) if _mod_97(match[0].replace(" ", "")))


def luhn(digits: str) -> bool:
    """Whether the last digit is the Luhn check digit of the others."""
    total = 0
    for i, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + i % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _issued(digits: str) -> bool:
    return any(prefix.match(digits) and len(digits) in lengths for prefix, lengths in _ISSUERS)


def _mod_97(account: str) -> bool:
    turned = account[4:] + account[:4]
    return int("".join(str(int(c, 36)) for c in turned)) % 97 == 1
