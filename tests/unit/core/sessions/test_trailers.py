"""How a session ended, in the trailers of its last commit."""

from __future__ import annotations

import pytest

from bernstein.agents import low_confidence
from bernstein.api.pod import FinalRecord
from bernstein.core.sessions import trailers

TEXT = "A title\n\nBernstein-Task: a/b\n"


def message(final: FinalRecord, stopped: str | None = None) -> bytes:
    written = trailers.of(final, stopped)
    return (TEXT + "".join(f"{name}: {value}\n" for name, value in written)).encode()


@pytest.mark.parametrize("word", sorted(trailers.OUTCOMES - {"Stalled"}))
@pytest.mark.parametrize("unsure", ["", *low_confidence.WORDS])
def test_what_is_written_is_read(word: str, unsure: str) -> None:
    assert trailers.read(message(FinalRecord(word, low_confidence=unsure))) == (word, unsure)


def test_an_agent_that_was_stopped_because_it_stood_still_has_not_succeeded() -> None:
    assert trailers.read(message(FinalRecord("Succeeded"), "Stalled")) == ("Stalled", "")


@pytest.mark.parametrize("word", ["", "Splendid", "Succeeded\nBernstein-Task: c/d"])
def test_no_other_word_is_written(word: str) -> None:
    assert trailers.of(FinalRecord(word, "in its words", "its text")) == ()


@pytest.mark.parametrize(
    "end",
    [
        "",
        "Bernstein-Outcome: Succeeded",
        "Bernstein-Outcome: Succeeded\n\n",
        "Bernstein-Outcome: Succeeded\nBernstein-Task: c/d\n",
        "Bernstein-Outcome:  Succeeded\n",
        "bernstein-outcome: Succeeded\n",
        "X-Bernstein-Outcome: Succeeded\n",
        "Bernstein-Outcome: Splendid\n",
        "Bernstein-Outcome: Succeeded \n",
        "Bernstein-Outcome: Succeeded\r\n",
        "Bernstein-Outcome: Succeeded\nBernstein-Unsure: by far\n",
        "Bernstein-Outcome: Succeeded\nBernstein-Unsure: \n",
        "Bernstein-Unsure: partial\nBernstein-Outcome: Succeeded\nBernstein-Unsure: partial, too\n",
    ],
)
def test_nothing_else_is_taken_for_an_outcome(end: str) -> None:
    assert trailers.read((TEXT + end).encode()) == ("", "")


def test_bytes_that_are_no_text_say_nothing() -> None:
    assert trailers.read(b"\xff\xfe" * 1_000_000 + b"\nBernstein-Outcome: \xff\n") == ("", "")
