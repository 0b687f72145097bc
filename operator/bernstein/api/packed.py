"""Bytes that travel as a word of ASCII: in a termination message, in an object, in a configuration.

Whoever unpacks one gets bounded bytes, whatever was packed.
"""

from __future__ import annotations

import base64
import binascii
import zlib


def packed(data: bytes) -> str:
    """Deflated, as base64."""
    return base64.b64encode(zlib.compress(data, 9)).decode()


def unpacked(word: str, most_packed: int, most_bytes: int) -> bytes:
    """What `packed` was given. Raises ValueError for what it has not made, for over `most_packed`
    characters, and for over `most_bytes` bytes in them."""
    if len(word) > most_packed:
        raise ValueError("it is too long")
    unpacking = zlib.decompressobj()
    try:
        data = unpacking.decompress(base64.b64decode(word, validate=True), most_bytes)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(str(error)) from None
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("it is cut, or too long, or there is something behind it")
    return data
