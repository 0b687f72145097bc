"""Every parser survives every output: no exception, bounded memory, counts that never fall."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.agents import ADAPTERS, StreamParser, names
from bernstein.agents.adapter import MESSAGE_LIMIT, PROGRESS_LIMIT, TEXT_LIMIT
from bernstein.agents.records import COUNT_LIMIT, LINE_LIMIT, TOTAL_LIMIT, looked_at

OUTCOMES = {
    "Succeeded",
    "AgentFailed",
    "RateLimited",
    "UsageLimited",
    "ModelAuthFailed",
    "ProviderUnavailable",
    "MaxTurns",
    "Refused",
    "NoFinalRecord",
}
RECORDED = [
    line
    for path in sorted(Path(__file__).parent.glob("*/recordings/*.out"))
    for line in path.read_bytes().splitlines()
]

WORDS = """
    type thread.started thread_id turn.started turn.completed turn.failed item.completed item
    agent_message command_execution file_change changes path text error message usage result
    input_tokens output_tokens cached_input_tokens start model input output cache_read no_change
    kind retry_after usage_limit
"""
words = st.sampled_from(WORDS.split())
numbers = (
    st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=True, allow_infinity=True)
    | st.sampled_from([0, 1, COUNT_LIMIT, COUNT_LIMIT + 1, -1])
)
scalars = st.none() | st.booleans() | numbers | words | st.text(max_size=30)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=12,
)
records = st.dictionaries(words, values, max_size=8).map(lambda r: json.dumps(r).encode())
typed = st.builds(lambda kind, rest: json.dumps({**rest, "type": kind}).encode(), words,
                  st.dictionaries(words, values, max_size=8))  # fmt: skip
lines = st.binary(max_size=200) | records | typed | st.sampled_from(RECORDED)

every_adapter = pytest.mark.parametrize("make", [a.parser for a in ADAPTERS], ids=names())


@every_adapter
@given(
    stream=st.lists(lines, max_size=10),
    code=st.none() | st.integers(-1, 300),
    stderr=st.binary(max_size=300),
)
def test_any_output_is_read(
    make: Callable[[], StreamParser], stream: list[bytes], code: int | None, stderr: bytes
) -> None:
    parser = make()
    before = parser.usage
    for line in stream:
        parser.feed(line)
        usage = parser.usage
        for name in ("input", "output", "cache_read", "cache_write"):
            assert 0 <= getattr(before, name) <= getattr(usage, name) <= TOTAL_LIMIT
        before = usage
        assert len(parser.progress) <= looked_at(PROGRESS_LIMIT)
        assert "\n" not in parser.progress
    final = parser.finish(code, stderr)
    assert final.outcome in OUTCOMES
    assert len(final.message) <= looked_at(MESSAGE_LIMIT)
    assert len(final.text) <= TEXT_LIMIT
    assert final.retry_after is None or 0 < final.retry_after <= 86400
    if code not in (0, None):
        assert final.outcome != "Succeeded"


@every_adapter
def test_deep_nesting_is_no_record(make: Callable[[], StreamParser]) -> None:
    parser = make()
    parser.feed(b'{"type":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    assert parser.usage.output == 0


@every_adapter
def test_memory_does_not_grow_with_the_output(make: Callable[[], StreamParser]) -> None:
    parser = make()
    text = "x" * 50_000

    def feed(number: int) -> None:
        for record in (
            {"type": "thread.started", "thread_id": f"{number}-{text}"},
            {"type": "turn.completed", "usage": {"input_tokens": 1}},
            {"type": "item.completed", "item": {"type": "agent_message", "text": text}},
            {"type": "error", "message": text},
            {"type": "message", "text": text},
            {"type": "start", "model": text},
        ):
            parser.feed(json.dumps(record).encode())

    for number in range(100):
        feed(number)
    tracemalloc.start()
    for number in range(100, 400):
        feed(number)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 1_000_000


@every_adapter
def test_a_line_beyond_the_limit_is_skipped(make: Callable[[], StreamParser]) -> None:
    parser = make()
    long = {"type": "usage", "input": 5, "text": "x" * LINE_LIMIT}
    parser.feed(json.dumps(long).encode())
    assert parser.usage.input == 0
