"""A collector that is spoken to by OTLP over HTTP, in protobuf."""

from __future__ import annotations

import hashlib
import math
import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Final

import aiohttp
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue
from opentelemetry.proto.trace.v1 import trace_pb2

from bernstein.controllers.traces.collector import Later, Refused, Taken
from bernstein.core.traces.models import SCHEMA
from bernstein.core.traces.span import Span, Value

SECONDS = 10.0
"""For one request, its answer included."""
MOST_ANSWER = 64 << 10
"""Bytes that are read of an answer."""
AGAIN: Final = frozenset({408, 429, 502, 503, 504})
"""Codes after which the same request may be made again."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KINDS = {
    "Internal": trace_pb2.Span.SPAN_KIND_INTERNAL,
    "Client": trace_pb2.Span.SPAN_KIND_CLIENT,
}


@dataclass(frozen=True)
class Endpoint:
    """Where a collector is, and how it is spoken to."""

    url: str
    """Its base address; traces go to `/v1/traces` below it."""
    headers: Path | None = None
    """Folder with a file for each header, as a Secret is mounted. It is read for each request."""
    ca: Path | None = None
    """PEM file of the authority that signed its certificate; None: those that the image trusts."""

    @property
    def of_traces(self) -> str:
        return f"{self.url.rstrip('/')}/v1/traces"


class OtlpCollector:
    """One connection for each request: there is one every few seconds at most."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._trust: tuple[bytes, ssl.SSLContext] | None = None

    async def send(self, spans: Sequence[Span]) -> Taken | Later | Refused:
        try:
            body = encoded(spans)
        except ValueError as error:
            return Refused(f"spans cannot be encoded: {type(error).__name__}")
        try:
            trust, headers = self._trusted(), read_headers(self._endpoint.headers)
        except (OSError, ValueError) as error:
            # They may be mounted soon, or be put right; a message could quote what is secret.
            return Later(f"headers or CA cannot be read: {type(error).__name__}")
        limits = aiohttp.ClientTimeout(total=SECONDS)
        try:
            async with (
                aiohttp.ClientSession(timeout=limits, trust_env=True) as session,
                session.post(
                    self._endpoint.of_traces,
                    data=body,
                    headers={**headers, "Content-Type": "application/x-protobuf"},
                    ssl=trust,
                    allow_redirects=False,
                ) as answer,
            ):
                return understood(
                    answer.status,
                    answer.headers.get("Retry-After"),
                    await read_of(answer.content) if answer.status == 200 else b"",
                )
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            return Later(f"no answer: {type(error).__name__}")

    def _trusted(self) -> ssl.SSLContext | bool:
        """Made anew when the file has changed."""
        if self._endpoint.ca is None:
            return True
        pem = self._endpoint.ca.read_bytes()
        digest = hashlib.sha256(pem).digest()
        if self._trust is None or self._trust[0] != digest:
            self._trust = digest, ssl.create_default_context(cadata=pem.decode())
        return self._trust[1]


async def read_of(content: aiohttp.StreamReader) -> bytes:
    """All of an answer, or its first `MOST_ANSWER` bytes: they come in pieces."""
    found = b""
    while len(found) < MOST_ANSWER and (piece := await content.read(MOST_ANSWER - len(found))):
        found += piece
    return found


def read_headers(folder: Path | None) -> dict[str, str]:
    """A header for each file: its name, and its content without the white space around it.

    What begins with a dot is the kubelet's own. OSError, also where there is none: of a Secret that
    is missing an empty folder is mounted. ValueError where a header has a line break.
    """
    found: dict[str, str] = {}
    for file in sorted(folder.iterdir()) if folder is not None else ():
        if file.name.startswith("."):
            continue
        found[file.name] = file.read_text().strip()
        if not found[file.name].isprintable():
            raise ValueError("a header has a character that cannot be shown")
    if folder is not None and not found:
        raise FileNotFoundError(f"{folder} has no header")
    return found


def understood(status: int, retry_after: str | None, body: bytes) -> Taken | Later | Refused:
    """What an answer with this code, this header and this body means."""
    if status in AGAIN:
        return Later(f"HTTP {status}", _seconds(retry_after))
    if status != 200:
        return Refused(f"HTTP {status}")
    try:
        partial = ExportTraceServiceResponse.FromString(body).partial_success
    except DecodeError:
        return Taken()  # it has said 200
    return Taken(partial.rejected_spans, partial.error_message)


def _seconds(text: str | None) -> float | None:
    """Of a Retry-After in seconds; a date is none."""
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def encoded(spans: Iterable[Span]) -> bytes:
    """The request."""
    request = ExportTraceServiceRequest()
    of_us = request.resource_spans.add()
    of_us.schema_url = SCHEMA
    of_us.resource.attributes.extend(
        [
            _attribute("service.name", "bernstein"),
            _attribute("service.version", version("bernstein")),
        ]
    )
    scope = of_us.scope_spans.add()
    scope.schema_url = SCHEMA
    scope.scope.name = "bernstein"
    scope.spans.extend(map(_span, spans))
    found: bytes = request.SerializeToString()
    return found


def _span(span: Span) -> trace_pb2.Span:
    status = trace_pb2.Status()
    if span.error is not None:
        status = trace_pb2.Status(code=trace_pb2.Status.STATUS_CODE_ERROR, message=span.error)
    return trace_pb2.Span(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_id or b"",
        name=span.name,
        kind=_KINDS[span.kind],
        start_time_unix_nano=_nanoseconds(span.start),
        end_time_unix_nano=_nanoseconds(span.end),
        attributes=[_attribute(key, value) for key, value in span.attributes],
        status=status,
    )


def _nanoseconds(time: datetime) -> int:
    """Of a time that the protocol has no number for: the next one that it has, so that an odd span
    takes no other one's place in what is sent."""
    since = (time - _EPOCH) // timedelta(microseconds=1) * 1000
    return min(max(since, 0), (1 << 64) - 1)


def _attribute(key: str, value: Value) -> KeyValue:
    return KeyValue(key=key, value=_value(value))


def _value(value: Value) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int() if value.bit_length() < 64:
            return AnyValue(int_value=value)
        case int():
            return AnyValue(string_value=str(value))
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=value)
        case tuple():
            texts = [AnyValue(string_value=each) for each in value]
            return AnyValue(array_value=ArrayValue(values=texts))
