"""What is parsed takes no more memory than there is, however short its values are written."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.web import json_values
from bernstein.web.json_values import MOST_VALUES, NoJsonError, parse

LONGEST = 8 << 20


@pytest.mark.parametrize("piece", ["{}", "[]", "0", '""', '{"a":1}', '{"a":{}}', "[[]]", '{"":""}'])
def test_a_crowd_of_values_is_refused_before_it_is_there(piece: str) -> None:
    data = f"[{','.join([piece] * (LONGEST // (len(piece) + 1)))}]".encode()
    tracemalloc.start()
    try:
        with pytest.raises(NoJsonError):
            parse(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 70 << 20


def test_as_many_as_are_read_take_no_more_than_their_share() -> None:
    data = json.dumps({f"k{n}": f"v{n}" for n in range(MOST_VALUES - 1)}).encode()
    tracemalloc.start()
    parse(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100 << 20


def test_what_stands_within_texts_counts_for_nothing() -> None:
    said = [{"body": ',{[\\"' * 10_000} for _ in range(50)]

    assert parse(json.dumps(said).encode()) == said


values = st.recursive(
    st.none() | st.integers() | st.text('a,{["\\'),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('a,{["\\'), inner),
)


@given(values, st.integers(0, 20))
def test_values_are_counted_as_they_are(value: object, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_values, "MOST_VALUES", most)
        data = json.dumps(value).encode()
        if marks(value) > most:
            with pytest.raises(NoJsonError):
                parse(data)
        elif data.count(b'"') <= 4 * most:
            assert parse(data) == value


def marks(value: object) -> int:
    """Openings and commas."""
    if isinstance(value, (list, dict)):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(len(value) - 1, 0) + sum(map(marks, inner))
    return 0
