"""Tokens of one call, whatever the provider says of them.

The bounds hold for every tokenizer that splits bytes: no token is of less than one byte. What a
provider says beyond them is a mistake or a lie, and counts as the bound.
"""

from __future__ import annotations

from typing import Any

from bernstein.api.pod import Usage

_FRAME = 4096
"""Tokens that a provider may put around a question."""
_LIKELY_BYTES = 2
"""Of a request, for each token that is likely read. Text and code have three or four, and what JSON
writes as escapes more: so it is about twice what is used. Hashes and base64 have fewer."""


def most(sent: int, max_tokens: int) -> Usage:
    """The tokens that a request of so many bytes can use at most."""
    return Usage(input=sent + _FRAME, output=max_tokens)


def likely(sent: int, max_tokens: int) -> Usage:
    """The tokens that such a request will not use up, but for an unusual text. Who writes what is
    asked about may make it one: then it may use up to `most`."""
    return Usage(input=-(-sent // _LIKELY_BYTES) + _FRAME, output=max_tokens)


def counted(
    bound: Usage,
    whole_input: Any,
    output: Any,
    cache_read: Any = None,
    cache_write: Any = None,
) -> tuple[Usage, bool]:
    """The tokens within the bound, and whether they are what the provider says.

    `whole_input` includes what was read from or written to a cache. A count is a whole number from
    0; without one of input and output the bound counts.
    """
    read, written = _count(cache_read) or 0, _count(cache_write) or 0
    all_in, out = _count(whole_input), _count(output)
    if all_in is None or out is None:
        return bound, False
    possible = read + written <= all_in <= bound.input and out <= bound.output
    if not possible:
        return Usage(input=min(all_in, bound.input), output=min(out, bound.output)), False
    plain = all_in - read - written
    return Usage(input=plain, output=out, cache_read=read, cache_write=written), True


def plus(left: Usage, right: Usage) -> Usage:
    """The tokens of both."""
    return Usage(
        input=left.input + right.input,
        output=left.output + right.output,
        cache_read=left.cache_read + right.cache_read,
        cache_write=left.cache_write + right.cache_write,
    )


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
