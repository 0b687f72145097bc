"""What is kept of a Project's gates: verdicts, and what was measured of a base; bounded, those that
were of use last.

All of it may be lost at any time, and gates are run again then. Each stays JSON until it is asked
for: most never are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from bernstein.api.encoding import dump_brief
from bernstein.api.encoding import load as decode

MOST = 300
MOST_BYTES = 128 * 1024
"""Of all that is kept together, with the keys."""
MOST_IMAGES = 64
IMAGES = "images"
"""Where the digests of images stand beside the verdicts; no key is called so."""
_KEY = re.compile(r"[0-9a-f]{40}")
_HOUR = 3600


@dataclass(frozen=True)
class KeptVerdict:
    """What a gate has said of a tree."""

    verdict: str
    reason: str = ""
    excerpt: str = ""
    required: bool = True
    seconds: int | None = None
    image: str | None = None
    ended_at: str | None = None
    """RFC 3339."""
    used: int = 0
    """In which hour since 1970 it was of use last: to say it more often would be a write each."""


@dataclass(frozen=True)
class KeptBase:
    """What a gate has found or measured in a base."""

    base: str
    """Packed; see `bernstein.checks.outputs.baseline`."""
    used: int = 0
    """As that of a verdict."""


Kept = KeptVerdict | KeptBase
K = TypeVar("K", bound=Kept)


@dataclass(frozen=True)
class GateCache:
    """What is kept of one Project."""

    ours: str
    """The image of our own programs, by its reference."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Whatever is kept, as JSON, by key; those of use last are last."""
    images: Mapping[str, str] = field(default_factory=dict)
    """The digest that an image had when it ran last, by its reference; those seen last are last."""

    def find(self, key: str, kind: type[K]) -> K | None:
        text = self.verdicts.get(key)
        return _read(text, kind) if text is not None else None

    def digest(self, image: str) -> str | None:
        """Which image a reference stands for, as far as anybody knows."""
        return exact(image) or self.images.get(image)


def exact(image: str) -> str | None:
    """The digest that a reference names itself; None: it names a tag, which may move."""
    return image.partition("@")[2] or None


def keeping(
    cache: GateCache,
    verdicts: Iterable[tuple[str, Kept]],
    images: Iterable[tuple[str, str]],
    now: datetime,
) -> GateCache:
    """With these, which are of use now. Where there is no room, what was longest of no use goes."""
    known, seen = dict(cache.verdicts), dict(cache.images)
    hour = int(now.timestamp()) // _HOUR
    for key, verdict in verdicts:
        known.pop(key, None)
        known[key] = dump_brief(replace(verdict, used=hour))
    for image, digest in images:
        seen.pop(image, None)
        seen[image] = digest
    return replace(cache, verdicts=_bounded(known), images=dict([*seen.items()][-MOST_IMAGES:]))


def _bounded(known: dict[str, str]) -> dict[str, str]:
    sizes = {key: len(key) + len(text.encode()) for key, text in known.items()}
    count, size = len(known), sum(sizes.values())
    kept = {}
    for key, text in known.items():
        if count <= MOST and size <= MOST_BYTES:
            kept[key] = text
        else:
            count, size = count - 1, size - sizes[key]
    return kept


def dump(cache: GateCache) -> dict[str, str]:
    """The `data` of a ConfigMap."""
    images = json.dumps(dict(cache.images), separators=(",", ":"))
    return {**cache.verdicts, IMAGES: images}


def load(ours: str, data: object) -> GateCache:
    """What `dump` has written; what nobody can read is left out."""
    rows = data if isinstance(data, Mapping) else {}
    found = sorted(_entries(rows))
    verdicts = _bounded({key: text for _, key, text in found})
    return GateCache(ours, verdicts, _images(rows.get(IMAGES)))


def _entries(rows: Mapping[object, object]) -> Iterator[tuple[int, str, str]]:
    for key, text in rows.items():
        if isinstance(key, str) and isinstance(text, str) and _KEY.fullmatch(key):
            kept = _read(text, KeptVerdict) or _read(text, KeptBase)
            if kept is not None:
                yield kept.used, key, text


def _read(text: str, kind: type[K]) -> K | None:
    try:
        return decode(kind, text)
    except (ValueError, RecursionError):
        return None


def _images(text: object) -> dict[str, str]:
    try:
        told = json.loads(text) if isinstance(text, str) else {}
    except (ValueError, RecursionError):
        return {}
    rows = told.items() if isinstance(told, dict) else ()
    return dict([(image, d) for image, d in rows if isinstance(d, str)][-MOST_IMAGES:])
