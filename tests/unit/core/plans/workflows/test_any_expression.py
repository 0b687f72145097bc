"""Whatever people write and agents leave: a condition is read or refused, and holds or does not."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.plans.workflow import LONGEST_EXPRESSION
from bernstein.core.documents import values
from bernstein.core.plans.workflows.expressions import Expression, Values, parsed

MOST_CALLS = 25_000
"""Of Python's functions, for the worst condition on the largest output: some milliseconds."""
WORDS = (
    *("status", "result", "output", "true", "false", "null", "None", "True", "and", "or", "not"),
    *("in", "is", "if", "else", "lambda", "for", "await", "yield", "==", "!=", "<", "<=", ">"),
    *(">=", "(", ")", "[", "]", "{", "}", ".", ",", ":", ":=", "=", "+", "-", "*", "**", "~", "@"),
    *("'a'", '"b"', "''", "'", '"', "'''", "\\", "\\'", "0", "1", "-1", "0.5", "1e9", "1e999"),
    *("0x1", "1j", "a", "_", "__class__", "f'", "b'", "#", "\n", "\t", " ", "...", "\u00e4"),
    *("\ud800", "\0", "\u202e", "9" * 100, "$", "%"),
)
texts = st.one_of(
    st.text(max_size=LONGEST_EXPRESSION + 20),
    st.lists(st.sampled_from(WORDS), max_size=80).map("".join),
    st.lists(st.sampled_from(WORDS), max_size=60).map(" ".join),
    st.tuples(st.sampled_from(WORDS), st.integers(1, 300)).map(lambda pair: pair[0] * pair[1]),
)
KEYS = ("a", "b", "class")
jsons: st.SearchStrategy[values.Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, values.LARGEST, values.SMALLEST, 1e308])
    | st.sampled_from(["", "a", "b", "ab"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    ),
    max_leaves=12,
)


def _joined(left: str, op: str, right: str) -> str:
    return f"({left} {op} {right})"


OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or")
atoms = st.sampled_from(
    ("status", "result", "output", "true", "false", "null", "1", "-1", "0.5", "'a'", "''", "[]")
)
indexes = st.sampled_from(("status", "result", "output", "true", "null", "1", "-1", "0.5", "'a'"))
conditions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds(_joined, inner, st.sampled_from(OPERATORS), inner),
        st.builds("({} < {} == {})".format, inner, inner, inner),
        st.builds("{}.{}".format, inner.filter(lambda text: text[-1] not in "15"), st.just("a")),
        st.builds("{}[{}]".format, inner.filter(lambda text: text[-1] not in "15"), indexes),
        st.builds("(not {})".format, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("({},)".format, inner),
    ),
    max_leaves=10,
).filter(lambda text: len(text) <= LONGEST_EXPRESSION - len("not ()"))


@given(texts)
def test_any_text_is_read_or_refused_in_our_words(text: str) -> None:
    found = parsed(text)

    if isinstance(found, Expression):
        assert found.holds(Values("failed", "a", {"a": [1]})) in (True, False)
        assert found.shown(Values("failed")).isprintable()
    else:
        assert found.isprintable()
        assert len(found) < 500


@given(conditions, st.sampled_from(["done", "failed"]), st.none() | st.text(max_size=3), jsons)
def test_what_was_read_never_fails(
    text: str, status: str, result: str | None, output: values.Json
) -> None:
    found, negated = parsed(text), parsed(f"not ({text})")
    if isinstance(found, str) or isinstance(negated, str):
        assert re.search("levels|no node has the status|a status is ", f"{found} {negated}")
        return
    given_values = Values(status, result, output)

    holds = found.holds(given_values)

    assert found.holds(given_values) is holds
    assert negated.holds(given_values) is not holds
    assert 0 < len(found.shown(given_values)) <= 100


@given(jsons, jsons)
def test_equal_is_what_is_the_same_json(left: values.Json, right: values.Json) -> None:
    both = Values("done", None, [left, right])

    same = _canonical(left) == _canonical(right)

    assert read("output[0] == output[1]").holds(both) is same
    assert read("output[0] != output[1]").holds(both) is not same
    assert read("output[0] in [output[1]]").holds(both) is same


@given(jsons, jsons)
def test_an_order_is_one_of_two_numbers_or_two_texts(left: values.Json, right: values.Json) -> None:
    both = Values("done", None, [left, right])

    found = {op: read(f"output[0] {op} output[1]").holds(both) for op in ("<", "<=", ">", ">=")}

    if _kind(left) == _kind(right) != "":
        pair: Any = (left, right)
        low, high = pair
        assert found == {"<": low < high, "<=": low <= high, ">": low > high, ">=": low >= high}
    else:
        assert set(found.values()) == {False}


@given(st.dictionaries(st.sampled_from(KEYS), jsons), st.sampled_from(KEYS))
def test_an_attribute_is_a_key(output: dict[str, values.Json], key: str) -> None:
    left = Values("done", None, {"x": output, "y": [output.get(key)]})
    if key != "class":
        assert read(f"output.x.{key} == output.y[0]").holds(left)
    assert read(f"output.x['{key}'] == output['y'][-1]").holds(left)
    assert read(f"'{key}' in output.x").holds(left) is (key in output)


def test_the_worst_condition_on_the_largest_output_takes_few_steps() -> None:
    wide: values.Json = {"a": [0] * 990, "b": [0] * 990}
    text = json.dumps({"a": "a" * 30_000, "b": "a" * 10_000 + "b"}).encode()
    cases: tuple[tuple[values.Json | values.Problem, str], ...] = (
        (wide, "==".join(["output.a", "output.b"] * 15)),
        (wide, " or ".join(["output.a!=output.b"] * 13)),
        (wide, " or ".join(["output in[output]"] * 13)[:300].rpartition(" or ")[0]),
        (values.parsed(text), " or ".join(["output.b in output.a"] * 12)),
        ([[0] for _ in range(990)], " or ".join(["[1]in output"] * 18)),
        (_deep(), " or ".join(["output==[output]"] * 14)),
    )
    for output, condition in cases:
        assert not isinstance(output, values.Problem)
        expression = read(condition)
        with counting() as calls:
            expression.holds(Values("done", "", output))
        assert calls() < MOST_CALLS


def test_to_read_a_condition_takes_few_steps() -> None:
    for text in ("(" * 300, "not " * 75, "output" + ".a" * 147, "'a'," * 75, "1<" * 149 + "1"):
        with counting() as calls:
            parsed(text + " ")
        assert calls() < MOST_CALLS


def read(text: str) -> Expression:
    expression = parsed(text)
    assert isinstance(expression, Expression), expression
    return expression


def _canonical(value: values.Json) -> object:
    """What tells values apart as JSON does, in another way than the program's."""
    if isinstance(value, bool) or value is None:
        return ("word", str(value))
    if isinstance(value, list):
        return ("list", *map(_canonical, value))
    if isinstance(value, dict):
        return ("object", frozenset((key, _canonical(each)) for key, each in value.items()))
    return ("text", value) if isinstance(value, str) else ("number", value)


def _kind(value: values.Json) -> str:
    if isinstance(value, str):
        return "text"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _deep() -> values.Json:
    found: values.Json = 1
    for _ in range(values.MOST_LEVELS):
        found = [found]
    return found


@contextmanager
def counting() -> Iterator[Callable[[], int]]:
    """How many functions are called within it, Python's own among them."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield lambda: calls
    finally:
        sys.setprofile(before)
