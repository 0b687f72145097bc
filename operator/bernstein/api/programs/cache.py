"""What the operator and the program `cache` say to each other."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein import places
from bernstein.api.pod import Remote
from bernstein.api.programs.cached import CachedPack


@dataclass(frozen=True, slots=True)
class CacheConfig:
    """Keep what the tip of `ref` needs in a folder of the volume."""

    remote: Remote
    ref: str
    folder: str
    has: CachedPack | None = None
    """What is told to checkouts now: it stays, and is made anew only where it is damaged."""
    root: str = places.CACHE
    git_dir: str = places.OWN_GIT


@dataclass(frozen=True, slots=True)
class CacheResult:
    """What is there now."""

    content: CachedPack
