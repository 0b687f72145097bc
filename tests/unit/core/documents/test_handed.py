"""A document goes through a log and a ConfigMap, and is known by its digest at either end."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.documents import MOST_BYTES, handed, kept

DOCUMENT = bytes(range(256)) * 256
NAME = "output.json"


def log_of(*documents: bytes, name: str = NAME) -> bytes:
    return "".join(f"{row}\n" for each in documents for row in handed.lines(name, each)).encode()


def found(log: bytes, document: bytes = DOCUMENT, name: str = NAME) -> bytes | None:
    return handed.found(log, name, len(document), handed.digest(document))


@given(st.binary())
def test_whatever_it_is_it_comes_out_as_it_went_in(document: bytes) -> None:
    assert found(log_of(document), document) == document


def test_the_largest_takes_few_lines_that_no_runtime_breaks() -> None:
    assert len(DOCUMENT) == MOST_BYTES
    rows = handed.lines(NAME, DOCUMENT)

    assert len(rows) == 11
    assert max(map(len, rows)) < 8_192
    assert found(log_of(DOCUMENT)) == DOCUMENT


def test_it_is_found_between_other_lines_and_beside_other_documents() -> None:
    events = b'{"time":1.0,"event":"pushed"}\n'
    other = log_of(b"[]", name="other.json")

    assert found(events + other + log_of(DOCUMENT) + other + events) == DOCUMENT


def test_of_a_recorder_that_was_started_again_the_last_words_count() -> None:
    assert found(log_of(DOCUMENT, b"{}"), b"{}") == b"{}"
    assert found(log_of(b"{}", DOCUMENT)) == DOCUMENT


@pytest.mark.parametrize(
    "log",
    [
        b"",
        log_of(DOCUMENT, name="other.json"),
        log_of(DOCUMENT[:-1] + b"x"),
        b"\n".join(log_of(DOCUMENT).split(b"\n")[1:]),
        log_of(DOCUMENT).replace(b'"data":"', b'"data":"*', 1),
        b'{"document":' + b"[" * 100_000,
        *(
            json.dumps({"document": NAME, **more}, separators=(",", ":")).encode()
            for more in (
                {},
                {"part": 0, "of": 1, "data": 7},
                {"part": "0", "of": 1, "data": ""},
                {"part": True, "of": 2, "data": ""},
                {"part": 0, "of": 10**9, "data": ""},
                {"part": -1, "of": 1, "data": ""},
                {"part": 0, "of": 1, "data": "\u00fc"},
            )
        ),
    ],
)
def test_what_a_log_does_not_hold_whole_is_not_there(log: bytes) -> None:
    assert found(log) is None


def test_a_config_map_has_it_only_as_the_digest_says() -> None:
    config_map = {"binaryData": kept.data({NAME: DOCUMENT, "other.json": b"{}"})}

    assert kept.content(config_map, NAME, handed.digest(DOCUMENT)) == DOCUMENT
    assert kept.content(config_map, NAME, handed.digest(b"{}")) is None
    assert kept.content(config_map, "third.json", handed.digest(DOCUMENT)) is None
    for damaged in ({}, {"binaryData": None}, {"binaryData": {NAME: "*"}}):
        assert kept.content(damaged, NAME, handed.digest(DOCUMENT)) is None
