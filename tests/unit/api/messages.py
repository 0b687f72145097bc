"""Every message that a program of ours may end with: written, or read and written again.

Run as a program with the modules of one release, and talked to by those of another:
`messages.py write` prints a line for each, `messages.py read` answers each line.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import pkgutil
import sys
from collections.abc import Iterator
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from bernstein.api import encoding, pod, programs

PLAIN = {str: "text", int: 7, bool: True, float: 1.5}


def kinds() -> Iterator[type[Any]]:
    """What programs end with, and what they write down meanwhile, by module and name."""
    names = (found.name for found in pkgutil.iter_modules(programs.__path__))
    modules = [pod, *(importlib.import_module(f"{programs.__name__}.{name}") for name in names)]
    for module in modules:
        for name, kind in sorted(vars(module).items()):
            said = name.endswith(("Result", "Record"))
            if said and kind.__module__ == module.__name__ and dataclasses.is_dataclass(kind):
                assert isinstance(kind, type)
                yield kind


def example(kind: Any, *, whole: bool) -> Any:
    """One with every field and one entry in each list, or with no more than it must have."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        hints = get_type_hints(kind)
        return kind(
            **{
                field.name: example(hints[field.name], whole=whole)
                for field in dataclasses.fields(kind)
                if whole or not _has_default(field)
            }
        )
    if get_origin(kind) is tuple:
        return (example(get_args(kind)[0], whole=whole),) if whole else ()
    if get_origin(kind) in (Union, UnionType):
        (inner,) = (each for each in get_args(kind) if each is not type(None))
        return example(inner, whole=whole) if whole else None
    return PLAIN[kind]


def _has_default(field: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return field.default is not missing or field.default_factory is not missing


def _written() -> Iterator[list[str]]:
    for kind in kinds():
        for whole in (True, False):
            text = encoding.dump(example(kind, whole=whole))
            yield [kind.__module__, kind.__name__, text]


def _read(module: str, name: str, text: str) -> str:
    """As this release understands it; or why it does not."""
    try:
        kind = getattr(importlib.import_module(module), name)
        return encoding.dump(encoding.load(kind, text))
    except (AttributeError, ImportError, ValueError) as error:
        return f"not read: {error}"


if __name__ == "__main__":
    if sys.argv[1] == "write":
        lines: Iterator[Any] = _written()
    else:
        lines = (_read(*json.loads(line)) for line in sys.stdin)
    for line in lines:
        print(json.dumps(line))
