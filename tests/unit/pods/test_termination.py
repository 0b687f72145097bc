"""What a program leaves for the operator fits and is safe to show."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.api import encoding, pod
from bernstein.pods import termination
from bernstein.pods.programs import recorder


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
    failure = encoding.load(pod.Failure, termination_log.read_bytes())
    assert failure.message.startswith("ééé")
    assert len(termination_log.read_bytes()) <= pod.TERMINATION_LIMIT


CONTAINERS = 5
"""Of an agent's pod: checkout, recorder, pusher and agent, and one that somebody else puts in."""
WITH_SETUP = 7
"""The most that a pod of `checkout` has: where a check is asked of both trees, with a setup."""
WORST = ["\U0001f600", "\\", '"', "é", "\x1b[31m", "\ud800"]


@pytest.mark.parametrize("character", WORST, ids=ascii)
@pytest.mark.parametrize("program", pod.PROGRAMS)
def test_a_failure_of_any_program_fits_its_share_of_12_kib(
    program: str, character: str, termination_log: Path
) -> None:
    termination.write_failure("RepositoryUnreachable", f"git: {character * 5000}", program)

    written = termination_log.read_bytes()
    assert encoding.load(pod.Failure, written).message
    in_many = (pod.CHECKOUT, pod.COMPARE, pod.RECORDER, pod.PUSHER)
    in_the_pod = WITH_SETUP if program in in_many else 3
    assert len(written) <= min(4096, 12 * 1024 // in_the_pod)


@pytest.mark.parametrize("character", WORST, ids=ascii)
def test_the_recorders_result_fits_its_share_of_12_kib_with_the_worst_of_words(
    character: str,
) -> None:
    most, sha = 10**15, "f" * 64
    final = pod.FinalRecord(
        "ProviderUnavailable", character * 500, character * 1500, retry_after=86400
    )
    usage = pod.Usage(most, most, most, most)
    path = '"' * 100
    files = tuple(pod.ChangedFile(path, most, most) for _ in range(3))
    changed = pod.Changed(10**6, True, True, True, path, "f" * 16, files, path)
    result = pod.RecorderResult(
        sha, sha, sha, changed, usage, final, "\U0001f600" * 100, "SessionOver", 10**6
    )
    assert len(encoding.dump(result)) > 12 * 1024 // CONTAINERS

    fitted = recorder.fit(result)

    assert len(encoding.dump(fitted).encode()) <= 12 * 1024 // CONTAINERS
    assert (fitted.sha, fitted.usage, fitted.final.outcome) == (sha, usage, final.outcome)


@pytest.mark.parametrize("character", WORST, ids=ascii)
def test_a_usual_result_fits_beside_a_setup_and_one_container_more(character: str) -> None:
    final = pod.FinalRecord("AgentFailed", character * 500, character * 1500)
    usage, changed = pod.Usage(10**6, 10**6), pod.Changed(3, most=(pod.ChangedFile("a.py", 1, 1),))
    result = pod.RecorderResult("f" * 40, "f" * 40, "f" * 40, changed, usage, final, "sonnet")

    fitted = recorder.fit(result)

    assert len(encoding.dump(fitted).encode()) <= 12 * 1024 // (CONTAINERS + 1)
    assert fitted.final.text or fitted.final.message
