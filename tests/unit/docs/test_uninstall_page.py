"""The page on uninstalling leaves nothing behind."""

from __future__ import annotations

import re
from pathlib import Path

from bernstein import crds

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "uninstall.md"


def test_every_kind_is_deleted_by_its_page() -> None:
    named = set(re.findall(r"\b([a-z]+)\.bernstein\.dev\b", PAGE.read_text()))

    assert named == {kind.plural for kind in crds.KINDS}
