"""Notes of a release come from the changelog."""

from __future__ import annotations

import pytest

from release.errors import ReleaseError
from release.notes import notes
from tests.unit.docs.pages import ROOT

RELEASED = (
    "## [1.1.0] - 2026-01-02\n\n### Fixed\n\n- B\n\n## [1.0.0] - 2026-01-01\n\n### Added\n\n- A\n"
)


def test_they_are_the_section_of_the_version() -> None:
    text = f"# Changelog\n\n## [Unreleased]\n\n{RELEASED}"

    assert notes(text, "1.1.0") == "# Bernstein 1.1.0\n\n### Fixed\n\n- B\n"
    assert notes(text, "1.0.0") == "# Bernstein 1.0.0\n\n### Added\n\n- A\n"


def test_what_is_not_released_yet_goes_before_and_is_called_so() -> None:
    text = f"## [Unreleased]\n\n### Added\n\n- C\n\n{RELEASED}"

    assert notes(text, "1.1.0") == "# Bernstein 1.1.0, not released yet\n\n### Added\n\n- C\n"


def test_a_version_that_is_released_already_is_not_pushed_again() -> None:
    text = f"## [Unreleased]\n\n### Added\n\n- C\n\n{RELEASED}"

    with pytest.raises(ReleaseError, match=r"AlreadyReleased: .*1\.1\.0.*Remedy: .*next version"):
        notes(text, "1.1.0", published=True)
    assert notes(text, "1.2.0", published=True).startswith("# Bernstein 1.2.0, not released yet")
    assert notes(RELEASED, "1.1.0", published=True).startswith("# Bernstein 1.1.0\n")


def test_without_any_it_is_said_what_to_write() -> None:
    with pytest.raises(ReleaseError, match=r"NoNotes.*2\.0\.0.*Remedy: .*\[2\.0\.0\]") as raised:
        notes(f"## [Unreleased]\n\n{RELEASED}", "2.0.0")
    assert raised.value.reason == "NoNotes"


def test_the_changelog_that_is_here_has_some() -> None:
    assert "\n- " in notes((ROOT / "CHANGELOG.md").read_text(), "0.1.0")
