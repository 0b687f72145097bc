"""Expressions in CEL: what of the language is read, and that nothing else is taken for it."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.crds.expressions import Unreadable, holds, is_cidr, matches

SELF = {"name": "a && b", "number": 2, "items": [{"n": 1}, {"n": 3, "on": False}], "except": "x"}


@pytest.mark.parametrize(
    ("rule", "held"),
    [
        ("self.name == 'a && b'", True),
        ("self.number >= 2 && self.number <= 2.0", True),
        ("self.number > 2 || self.number != 2", False),
        ("!has(self.absent) && has(self.name)", True),
        ("!has(self.name) == has(self.absent)", True),
        ("has(self.except) && self.except == 'x'", True),
        ("self.items.exists(i, has(i.on) && !i.on)", True),
        ("self.items.all(i, i.n >= 2)", False),
        ("self.items.filter(i, i.n >= 2).map(i, i.n).sum() == 3", True),
        ("size(self.items) == 2 && size(self.name) == 6", True),
        ("self.name in ['b', 'a && b']", True),
        ("quantity('0.05').compareTo(quantity('50m')) == 0", True),
        ("quantity('1Gi').compareTo(quantity('1024Mi')) == 0", True),
        ("isQuantity('1 Gi')", False),
        ("cidr('192.0.2.0/24').containsCIDR('192.0.2.128/25')", True),
        ("cidr('192.0.2.0/24').containsCIDR('2001:db8::/64')", False),
    ],
)
def test_an_expression_is_read_as_cel(rule: str, held: bool) -> None:
    assert holds(rule, SELF) is held


@pytest.mark.parametrize("rule", ["self.absent == 1", "self.items.all(i, i.on)", "self.number"])
def test_what_is_not_there_or_no_truth_refuses(rule: str) -> None:
    assert not holds(rule, SELF)


@pytest.mark.parametrize(
    "rule",
    [
        "self.name.lowerAscii() == 'a'",
        "self.number < 1 ? true : false",
        "self.number + 1 == 3",
        "1 <= self.number <= 3",
        "other == 1",
        "__import__('os')",
        "[i for i in self.items]",
    ],
)
def test_nothing_else_is_read(rule: str) -> None:
    value: dict[str, Any] = SELF
    with pytest.raises(Unreadable):
        holds(rule, value)


def test_a_pattern_ends_where_the_text_does() -> None:
    """In Python `$` also stands before a line break at the end."""
    assert matches("a", "^a$")
    assert not matches("a\n", "^a$")


def test_a_pattern_takes_linear_time() -> None:
    assert not matches("a" * 100_000, "^(a+)+b$")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("192.0.2.0/24", True),
        ("192.0.2.1/24", True),
        ("2001:db8::/32", True),
        ("192.0.2.0", False),
        ("192.0.2.0/255.255.255.0", False),
        ("192.0.2.0/33", False),
        ("git.example.com/24", False),
        ("", False),
    ],
)
def test_addresses(text: str, is_one: bool) -> None:
    assert is_cidr(text) is is_one
