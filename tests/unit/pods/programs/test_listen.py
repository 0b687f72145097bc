"""What is said of a pull request fits its message, whoever says it and of whatever characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.programs.forge import LONGEST_SAID, ListenResult
from bernstein.api.programs.forge_jobs import LISTEN
from bernstein.forges.forge import Comment, CommitChecks, FailedCheck
from bernstein.pods import termination
from bernstein.pods.programs import listen

SHA = "a" * 64
EMOJI, CJK = "\U0001f600", "\u6f22"
units = st.sampled_from([EMOJI, CJK, "x", '"', "\\", "\n", "a\n", "\x1b", "\u202e", "@x ", "> "])
texts = st.builds(lambda unit, many: unit * many, units, st.integers(0, 3000)) | st.text()
comments = st.builds(
    Comment,
    id=st.integers(1, (1 << 53) - 1).map("comment-{}".format),
    author=texts,
    text=texts,
    at=st.just("2026-01-01T00:00:00Z"),
    path=texts,
    line=st.integers(0, 1 << 31),
)
checks = st.builds(FailedCheck, texts, texts, texts)


def told(said: list[Comment], failed: list[FailedCheck]) -> ListenResult:
    return listen.told(SHA, said, said, CommitChecks("Failed", tuple(failed)))


def fits(result: ListenResult) -> bool:
    return len(result.text) <= LONGEST_SAID and termination.fits(result, LISTEN)


@given(st.lists(comments, max_size=25), st.lists(checks, max_size=12))
def test_something_of_it_always_fits(said: list[Comment], failed: list[FailedCheck]) -> None:
    result = told(said, failed)

    assert fits(result)
    assert bool(result.comments) == bool(said), "else it would never be told"
    assert result.failed
    assert "CI has failed" in result.text


def test_the_longest_words_of_all_fit() -> None:
    long = EMOJI * 5000
    result = told(
        [Comment("comment-1", long, long, "", long, 1 << 31)] * 20,
        [FailedCheck(long, long, "")] * 10,
    )

    assert fits(result)
    assert len(result.comments) == 1


def test_ten_checks_whose_names_are_long_are_told_as_far_as_there_is_room() -> None:
    assert (
        told([], [FailedCheck(EMOJI * 60, EMOJI * 200, "")] * 10).text.count("CI has failed") == 3
    )
