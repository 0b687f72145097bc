"""Every reason says, below the constant, when it happens."""

from __future__ import annotations

import ast
import inspect
import textwrap
from enum import StrEnum

import pytest

from bernstein.api.reasons import Reason, VerdictReason
from bernstein.api.waiting import PASSES, WaitReason


def undocumented(reasons: type[StrEnum]) -> list[str]:
    """Members without a line of their own below them."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(reasons))).body
    assert isinstance(definition, ast.ClassDef)
    following = [*definition.body[1:], None]
    return [
        ast.unparse(statement)
        for statement, next_one in zip(definition.body, following, strict=True)
        if isinstance(statement, ast.Assign)
        and not (isinstance(next_one, ast.Expr) and isinstance(next_one.value, ast.Constant))
    ]


@pytest.mark.parametrize("reasons", [Reason, VerdictReason, WaitReason])
def test_every_reason_says_when_it_happens(reasons: type[StrEnum]) -> None:
    assert undocumented(reasons) == []


def test_of_every_reason_to_wait_it_is_known_whether_it_passes() -> None:
    assert set(PASSES) == set(WaitReason)


def test_a_reason_without_a_line_is_found() -> None:
    class Bare(StrEnum):
        ONE = "One"
        """It happens now and then."""
        TWO = "Two"

    assert undocumented(Bare) == ["TWO = 'Two'"]
