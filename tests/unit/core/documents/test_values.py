"""The JSON that an agent leaves: whatever it is, it becomes bounded values, or words of ours."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.documents import DOCUMENTS, MOST_BYTES, values
from bernstein.core.documents.values import MOST_LEVELS, MOST_VALUES, Json, Problem, parsed

GOOD = [
    b'{"tests": {"run": 12, "failed": 0}, "ratio": 0.5, "names": ["a", null, true]}',
    b" 1 ",
    b'"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[ \\" {{{"',
    b"[" * MOST_LEVELS + b"]" * MOST_LEVELS,
    str(values.LARGEST).encode(),
    str(values.SMALLEST).encode(),
    b"1e308",
    b"1e-400",
    '{"\u00fc": "\u65e5\u672c \\ud83d\\ude00"}'.encode(),
    json.dumps([0] * (MOST_VALUES - 1)).encode(),
    json.dumps({str(n): n for n in range((MOST_VALUES - 1) // 2)}).encode(),
]
BAD = [
    (b"", "it is no JSON (line 1, column 1)"),
    (b'{"a": 1,\n "b": }', "it is no JSON (line 2, column 7)"),
    (b"{'a': 1}", "it is no JSON (line 1, column 2)"),
    (b"{} {}", "it is no JSON (line 1, column 4)"),
    (b"\xef\xbb\xbf{}", "it is no JSON (line 1, column 1)"),
    (b'"a\nb"', "it is no JSON (line 1, column 3)"),
    (b'{"a": "\xff"}', "it is no UTF-8"),
    ('{"a": 1}'.encode("utf-16"), "it is no UTF-8"),
    (b"1e400", "one of its numbers is too large"),
    (b"[-1e400]", "one of its numbers is too large"),
    (b"NaN", "it has a NaN or an Infinity, which is no JSON"),
    (b'{"a": -Infinity}', "it has a NaN or an Infinity, which is no JSON"),
    (b"9" * 10_000, "one of its integers does not fit into 64 bits"),
    (str(values.LARGEST + 1).encode(), "one of its integers does not fit into 64 bits"),
    (str(values.SMALLEST - 1).encode(), "one of its integers does not fit into 64 bits"),
    (b"1" + b"0" * 10_000 + b".5", "one of its numbers is too large"),
    (b"[" * 10_000 + b"]" * 10_000, "it has more than 20 levels of lists and objects"),
    (b'{"a":' * 21 + b"1" + b"}" * 21, "it has more than 20 levels of lists and objects"),
    (b"[" * 60_000, "it has more than 20 levels of lists and objects"),
    (b"]" * 60_000, "it is no JSON (line 1, column 1)"),
    (b"[" + b"0," * MOST_VALUES + b"0]", "it has more than 2000 values"),
    (json.dumps([0] * MOST_VALUES).encode(), "it has more than 2000 values"),
    (json.dumps({str(n): n for n in range(1000)}).encode(), "it has more than 2000 values"),
    (b'{"a": 1, "a": 1}', "one of its objects has the same key twice"),
    (b'{"a": 1, "\\u0061": 2}', "one of its objects has the same key twice"),
    (b'"\\ud800"', "one of its texts has half of a surrogate pair, which is no character"),
    (b'{"\\udc00": 1}', "one of its texts has half of a surrogate pair, which is no character"),
    (b" " * MOST_BYTES + b"1", "it has more than 65536 bytes"),
]


@pytest.mark.parametrize("document", GOOD)
def test_what_is_within_the_bounds_is_its_value(document: bytes) -> None:
    assert parsed(document) == json.loads(document)


@pytest.mark.parametrize(("document", "why"), BAD)
def test_what_is_not_is_a_problem_in_our_words(document: bytes, why: str) -> None:
    assert parsed(document) == Problem(why)


def test_without_our_bounds_they_are_errors_of_other_kinds_or_values_that_are_no_json() -> None:
    assert json.loads("1e400") == float("inf")
    assert json.loads('{"a": 1, "a": 2}') == {"a": 2}
    with pytest.raises(ValueError, match="digits"):
        json.loads("9" * 10_000)
    with pytest.raises(RecursionError):
        json.loads("[" * 60_000)
    with pytest.raises(UnicodeEncodeError):
        json.loads('"\\ud800"').encode()


def size_of(value: Json) -> int:
    if isinstance(value, dict):
        return 1 + sum(1 + size_of(each) for each in value.values())
    return 1 + sum(map(size_of, value)) if isinstance(value, list) else 1


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
PIECES = st.sampled_from(
    [b"[", b"]", b"{", b"}", b'"', b"\\", b":", b",", b"1", b"e9", b"-", b".", b"a", b"\xe2", b"\n"]
)


@given(st.binary() | st.lists(PIECES).map(b"".join) | JSON_VALUES.map(json.dumps).map(str.encode))
def test_no_document_is_an_error_and_what_is_taken_can_be_written_again(document: bytes) -> None:
    value = parsed(document)

    if not isinstance(value, Problem):
        assert parsed(json.dumps(value, ensure_ascii=False, allow_nan=False).encode()) == value
        assert size_of(value) <= MOST_VALUES


@pytest.mark.parametrize(
    "document",
    [
        b"[" * MOST_BYTES,
        b'"' + b"\\\\" * (MOST_BYTES // 2 - 1) + b'"',
        b"[" + b"0," * (MOST_BYTES // 2 - 1) + b"0]",
        b"1" * MOST_BYTES,
        b"{" + b'"":0,' * (MOST_BYTES // 5 - 1) + b'"":0}',
    ],
)
def test_the_largest_take_no_time(document: bytes) -> None:
    started = time.process_time()
    parsed(document)

    assert time.process_time() - started < 0.5


def test_each_kind_of_document_has_a_name_a_path_below_bernstein_and_the_same_limit() -> None:
    for each in DOCUMENTS:
        assert each.path == f".bernstein/{each.name}"
        assert isinstance(each.parsed(b"\xff"), Problem)
    assert len({each.name for each in DOCUMENTS}) == len(DOCUMENTS)
