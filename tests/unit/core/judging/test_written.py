"""A test that a model has written: which answer holds one, and how it travels."""

from __future__ import annotations

import base64
import random
import string
import zlib

import pytest

from bernstein.core.judging import forms, written
from bernstein.core.judging.answers import FormError, written_test

TEST = "import app\n\n\ndef test_a() -> None:\n    assert app.X == 1\n"


def fenced(text: str) -> str:
    return f"```python\n{text}```"


@pytest.mark.parametrize(
    "answer",
    [fenced(TEST), f"\n{fenced(TEST)}\n\n", fenced(TEST).replace("\n", "\r\n")],
    ids=["alone", "blank-lines", "line-ends"],
)
def test_one_block_of_python_is_a_test(answer: str) -> None:
    assert written_test(answer) == TEST


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (TEST, "not one block"),
        ("PASS", "not one block"),
        (f"Here it is:\n{fenced(TEST)}", "not one block"),
        (f"{fenced(TEST)}\nIt passes.", "not one block"),
        (fenced(TEST).removesuffix("```"), "not one block"),
        (fenced(TEST).replace("python", "sh"), "not one block"),
        ("```python", "not one block"),
        (f"{fenced(TEST)}\n{fenced(TEST)}", "more than one"),
        (fenced(""), "empty"),
        (fenced(" \n"), "empty"),
        (fenced("X = '\x00'\n"), "nobody sees"),
        (fenced("X = '\u202e'\n"), "nobody sees"),
        (fenced("#" * 16_001), "characters"),
    ],
)
def test_whatever_else_was_answered_is_none(answer: str, why: str) -> None:
    with pytest.raises(FormError, match=why):
        written_test(answer)

    found = forms.verdict("test", answer, is_cut=False)
    assert (found.verdict, found.reason) == ("Errored", "AnswerNotInForm")


def test_a_test_for_what_was_not_shown_in_full_is_one_like_any_other() -> None:
    assert forms.verdict("test", fenced(TEST), is_cut=True).verdict == "Passed"


def test_what_is_packed_is_unpacked_as_it_was() -> None:
    assert written.unpacked(written.packed(TEST)) == TEST


def test_what_is_too_long_for_a_termination_message_is_no_answer() -> None:
    chance = random.Random(0)
    test = "".join(chance.choices(string.printable[:90], k=6000))

    with pytest.raises(FormError, match="too long"):
        written.packed(test)


def word(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    "packed",
    [
        "",
        "no base64",
        word(b"nothing deflated"),
        word(zlib.compress(b"x" * (written.MOST_BYTES + 1))),
        word(zlib.compress(b"x") + b"behind"),
        word(zlib.compress(b"x")[:-1]),
        word(zlib.compress(b"\xff")),
        "A" * (written.MOST_PACKED + 1),
    ],
)
def test_whoever_unpacks_something_else_gets_no_text(packed: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        written.unpacked(packed)
