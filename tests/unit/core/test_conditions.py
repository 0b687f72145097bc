"""Conditions and kstatus: at work, in need of a person, or neither."""

from __future__ import annotations

from bernstein.core import conditions
from tests.unit.core.objects import NOW, at, status, told


def test_the_transition_time_changes_only_with_the_status() -> None:
    first = conditions.put((), "Ready", "True", "A", generation=1, now=NOW)
    same = conditions.put(first, "Ready", "True", "B", "more", generation=2, now=at(9))
    other = conditions.put(same, "Ready", "False", "B", generation=2, now=at(9))

    assert [c.last_transition_time for c in (*first, *same, *other)] == [NOW, NOW, at(9)]
    assert (same[0].reason, same[0].observed_generation) == ("B", 2)


def test_nothing_new_changes_nothing() -> None:
    first = conditions.put((), "Ready", "True", "A", generation=1, now=NOW)

    assert conditions.put(first, "Ready", "True", "A", generation=1, now=at(9)) is first


def test_a_condition_is_found_and_dropped_by_type() -> None:
    both = conditions.put((), "A", "True", "X", generation=1, now=NOW)
    both = conditions.put(both, "B", "False", "Y", generation=1, now=NOW)

    assert conditions.is_true(both, "A")
    assert not conditions.is_true(both, "B")
    assert not conditions.is_true(both, "C")
    assert told(conditions.drop(both, "A", "C")) == {"B": ("False", "Y")}


def test_a_long_message_is_cut_to_what_the_api_takes() -> None:
    (found,) = conditions.put((), "A", "True", "X", "m" * 9999, generation=1, now=NOW)

    assert len(found.message) == 4096


def test_a_note_leaves_the_others_alone() -> None:
    noted = conditions.busy(status(), "W", "", NOW)
    noted = conditions.note(noted, "Verified", False, "X", "", NOW)

    assert told(noted.conditions) == {"Reconciling": ("True", "W"), "Verified": ("False", "X")}


def test_what_a_message_quotes_is_harmless() -> None:
    noted = conditions.note(status(), "A", True, "X", "it said: \x1b[31mred\u202e @everyone", NOW)

    (found,) = noted.conditions
    assert found.message == "it said: red \uff20everyone"
