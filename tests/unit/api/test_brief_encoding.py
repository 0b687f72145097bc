"""What is written in brief is read as what it was."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from bernstein.api.encoding import dump, dump_brief, load


@dataclass(frozen=True)
class Inner:
    size: int = 3
    name: str = ""


@dataclass(frozen=True)
class Outer:
    title: str
    inner: Inner = field(default_factory=Inner)
    more: tuple[Inner, ...] = ()
    maybe: str | None = "as usual"
    times: int = 1
    sure: bool = False


def test_a_default_is_not_written_at_any_depth() -> None:
    assert json.loads(dump_brief(Outer("", more=(Inner(), Inner(size=0))))) == {
        "title": "",
        "more": [{}, {"size": 0}],
    }


def test_what_is_like_a_default_and_is_none_is_written() -> None:
    changed = Outer("t", Inner(name="x"), (), None, 0, True)

    assert json.loads(dump_brief(changed)) == {
        "title": "t",
        "inner": {"name": "x"},
        "maybe": None,
        "times": 0,
        "sure": True,
    }


def test_both_forms_are_read_as_the_same() -> None:
    for value in (Outer("t"), Outer("t", Inner(9), (Inner(), Inner(1, "b")), None, 2, True)):
        assert load(Outer, dump_brief(value)) == load(Outer, dump(value)) == value


def test_characters_are_written_as_they_are_and_half_of_a_pair_is_escaped() -> None:
    value = Outer("a \N{VIOLIN} \ud83c", Inner(name='"\\'))

    written = dump_brief(value)
    assert len(written.encode()) == len('{"inner":{"name":"\\"\\\\"},"title":"a 1234 \\ud83c"}')
    assert load(Outer, written) == value
