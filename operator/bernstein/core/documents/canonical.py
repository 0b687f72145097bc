"""YAML that an agent leaves, as JSON: so that nobody else reads YAML of its.

It is read where it was taken, beside the agent. What comes out is within the bounds of
`core/documents/values`, with which whoever reads it later begins.
"""

from __future__ import annotations

import json

from bernstein.core.documents import bounded_yaml, values
from bernstein.core.documents.bounded_yaml import Bounds, Loader, NoYamlError, OutOfBoundsError
from bernstein.core.documents.values import MOST_BYTES, MOST_LEVELS, MOST_VALUES, Json, Problem

_BOUNDS = Bounds(bytes=MOST_BYTES, levels=MOST_LEVELS + 1, nodes=MOST_VALUES)
"""A text has no level, but is a node."""


class _RefusedError(ValueError):
    """Says why, in our words."""


def canonical(document: bytes) -> bytes | Problem:
    """The JSON of one document of YAML, in its order, which says something where a plan file has
    nodes; or why there is none, in words that repeat nothing of it. Raises nothing."""
    if len(document) > MOST_BYTES:
        return Problem(f"it has more than {MOST_BYTES} bytes")
    try:
        text = document.decode()
    except UnicodeDecodeError:
        return Problem("it is no UTF-8")
    try:
        data: object = bounded_yaml.read(text, _BOUNDS, Loader.get_single_data)
        written = json.dumps(
            _plain(data, [MOST_BYTES]),
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
        ).encode()
    except OutOfBoundsError as error:
        return Problem(f"{_has(error.ours)}{_at(error)}")
    except NoYamlError as error:
        return Problem(f"it is no YAML that is read{_at(error)}")
    except UnicodeEncodeError:
        return Problem(values.HALF_A_PAIR)
    except (_RefusedError, RecursionError) as error:
        return Problem(str(error))
    value = values.parsed(written)
    return value if isinstance(value, Problem) else written


def _has(problem: str) -> str:
    return f"it is {problem}" if problem.startswith("nested") else f"it has {problem}"


def _at(error: NoYamlError) -> str:
    return f" ({error.place})" if error.place else ""


def _plain(data: object, room: list[int]) -> Json:
    """The data, if it is of types that JSON has. `room`: for how many characters of texts, with
    aliases written out, there is still room: a text of 60 KiB may stand there a thousand times."""
    if isinstance(data, str):
        room[0] -= len(data)
        if room[0] < 0:
            raise _RefusedError(f"it has more than {MOST_BYTES} bytes with all aliases written out")
        return data
    if data is None or isinstance(data, bool):
        return data
    if isinstance(data, int):
        if not values.SMALLEST <= data <= values.LARGEST:
            raise _RefusedError("one of its integers does not fit into 64 bits")
        return data
    if isinstance(data, float):
        if not values.is_finite(data):
            raise _RefusedError("one of its numbers is too large, or none")
        return data
    if isinstance(data, list):
        return [_plain(each, room) for each in data]
    if isinstance(data, dict):
        return {_key(key, room): _plain(each, room) for key, each in data.items()}
    raise _RefusedError(
        "one of its values is no text, number, boolean, null, list or mapping (a date is none: "
        "put it in quotes)"
    )


def _key(key: object, room: list[int]) -> str:
    if not isinstance(key, str):
        raise _RefusedError("one of its keys is no text: put it in quotes")
    _plain(key, room)
    return key
