"""The labels that the chart's admission policies guard are those that the code knows.

What they refuse is shown with a real API server, in `tests/control_plane/chart`; here that no label
is forgotten. They ask for each by its name.
"""

from __future__ import annotations

import re
from pathlib import Path

from bernstein.api import pod
from bernstein.core import labels

ROOT = Path(__file__).resolve().parents[4]
HELPERS = (ROOT / "charts/bernstein/templates/_helpers.tpl").read_text()
ON_NO_OBJECT_A_LABEL = {
    *(labels.CONTENT, labels.CUT, labels.EXPIRES, labels.SPEC_HASH, labels.STOPPED),
    labels.FINALIZER,
}
"""Annotations, and a finalizer."""
OF_PEOPLE = {labels.SEED_ID}


def known() -> set[str]:
    """Every name of ours that the code has a word for."""
    words = [word for word in vars(labels).values() if isinstance(word, str)]
    return {word for word in words if word.startswith(labels.OURS) and word != labels.OURS}


def test_every_label_of_ours_is_guarded() -> None:
    (listed,) = re.findall(r'define "bernstein.ourLabels" -}}\n\[(.*?)\]', HELPERS, re.DOTALL)

    assert known() > ON_NO_OBJECT_A_LABEL | OF_PEOPLE
    assert set(re.findall(r"'([^']+)'", listed)) == known() - ON_NO_OBJECT_A_LABEL - OF_PEOPLE


def test_what_is_ours_by_its_maker_is_guarded_as_well() -> None:
    by_maker = f"l[?'{labels.MANAGED_BY}'].orValue('') == '{labels.MANAGER}'"

    assert HELPERS.count(by_maker) == 1


def test_no_label_of_ours_has_its_name_written_out_elsewhere() -> None:
    written = {
        word
        for path in (ROOT / "operator").rglob("*.py")
        if path != Path(labels.__file__)
        for word in re.findall(r"[\"'](bernstein\.dev/[a-z-]+)[\"']", path.read_text())
    }

    assert written == {pod.AUDIENCE}
