"""What goes over the wire, and how its answer is understood."""

from __future__ import annotations

import argparse
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from bernstein.controllers.settings import collector_address
from bernstein.controllers.traces.collector import Later, Refused, Taken
from bernstein.controllers.traces.otlp import (
    MOST_ANSWER,
    Endpoint,
    OtlpCollector,
    encoded,
    read_of,
    understood,
)
from bernstein.core.traces.models import SCHEMA
from bernstein.core.traces.span import span, span_id, trace_id
from tests.unit.controllers.traces.played import spans
from tests.unit.controllers.traces.receiver import Receiver, receiving
from tests.unit.core.objects import at

FAILED = span(
    trace=trace_id("plan"),
    of=span_id("task"),
    parent=span_id("plan"),
    name="task",
    start=at(0),
    end=at(1.5),
    attributes={"text": "a", "number": 2, "share": 0.5, "is": True, "several": ("x", "y")},
    error="Because",
    kind="Client",
)


def test_a_span_is_the_same_over_the_wire() -> None:
    (of_us,) = ExportTraceServiceRequest.FromString(encoded([FAILED])).resource_spans
    (sent,) = of_us.scope_spans[0].spans

    assert (sent.trace_id, sent.span_id) == (trace_id("plan"), span_id("task"))
    assert sent.parent_span_id == span_id("plan")
    assert (sent.name, sent.kind) == ("task", 3)
    assert sent.end_time_unix_nano - sent.start_time_unix_nano == 1_500_000_000
    assert sent.start_time_unix_nano == int(at(0).timestamp()) * 10**9
    assert (sent.status.code, sent.status.message) == (2, "Because")
    values = {each.key: each.value for each in sent.attributes}
    assert values["text"].string_value == "a"
    assert values["number"].int_value == 2
    assert values["share"].double_value == 0.5
    assert values["is"].bool_value is True
    assert [v.string_value for v in values["several"].array_value.values] == ["x", "y"]


def test_numbers_and_times_that_the_protocol_has_no_room_for_keep_nothing_from_being_sent() -> None:
    large = {"huge": 1 << 63, "low": -(1 << 63) - 1, "most": (1 << 63) - 1}
    long_ago, far = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)
    odd = replace(FAILED, start=long_ago, end=far, attributes=tuple(large.items()))

    (of_us,) = ExportTraceServiceRequest.FromString(encoded([odd])).resource_spans
    (sent,) = of_us.scope_spans[0].spans

    values = {each.key: each.value for each in sent.attributes}
    assert (values["huge"].string_value, values["low"].string_value) == (
        str(1 << 63),
        str(-(1 << 63) - 1),
    )
    assert values["most"].int_value == (1 << 63) - 1
    assert (sent.start_time_unix_nano, sent.end_time_unix_nano) == (0, (1 << 64) - 1)


def test_a_request_says_whose_spans_it_has_and_by_which_conventions() -> None:
    (of_us,) = ExportTraceServiceRequest.FromString(encoded(spans(2))).resource_spans

    named = {each.key: each.value.string_value for each in of_us.resource.attributes}
    assert named["service.name"] == "bernstein"
    assert named["service.version"]
    assert of_us.schema_url == of_us.scope_spans[0].schema_url == SCHEMA
    assert len(of_us.scope_spans[0].spans) == 2


def test_a_root_has_no_parent_over_the_wire() -> None:
    root = span(
        trace=trace_id("p"),
        of=span_id("p"),
        parent=None,
        name="plan",
        start=at(0),
        end=at(1),
        attributes={},
    )
    request = ExportTraceServiceRequest.FromString(encoded([root]))
    (sent,) = request.resource_spans[0].scope_spans[0].spans

    assert (sent.parent_span_id, sent.status.code) == (b"", 0)


async def test_spans_are_posted_in_protobuf_with_the_headers_of_the_secret(tmp_path: Path) -> None:
    (tmp_path / "Authorization").write_text("Bearer abc\n")
    (tmp_path / "..data").mkdir()
    receiver = Receiver()
    async with receiving(receiver) as url:
        answer = await OtlpCollector(Endpoint(f"{url}/", headers=tmp_path)).send(spans(3))

    ((path, headers, body),) = receiver.requests
    assert answer == Taken()
    assert path == "/v1/traces"
    assert headers["Content-Type"] == "application/x-protobuf"
    assert headers["Authorization"] == "Bearer abc"
    assert body == encoded(spans(3))


async def test_headers_that_change_hold_for_the_next_request(tmp_path: Path) -> None:
    receiver = Receiver()
    async with receiving(receiver) as url:
        collector = OtlpCollector(Endpoint(url, headers=tmp_path))
        for token in ("one", "two"):
            (tmp_path / "X-Token").write_text(token)
            await collector.send(spans(1))

    assert [headers["X-Token"] for _, headers, _ in receiver.requests] == ["one", "two"]


@pytest.mark.parametrize("content", ["a\r\nX-Other: b", "\x00"])
async def test_a_header_with_a_line_break_is_sent_to_nobody(tmp_path: Path, content: str) -> None:
    (tmp_path / "X-Token").write_text(content)
    receiver = Receiver()
    async with receiving(receiver) as url:
        answer = await OtlpCollector(Endpoint(url, headers=tmp_path)).send(spans(1))

    assert isinstance(answer, Later)
    assert receiver.requests == []


async def test_a_secret_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    endpoint = Endpoint("http://127.0.0.1:1", headers=tmp_path / "none")

    answer = await OtlpCollector(endpoint).send(spans(1))
    assert answer == Later("headers or CA cannot be read: FileNotFoundError")


async def test_without_a_header_in_the_folder_of_headers_nothing_is_sent(tmp_path: Path) -> None:
    """Of a Secret that is missing, and may be, an empty folder is mounted."""
    (tmp_path / "..data").mkdir()
    receiver = Receiver()
    async with receiving(receiver) as url:
        answer = await OtlpCollector(Endpoint(url, headers=tmp_path)).send(spans(1))

    assert answer == Later("headers or CA cannot be read: FileNotFoundError")
    assert receiver.requests == []


async def test_what_cannot_be_encoded_is_not_tried_again() -> None:
    half_a_character = replace(FAILED, name="\ud800")

    answer = await OtlpCollector(Endpoint("http://127.0.0.1:1")).send([half_a_character])
    assert answer == Refused("spans cannot be encoded: UnicodeEncodeError")


async def test_nobody_who_listens_is_asked_later() -> None:
    answer = await OtlpCollector(Endpoint("http://127.0.0.1:1")).send(spans(1))

    assert isinstance(answer, Later)


class Pieces:
    """An answer that comes a few bytes at a time."""

    def __init__(self, body: bytes) -> None:
        self.left = body

    async def read(self, most: int) -> bytes:
        piece, self.left = self.left[: min(most, 3)], self.left[min(most, 3) :]
        return piece


async def test_an_answer_that_comes_in_pieces_is_read_to_its_end_or_the_bound() -> None:
    whole: Any = Pieces(b"0123456789")
    endless: Any = Pieces(b"a" * (MOST_ANSWER + 10))

    assert await read_of(whole) == b"0123456789"
    assert len(await read_of(endless)) == MOST_ANSWER


async def test_no_redirect_is_followed_with_the_headers() -> None:
    receiver = Receiver(status=307, headers={"Location": "/elsewhere"})
    async with receiving(receiver) as url:
        answer = await OtlpCollector(Endpoint(url)).send(spans(1))

    assert answer == Refused("HTTP 307")
    assert [path for path, _, _ in receiver.requests] == ["/v1/traces"]


@pytest.mark.parametrize(
    ("status", "after", "meant"),
    [
        (429, "7", Later("HTTP 429", 7.0)),
        (503, None, Later("HTTP 503")),
        (503, "Fri, 31 Dec 1999 23:59:59 GMT", Later("HTTP 503")),
        (502, "nan", Later("HTTP 502")),
        (504, "-1", Later("HTTP 504")),
        (400, "7", Refused("HTTP 400")),
        (401, None, Refused("HTTP 401")),
        (404, None, Refused("HTTP 404")),
    ],
)
def test_a_code_says_whether_the_same_may_come_again(
    status: int, after: str | None, meant: Later | Refused
) -> None:
    assert understood(status, after, b"") == meant


def test_what_was_taken_in_part_is_told() -> None:
    partial = ExportTracePartialSuccess(rejected_spans=2, error_message="too old")
    body = ExportTraceServiceResponse(partial_success=partial).SerializeToString()

    assert understood(200, None, body) == Taken(2, "too old")
    assert understood(200, None, b"") == Taken()
    assert understood(200, None, b"\xff not protobuf") == Taken()


@pytest.mark.parametrize(
    "text",
    [
        "collector:4318",
        "ftp://collector",
        "http://",
        "http://user:word@host",
        "http://h?a=b",
        "http://[h",
    ],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="a collector's address"):
        collector_address(text)


def test_an_address_may_have_a_path() -> None:
    assert (
        Endpoint(collector_address("https://host/otlp/")).of_traces == "https://host/otlp/v1/traces"
    )
