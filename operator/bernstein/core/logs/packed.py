"""The end of a log that is kept: without secrets, and packed."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from bernstein.core.sanitise import text as sanitise

LOG_LINES = 10_000
LOG_BYTES = 1024 * 1024
"""Only so much of a log's end is read, and no more is ever unpacked."""

PACKED_BYTES = 64 * 1024
"""The most that is kept of one, as gzip."""

KEY = "report.gz"
"""In the `binaryData` of the ConfigMap that keeps it."""

_GZIP = 16 + zlib.MAX_WBITS
_LONGEST_REST = 4096
"""Bytes of a line that was cut through, up to which its rest is dropped; a longer rest is kept."""
_NO_LOG = re.compile(rb"unable to retrieve container logs for [^\s]{0,200}\s*")


@dataclass(frozen=True)
class PackedLog:
    """The end of a log, as gzip."""

    packed: bytes
    cut: bool
    """There was more before it."""


def is_lost(log: bytes) -> bool:
    """Whether it is a kubelet's whole answer, instead of an error, where the runtime has lost the
    container."""
    return _NO_LOG.fullmatch(log) is not None


def pack(log: bytes, limit: int = PACKED_BYTES) -> PackedLog:
    """The end of the log without secrets, halved until it fits into `limit` bytes.

    A megabyte takes about two seconds, most of it to look for secrets: not in the operator's loop.
    """
    end = log if len(log) <= LOG_BYTES else _from_line(log[-LOG_BYTES:])
    end, _ = _fitting(end, limit)
    masked = _without_secrets(end)
    kept, packed = _fitting(masked, limit)
    cut = len(end) < len(log) or len(kept) < len(masked) or log.count(b"\n") >= LOG_LINES
    return PackedLog(packed, cut)


def _fitting(end: bytes, limit: int) -> tuple[bytes, bytes]:
    """As much of the end as fits, and the same packed."""
    while len(packed := _gzip(end)) > limit:
        end = _from_line(end[len(end) // 2 :])
    return end, packed


def _without_secrets(log: bytes) -> bytes:
    """The log, masked. Of what is no secret each byte stays, also one that is no text; but where
    only colours or invisible characters between its letters hide a secret, what is seen is kept."""
    from bernstein.checks.content import printed  # its patterns take a moment to load

    masked = printed.without_secrets(log.decode("utf-8", "surrogateescape"))
    seen = sanitise(masked, len(masked))
    shown = printed.without_secrets(seen)
    return (masked if shown == seen else shown).encode("utf-8", "surrogateescape")


def unpack(packed: bytes) -> bytes:
    """The text, at most LOG_BYTES of it. Raises ValueError when it is no gzip."""
    try:
        return zlib.decompressobj(_GZIP).decompress(packed, LOG_BYTES)
    except zlib.error as error:
        raise ValueError(f"the log is damaged: {error}") from None


def _gzip(text: bytes) -> bytes:
    """The same for the same text: it has no time in it."""
    packer = zlib.compressobj(wbits=_GZIP)
    return packer.compress(text) + packer.flush()


def _from_line(text: bytes) -> bytes:
    """The text from its first whole line on."""
    return text[text.find(b"\n", 0, _LONGEST_REST) + 1 :]
