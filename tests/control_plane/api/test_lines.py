"""What people write on one line reads as it is, to the API server's patterns."""

from __future__ import annotations

import pytest

from bernstein.api.meta import NOT_IN_A_LINE, NOT_IN_A_PATH
from bernstein.kube.client import Client
from bernstein.kube.errors import Invalid
from tests.control_plane.objects import KINDS, valid

SHOWN = [
    "Tests für alle",
    "\u0646\u0645\u06cc\u200c\u062e",
    "\u2764\ufe0f",
    "\U0001f468\u200d\U0001f469",
]
"""Texts that are spelled with joiners and variation selectors, too."""


async def test_a_title_is_one_line_and_reads_as_it_is(admin: Client, namespace: str) -> None:
    """It becomes the first line of a commit: further lines could be trailers of any kind."""
    ends = {chr(code) for pair in NOT_IN_A_LINE for code in pair} - {"\x00"}

    for end in sorted(ends):
        with pytest.raises(Invalid, match=r"spec\.title"):
            await admin.create(KINDS["Task"], valid("Task", namespace, title=f"a{end}b"))
    for number, title in enumerate(SHOWN):
        await admin.create(KINDS["Task"], valid("Task", namespace, f"shown{number}", title=title))


async def test_a_path_is_one_line_and_reads_as_it_is(admin: Client, namespace: str) -> None:
    """It is told to agents and people as one of a list."""
    ends = {chr(code) for pair in NOT_IN_A_PATH for code in pair} - {"\x00"}

    for end in sorted(ends):
        with pytest.raises(Invalid, match=r"spec\.files"):
            await admin.create(KINDS["Task"], valid("Task", namespace, files=[f"a{end}b"]))
    bad = [{"type": "path_exists", "path": "a\x1b[2Jb"}]
    with pytest.raises(Invalid, match=r"spec\.completionSignals\[0\]\.path"):
        await admin.create(KINDS["Task"], valid("Task", namespace, completionSignals=bad))
    names = [*SHOWN, "so\u00adft hyphen.md", "icons/\u3164"]
    await admin.create(KINDS["Task"], valid("Task", namespace, files=names))
