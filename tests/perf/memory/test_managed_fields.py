"""What the largest ``managedFields`` that the API takes cost the operator, and large pages.

Parsed they would take 15 times their bytes. The figures are printed (``pytest -s``).
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from time import process_time
from typing import Any

import orjson
import pytest

from bernstein.kube.answers import documents, watch_event
from bernstein.kube.answers.pages import LARGEST, Page
from bernstein.resources import TASKS
from tests.perf.pace import quickest

MOST_SECONDS = 0.2
"""Of one step."""

FIELDS: dict[str, Callable[[], Any]] = {
    "names": lambda: {f"f:k{n}": {} for n in range(90_000)},
    "names of names": lambda: {f"f:k{n}": {"f:a": {"f:b": {}}} for n in range(42_000)},
    "names in tens": lambda: {f"f:k{n}": {f"f:{k}": {} for k in range(10)} for n in range(13_000)},
}


def task(fields: Any, name: str = "t") -> bytes:
    """As long as the API server's store takes it."""
    entry: dict[str, Any] = {"manager": "m", "operation": "Update", "fieldsType": "FieldsV1"}
    metadata: dict[str, Any] = {
        "managedFields": [entry | {"fieldsV1": {"f:metadata": {"f:annotations": fields}}}]
    }
    metadata |= {"name": name, "namespace": "a", "uid": name, "resourceVersion": "7"}
    return orjson.dumps({"metadata": metadata, "spec": {"title": "t"}})


def page(items: list[bytes]) -> bytes:
    return b'{"items":[%s],"metadata":{"resourceVersion":"9"}}' % b",".join(items)


@pytest.mark.parametrize("kind", FIELDS)
def test_no_step_of_an_event_or_a_page_with_the_largest_metadata_takes_200_ms(kind: str) -> None:
    item = task(FIELDS[kind]())
    line = b'{"type":"MODIFIED","object":%s}' % item
    assert 1_200_000 < len(line) < 1_500_000
    event, limit = quickest(lambda: seconds(lambda: watch_event(line)), MOST_SECONDS)
    assert event < limit
    items = documents.Items(page([item] * (LARGEST // len(item))))
    each = iter(items)
    found, limit = quickest(lambda: seconds(lambda: next(each)), MOST_SECONDS)
    assert found < limit
    print(f"\n{kind}: {len(line)} bytes, {event * 1000:.0f} ms; found in {found * 1000:.0f} ms")


def seconds(step: Callable[[], object]) -> float:
    began = process_time()
    step()
    return process_time() - began


async def peak(raw: bytes) -> tuple[float, int]:
    """The most memory while a page is read, as a part of its bytes, and how many items it has."""
    read = 0
    tracemalloc.start()
    try:
        async for item in Page(raw, TASKS).items():
            del item  # as one that is taken
            read += 1
        return tracemalloc.get_traced_memory()[1] / len(raw), read
    finally:
        tracemalloc.stop()


async def test_a_page_of_the_largest_metadata_takes_less_than_its_bytes_beside_them() -> None:
    raw = page([task(FIELDS["names"]())] * 6)
    most, read = await peak(raw)
    print(f"\n{len(raw)} bytes: {most:.2f} of them at most")
    assert read == 6
    assert most < 1


async def test_parsed_the_largest_metadata_takes_many_times_its_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = page([task(FIELDS["names"]())] * 6)

    with monkeypatch.context() as taken:
        taken.setattr(documents, "without_managed_fields", lambda raw: raw)
        alone, _ = await peak(raw)
        taken.setattr(documents, "AT_ONCE", len(raw))
        together, read = await peak(raw)
    print(f"\n{len(raw)} bytes: {alone:.2f} and {together:.2f} of them at most")
    assert read == 6
    assert together > 10
    assert 6 * alone > 10, "of each that is parsed"

    assert (await peak(raw))[0] < 1


async def test_of_a_large_page_one_item_is_parsed_at_a_time() -> None:
    """Each takes 20 times its bytes once it is parsed."""
    item = orjson.dumps({"metadata": {"name": "t"}, "spec": {"a": [{"a": 1}] * 30_000}})
    raw = page([item] * 10)
    assert len(raw) > documents.AT_ONCE
    most, read = await peak(raw)
    print(f"\n{len(raw)} bytes: {most:.2f} of them at most")
    assert read == 10
    assert most < 5, "all at once are 20 times the bytes"
