"""What was found or measured in the base, as it is kept: all of it comes back, or nothing does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api import packed as words
from bernstein.checks.findings import Known
from bernstein.checks.measures import Measured
from bernstein.checks.outputs.baseline import MOST_BYTES, MOST_PACKED, packed, unpacked

NAMES = st.frozensets(st.text(), max_size=5)
IDENTITIES = st.binary(min_size=16, max_size=16)
FOUND = st.builds(Known, st.dictionaries(IDENTITIES, st.integers(1, 100_000), max_size=20), NAMES)
NUMBERS = st.integers(-(2**52), 2**52) | st.floats(-(2.0**52), 2.0**52)
MEASURED = st.builds(Measured, st.dictionaries(st.text(), NUMBERS, max_size=20), NAMES)


def word(told: Any) -> str:
    return words.packed(told if isinstance(told, bytes) else json.dumps(told).encode())


@given(FOUND | MEASURED)
def test_what_was_packed_comes_back_as_it_was(base: Known | Measured) -> None:
    kept = packed(base)

    if kept is not None:
        assert len(kept) <= MOST_PACKED
        assert unpacked(kept, measured=isinstance(base, Measured)) == base


def test_a_hundred_findings_are_kept_and_a_thousand_are_not() -> None:
    def of(count: int) -> Known:
        counts = {bytes([n % 251, n // 251, *range(7, 245, 17)]): 1 for n in range(count)}
        return Known(counts, frozenset(f"src/pkg/module_{n}.py" for n in range(count // 5)))

    assert packed(of(100)) is not None
    assert packed(of(10_000)) is None


def test_findings_are_no_measures_and_measures_no_findings() -> None:
    found, measures = packed(Known({}, frozenset())), packed(Measured({}, frozenset()))
    assert found is not None
    assert measures is not None

    with pytest.raises(ValueError, match="measured"):
        unpacked(found, measured=True)
    with pytest.raises(ValueError, match="found"):
        unpacked(measures, measured=False)


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"[" * 50_000,
        b"\xff",
        [],
        {},
        {"measured": {}},
        {"measured": {}, "names": [], "more": 1},
        {"measured": [], "names": []},
        {"measured": {}, "names": {}},
        {"measured": {}, "names": [1]},
        {"measured": {"a": "1"}, "names": []},
        {"measured": {"a": None}, "names": []},
        {"measured": {"a": True}, "names": []},
        {"measured": {"a": float("nan")}, "names": []},
        {"measured": {"a": float("inf")}, "names": []},
        {"measured": {"a": 10**400}, "names": []},
        {"measured": {}, "names": ["a" * MOST_BYTES]},
    ],
    ids=lambda told: str(told)[:40],
)
def test_what_nobody_has_packed_is_refused(told: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpacked(word(told), measured=True)


@pytest.mark.parametrize("identity", ["", "00", "0" * 33, "0" * 34, "z" * 32])
def test_an_identity_that_is_none_is_refused(identity: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpacked(word({"found": {identity: 1}, "names": []}), measured=False)


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "1"])
def test_a_count_that_is_none_is_refused(count: Any) -> None:
    with pytest.raises(ValueError, match=r"."):
        unpacked(word({"found": {"0" * 32: count}, "names": []}), measured=False)


@given(st.text(max_size=200) | st.binary(max_size=200).map(words.packed), st.booleans())
def test_whatever_it_is_it_is_read_or_refused(text: str, measured: bool) -> None:
    try:
        unpacked(text, measured=measured)
    except ValueError:
        return
    assert json.loads(words.unpacked(text, MOST_PACKED, MOST_BYTES))["names"] is not None


def test_what_is_too_long_is_refused_before_it_is_read() -> None:
    with pytest.raises(ValueError, match="too long"):
        unpacked("A" * (MOST_PACKED + 1), measured=True)
