"""When a certificate ends: the standard library reads that of a peer alone."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime

_SEQUENCE, _INTEGER, _VERSION, _UTC_TIME, _TIME = 0x30, 0x02, 0xA0, 0x17, 0x18
_BEGIN, _END = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"


def ends(pem: bytes) -> float | None:
    """In seconds since 1970, of the first certificate in `pem`; None where it cannot be read."""
    try:
        text = pem.decode("ascii")
        first = text[text.index(_BEGIN) : text.index(_END) + len(_END)]
        return _not_after(memoryview(ssl.PEM_cert_to_DER_cert(first)))
    except (ValueError, IndexError):
        return None


def _not_after(der: memoryview) -> float:
    """RFC 5280, 4.1: the validity is the field after version, serial number, algorithm, issuer."""
    _, certificate, _ = _value(der)
    _, rest, _ = _value(certificate)
    tag, _, following = _value(rest)
    if tag == _VERSION:
        tag, _, following = _value(following)
    if tag != _INTEGER:
        raise ValueError("no serial number")
    _, _, following = _value(following)
    _, _, following = _value(following)
    tag, validity, _ = _value(following)
    if tag != _SEQUENCE:
        raise ValueError("no validity")
    _, _, last = _value(validity)
    tag, written, _ = _value(last)
    form = {_UTC_TIME: "%y%m%d%H%M%SZ", _TIME: "%Y%m%d%H%M%SZ"}.get(tag)
    if form is None:
        raise ValueError("no time")
    return datetime.strptime(bytes(written).decode("ascii"), form).replace(tzinfo=UTC).timestamp()


def _value(der: memoryview) -> tuple[int, memoryview, memoryview]:
    """(tag, value, what follows) of the first element."""
    size, start = der[1], 2
    if size & 0x80:
        start += size & 0x7F
        size = int.from_bytes(der[2:start])
    if start + size > len(der):
        raise ValueError("cut off")
    return der[0], der[start : start + size], der[start + size :]
