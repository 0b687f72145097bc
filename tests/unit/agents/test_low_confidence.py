"""An agent that is not sure of its work is noticed by what it says at its end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from bernstein import agents
from bernstein.agents.adapter import TEXT_LIMIT
from bernstein.agents.low_confidence import CHARACTERS, found

SAYING: dict[str, Callable[[str], list[bytes]]] = {
    "generic": lambda text: [text.encode()],
    "demo": lambda text: [json.dumps({"type": "result", "text": text}).encode()],
    "codex": lambda text: [
        json.dumps(
            {"type": "item.completed", "item": {"type": "agent_message", "text": text}}
        ).encode(),
        b'{"type": "turn.completed"}',
    ],
}
"""By adapter: the output of a run whose last message this is."""
DONE = "All tests pass and the limiter is in place."


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'm not sure that this is right.", "not sure"),
        ("i am NOT sure", "not sure"),
        ("I\u2019m not sure", "not sure"),
        ("I'm unsure about the lock", "unsure"),
        ("I cannot determine which file", "cannot determine"),
        ("I don't know how to test it", "don't know how"),
        ("This is beyond my reach", "beyond my"),
        ("I lack the context for it", "lack the context"),
        ("It is a partial implementation", "partial"),
        ("It is partially complete", "partial"),
        ("partially\n  implemented", "partial"),
        ("I was unable to fully verify", "unable to complete"),
        ("unable to completely do it", "unable to complete"),
        ("I am not fully confident", "not fully confident"),
        ("I need more context", "needs more"),
        ("we need more information", "needs more"),
        ("I could not complete step 3", "could not complete"),
        ("an incomplete implementation", "incomplete"),
        ("left as a placeholder", "placeholder"),
        ("TODO: escalate", "escalate"),
        ("TODO (team): please escalate this", "escalate"),
    ],
)
def test_a_phrase_is_told_in_our_words(said: str, told: str) -> None:
    assert found(f"{DONE} {said}") == told


@pytest.mark.parametrize(
    "said",
    [
        "",
        DONE,
        "The user may not be sure what to do.",
        "impartially completed",
        "There is no TODO left.",
        "I escalated nothing",
        "lacking the contextual menu",
    ],
)
def test_other_words_are_no_sign(said: str) -> None:
    assert found(said) == ""


def test_only_the_last_2000_characters_of_a_message_count() -> None:
    phrase = "I'm not sure"
    assert CHARACTERS == 2000

    assert found(phrase + "x" * (CHARACTERS - len(phrase))) == "", "it is no word of its own"
    assert found(phrase + " " + "x" * (CHARACTERS - len(phrase) - 1)) == "not sure"
    assert found(phrase + " " + "x" * (CHARACTERS - len(phrase))) == ""


@pytest.mark.parametrize("adapter", agents.names())
def test_a_run_keeps_as_much_of_its_last_message_as_is_looked_at(adapter: str) -> None:
    phrase = "I'm not sure"
    message = f"All is well. {phrase} {'x' * (CHARACTERS - len(phrase) - 1)}"
    parser = agents.get(adapter).parser()
    for line in SAYING[adapter](message):
        parser.feed(line)

    text = parser.finish(0, b"").text

    assert found(text) == found(message) == "not sure"
    assert len(text) == TEXT_LIMIT


@pytest.mark.parametrize(
    "piece", ["TODO ", "TODO" + " " * 90, "I'm ", "partial", "\n", "unable to "]
)
def test_no_message_takes_long(piece: str) -> None:
    message = piece * 1_000_000
    before = time.process_time()
    assert found(message) == ""
    assert time.process_time() - before < 1
