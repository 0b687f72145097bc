"""The notes of a release: what the changelog says of it."""

from __future__ import annotations

import re

from release.errors import ReleaseError

_VERSION = re.compile(r"^## \[([^\]]+)\].*$", re.MULTILINE)


def notes(changelog: str, version: str) -> str:
    """Of what is not released yet, where there is something; else of that version.

    Raises ReleaseError NoNotes where the changelog has neither.
    """
    sections = _sections(changelog)
    if pending := sections.get("Unreleased"):
        return f"# Bernstein {version}, not released yet\n\n{pending}\n"
    if text := sections.get(version):
        return f"# Bernstein {version}\n\n{text}\n"
    raise ReleaseError(
        "NoNotes",
        f"the changelog says nothing of {version}, nor of what is not released yet",
        f"write a section '## [{version}] - <date>' in CHANGELOG.md",
    )


def _sections(changelog: str) -> dict[str, str]:
    """Text of each version without its heading, by its name."""
    _, *parts = _VERSION.split(changelog)
    return dict(zip(parts[::2], (text.strip() for text in parts[1::2]), strict=True))
