"""What is kept is bounded, and what was longest of no use goes first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.gate_cache import (
    IMAGES,
    MOST,
    MOST_BYTES,
    MOST_IMAGES,
    GateCache,
    KeptVerdict,
    dump,
    keeping,
    load,
)
from tests.unit.core.objects import NOW, at

OURS = "bernstein:1"
EMPTY = GateCache(OURS)


def named(number: int) -> str:
    return f"{number:040x}"


def verdict(excerpt: str = "") -> KeptVerdict:
    return KeptVerdict("Failed", "ExitCode", excerpt)


def holding(*numbers: int, excerpt: str = "", cache: GateCache = EMPTY) -> GateCache:
    for number in numbers:
        cache = keeping(cache, [(named(number), verdict(excerpt))], (), NOW)
    return cache


def size(cache: GateCache) -> int:
    return sum(len(key) + len(text) for key, text in cache.verdicts.items())


def test_there_are_so_many_at_most_and_the_oldest_goes() -> None:
    cache = holding(*range(MOST + 2))

    assert [*cache.verdicts] == [named(number) for number in range(2, MOST + 2)]


def test_what_was_of_use_stays() -> None:
    full = holding(*range(MOST))

    cache = holding(0, MOST, cache=full)

    assert named(0) in cache.verdicts
    assert named(1) not in cache.verdicts


def test_they_have_so_many_bytes_at_most() -> None:
    cache = holding(*range(200), excerpt="\x01" * 1024)

    assert MOST_BYTES - 8000 < size(cache) <= MOST_BYTES
    assert [*cache.verdicts][-1] == named(199)


def test_images_are_bounded_too() -> None:
    seen = [(f"tool:{number}", "sha256:a") for number in range(MOST_IMAGES + 1)]

    images = keeping(EMPTY, (), seen, NOW).images

    assert len(images) == MOST_IMAGES
    assert "tool:0" not in images


@given(st.lists(st.integers(0, 400), max_size=40), st.text(max_size=3000))
def test_what_is_written_is_read_again(numbers: list[int], excerpt: str) -> None:
    cache = holding(*numbers, excerpt=excerpt)
    cache = keeping(cache, (), [("toolchain:1", "sha256:a")], NOW)

    assert dump(load(OURS, dump(cache))) == dump(cache)
    assert size(cache) <= MOST_BYTES


def test_what_was_of_use_last_is_still_last_when_it_is_read_again() -> None:
    cache = keeping(EMPTY, [(named(9), verdict())], (), NOW)
    cache = keeping(cache, [(named(1), verdict())], (), at(7200))
    cache = keeping(cache, [(named(9), verdict())], (), at(14400))

    assert [*load(OURS, dump(cache)).verdicts] == [named(1), named(9)]


def test_to_be_of_use_again_within_the_hour_changes_nothing_that_is_written() -> None:
    cache = holding(1)

    assert dump(keeping(cache, [(named(1), verdict())], (), at(60))) == dump(cache)


def test_too_much_that_somebody_has_written_is_cut() -> None:
    rows = {named(number): f'{{"verdict":"Passed","used":{number}}}' for number in range(MOST + 9)}

    read = load(OURS, rows)

    assert len(read.verdicts) == MOST
    assert named(MOST + 8) in read.verdicts


def test_what_nobody_can_read_is_left_out() -> None:
    broken: dict[object, object] = {
        "short": '{"verdict":"Passed"}',
        named(1): '{"verdict":"Passed","used":"now"}',
        named(2): "[" * 100_000,
        named(3): 7,
        IMAGES: "{",
    }

    assert load(OURS, broken | {named(4): '{"verdict":"Passed"}'}) == GateCache(
        OURS, {named(4): '{"verdict":"Passed"}'}
    )
    assert load(OURS, None) == load(OURS, ["nothing"]) == EMPTY
    assert load(OURS, {IMAGES: '["a"]'}) == EMPTY
