"""What a program leaves for the operator fits and is safe to show."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.api import pod
from bernstein.pods import termination


@pytest.fixture
def termination_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a program under test leaves its result."""
    path = tmp_path / "termination-log"
    monkeypatch.setenv("BERNSTEIN_TERMINATION_LOG", str(path))
    return path


def test_a_result_that_does_not_fit_is_refused(termination_log: Path) -> None:
    with pytest.raises(ValueError, match="4000"):
        termination.write(pod.Failure("X", "y" * 4000))
    assert not termination_log.exists()


def test_a_failures_message_is_made_safe_and_fits(termination_log: Path) -> None:
    termination.write_failure("X", "\x1b[31m" + "é\u202e" * 5000)
    failure = pod.load(pod.Failure, termination_log.read_bytes())
    assert failure.message.startswith("ééé")
    assert len(termination_log.read_bytes()) <= pod.TERMINATION_LIMIT
