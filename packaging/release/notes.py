"""The notes of a release: what the changelog says of it."""

from __future__ import annotations

import re

from release.errors import ReleaseError

_VERSION = re.compile(r"^## \[([^\]]+)\].*$", re.MULTILINE)


def notes(changelog: str, version: str, *, published: bool = False) -> str:
    """Of what is not released yet, where there is something; else of that version.

    `published`: whether it is to be pushed, and not only tried. Raises ReleaseError NoNotes where
    the changelog has neither, and AlreadyReleased where what is pushed would be another thing of
    the same version.
    """
    sections = _sections(changelog)
    pending = sections.get("Unreleased")
    if pending and published and version in sections:
        raise ReleaseError(
            "AlreadyReleased",
            f"the changelog has a section of {version}, and entries that are not released yet",
            "write the next version into the files that name it and over those entries; without "
            "REGISTRY and ADDRESS it is made as a trial",
        )
    if pending:
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
