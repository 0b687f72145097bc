"""Regular expressions of users, judged without being compiled."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.checks.patterns import problem

PARTS = st.sampled_from([*r"ab.^$*+?{}[]()|\\1=!<:-,2Pi", "(?<=", "(?<!", "(?:", "(?P<a>", "{1,2}"])


def compiles(pattern: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern, re.MULTILINE)
    except (re.error, OverflowError, RecursionError):
        return False
    return True


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "^def \\w+",
        "(?i)todo",
        "(?<=ab)c",
        "(?<!x{2})y",
        "(a)(?(1)b|c)",
        "[[a]",
        "(?<=a(?=b*))c",
        "(a)(b)(c)(d)(e)(f)",
        r"[\x04-\x05]{4,5}",
    ],
)
def test_what_compiles_has_no_problem(pattern: str) -> None:
    assert compiles(pattern)
    assert problem(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "unterminated"),
        ("[a", "unterminated character set"),
        ("*", "nothing to repeat"),
        ("a{99999999999999}", "too large"),
        ("(?<=a*)b", "look-behind"),
        ("((?<!a|bc)d)*", "look-behind"),
        ("(?(1)a|b)", "invalid group reference"),
        ("(" * 510 + ")" * 510, "nested too deep"),
    ],
)
def test_what_does_not_compile_has_one(pattern: str, words: str) -> None:
    assert not compiles(pattern)
    assert words in (problem(pattern) or "")


@given(st.lists(PARTS, max_size=12).map("".join))
def test_it_says_what_the_compiler_says(pattern: str) -> None:
    assert (problem(pattern) is None) == compiles(pattern)


def test_it_takes_no_time_where_the_compiler_takes_seconds() -> None:
    pattern = "(?i)" + "[\0-\U0010ffff]" * 250

    compiling = seconds(lambda: re.compile(pattern))
    looking = seconds(lambda: problem(pattern))

    assert problem(pattern) is None
    assert looking < min(0.5, compiling / 10)


def seconds(look: Callable[[], object]) -> float:
    began = time.process_time()
    look()
    return time.process_time() - began
