"""What several models say together: a yes of enough of them, and never an error for a yes."""

from __future__ import annotations

from itertools import product

import pytest

from bernstein.api.pod import EXCERPT_CHARACTERS
from bernstein.checks.verdict import Verdict
from bernstein.core.judging.quorum import combined

SAYS = {
    "y": Verdict("Passed", "", ""),
    "n": Verdict("Failed", "ChangesRequested", "a.py: no"),
    "u": Verdict("Skipped", "Unsure", "part of it was not shown"),
    "e": Verdict("Errored", "RateLimited", "slow down"),
}


def judged(said: str, quorum: int) -> str:
    names = [(f"m{number}", SAYS[each]) for number, each in enumerate(said)]
    found = combined(names, quorum)
    return f"{found.verdict} {found.reason}".strip()


@pytest.mark.parametrize(
    ("said", "quorum", "verdict"),
    [
        ("y", 1, "Passed"),
        ("n", 1, "Failed ChangesRequested"),
        ("u", 1, "Skipped Unsure"),
        ("e", 1, "Errored RateLimited"),
        ("yn", 1, "Passed"),
        ("yn", 2, "Failed ChangesRequested"),
        ("nn", 1, "Failed ChangesRequested"),
        ("ye", 1, "Passed"),
        ("ye", 2, "Errored RateLimited"),
        ("ne", 1, "Errored RateLimited"),
        ("ne", 2, "Failed ChangesRequested"),
        ("ue", 1, "Skipped Unsure"),
        ("un", 1, "Skipped Unsure"),
        ("un", 2, "Failed ChangesRequested"),
        ("yu", 2, "Skipped Unsure"),
        ("yun", 2, "Skipped Unsure"),
        ("yen", 2, "Errored RateLimited"),
        ("y", 2, "Errored InvalidConfig"),
        ("y", 0, "Errored InvalidConfig"),
        ("", 1, "Errored InvalidConfig"),
    ],
)
def test_what_counts_of_several(said: str, quorum: int, verdict: str) -> None:
    assert judged(said, quorum) == verdict


def test_nothing_passes_without_enough_that_say_yes() -> None:
    for size in (1, 2, 3):
        for said in map("".join, product("ynue", repeat=size)):
            for quorum in range(1, size + 1):
                passed = judged(said, quorum) == "Passed"

                assert passed == (said.count("y") >= quorum)


def test_it_is_told_who_said_what() -> None:
    one = ("gpt", SAYS["n"])
    other = ("gemini", Verdict("Failed", "ChangesRequested", "b.py: slow"))

    assert combined([one, other], 1).excerpt == "gpt:\na.py: no\ngemini:\nb.py: slow"
    assert combined([one, ("claude", SAYS["y"])], 1).excerpt == "approved by claude\ngpt:\na.py: no"


def test_nobody_takes_the_room_of_the_others() -> None:
    long = Verdict("Failed", "ChangesRequested", "x" * 5000)
    found = combined([(f"m{number}", long) for number in range(8)], 1)

    assert len(found.excerpt) <= EXCERPT_CHARACTERS
    assert all(f"m{number}:\nxx" in found.excerpt for number in range(8))
