"""Numbers with check digits."""

from __future__ import annotations

import pytest

from bernstein.checks.content.identifiers import (
    bank_accounts,
    card_numbers,
    luhn,
    social_security_numbers,
)


@pytest.mark.parametrize(
    "line",
    [
        "4111111111111111",
        "card = '4111 1111 1111 1111'",
        "4111-1111-1111-1111",
        "5555555555554444",
        "2223003122003222",
        "3782 822463 10005",
        "6011000990139424",
        "3056 930902 5904",
        "3530111333300000",
        "paid with 4012888888881881.",
    ],
)
def test_cards(line: str) -> None:
    assert [match[0] for match in card_numbers(line)]


@pytest.mark.parametrize(
    "line",
    [
        "4111111111111112",
        "0000000000000000",
        "1111111111111117",
        "sha a4111111111111111f",
        "0.4111111111111111",
        "4111 1111-1111 1111",
        "id-4111111111111111-x",
        "1700000000000",
        "41111111111111111111",
    ],
)
def test_other_numbers(line: str) -> None:
    assert not list(card_numbers(line))


def test_luhn_tells_one_changed_digit() -> None:
    right = "79927398713"
    assert luhn(right)
    assert not any(luhn(right[:-1] + str(digit)) for digit in (0, 1, 2, 4, 5, 6, 7, 8, 9))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("ssn: 219-09-9999", True),
        ("000-12-3456", False),
        ("666-12-3456", False),
        ("912-12-3456", False),
        ("219-00-9999", False),
        ("219-09-0000", False),
        ("555-219-09-9999", False),
        ("2026-09-1234", False),
    ],
)
def test_social_security_numbers(line: str, found: bool) -> None:
    assert bool(list(social_security_numbers(line))) is found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("DE89 3704 0044 0532 0130 00", True),
        ("iban=GB82WEST12345698765432", True),
        ("GB82WEST12345698765433", False),
        ("XX00ABCD", False),
    ],
)
def test_bank_accounts(line: str, found: bool) -> None:
    assert bool(list(bank_accounts(line))) is found


@pytest.mark.parametrize("number", ["4111111111111111", "219-09-9999", "DE89370400440532013000"])
def test_a_letter_of_a_script_without_spaces_hides_no_number(number: str) -> None:
    line = f"\u5361\u53f7{number}\u6709\u6548"
    found = [*card_numbers(line), *social_security_numbers(line), *bank_accounts(line)]

    assert [match[0] for match in found] == [number]
