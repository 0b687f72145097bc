"""Lists of tests of two trees, compared: which does the work not have any more?"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bernstein.checks.findings import NoListing
from bernstein.checks.weakening import collected_tests
from bernstein.checks.weakening.collected_tests import FORMS, NAMES, PYTEST, in_short, lost, told

A, B = "t/test_a.py", "t/test_b.py"


def gone(
    before: list[str],
    after: list[str],
    was: Mapping[str, bytes] = {},
    now: Mapping[str, bytes] = {},
) -> list[str]:
    def names(listed: list[str]) -> collected_tests.Names:
        return collected_tests.names(NAMES, "\n".join([*listed, "always"]).encode())

    return lost(names(before), names(after), was.get, now.get)


def test_what_only_the_base_lists_is_lost_and_what_is_new_is_not_told() -> None:
    assert gone([f"{A}::x", f"{A}::y"], [f"{A}::y", f"{A}::z"]) == [f"{A}::x"]
    assert gone([f"{A}::x"], [f"{A}::x", f"{B}::y"]) == []


def test_the_order_makes_no_difference_and_the_number_does() -> None:
    assert gone(["TestA", "TestB"], ["TestB", "TestA"]) == []
    assert gone(["TestA", "TestA"], ["TestA"]) == ["TestA"]


def test_rows_that_vanish_are_lost() -> None:
    before = [f"{A}::x[1]", f"{A}::x[2]", f"{A}::x[3]"]

    assert gone(before, before[:1]) == before[1:]


def test_other_rows_of_the_same_test_stand_for_as_many() -> None:
    before = [f"{A}::x[1]", f"{A}::x[2]"]

    assert gone(before, [f"{A}::x[1-yes]", f"{A}::x[2-yes]"]) == []
    assert len(gone(before, [f"{A}::x[1-yes]"])) == 1
    assert gone([f"{A}::x"], [f"{A}::x[1]"]) == []


TEXT = b"def test_x():\n    a = 1\n    b = 2\n    assert a + b == 3\n"


def test_a_file_under_another_name_keeps_its_tests() -> None:
    before = [f"{A}::test_x", f"{A}::test_y[1]"]
    after = [f"{B}::test_x", f"{B}::test_y[2]"]

    assert gone(before, after, {A: TEXT}, {B: TEXT}) == []
    assert gone(before, after[:1], {A: TEXT}, {B: TEXT}) == [f"{A}::test_y[1]"]


def test_a_test_that_moves_to_another_file_is_the_same() -> None:
    files = {A: b"one", B: b"two"}

    assert gone([f"{A}::T::x[1]"], [f"{B}::T::x[1]"], files, files) == []
    assert gone([f"{A}::T::x[1]"], [f"{B}::U::x[1]"], files, files) == [f"{A}::T::x[1]"]


def test_a_test_under_another_name_in_its_file_is_known_by_its_content() -> None:
    now = TEXT.replace(b"test_x", b"test_sum")
    other = b"def test_sum():\n    assert True\n"

    assert gone([f"{A}::test_x"], [f"{A}::test_sum"], {A: TEXT}, {A: now}) == []
    assert gone([f"{A}::test_x"], [f"{A}::test_sum"], {A: TEXT}, {A: other}) == [f"{A}::test_x"]


def test_it_is_known_in_a_file_of_another_name_too() -> None:
    rest = b"".join(b"X%d = 1\n" % number for number in range(9))
    was, now = {A: TEXT + rest}, {B: TEXT.replace(b"test_x", b"test_sum") + rest}

    assert gone([f"{A}::test_x"], [f"{B}::test_sum"], was, now) == []


def test_a_bracket_in_a_name_of_another_language_begins_no_row() -> None:
    before, after = ["pages/[id].test.ts > shows"], ["pages/[slug].test.ts > hides"]

    assert gone(before, after) == before


def listed(text: str, form: str = PYTEST) -> dict[str, int]:
    return dict(collected_tests.names(form, text.encode()))


def test_a_list_of_pytest_has_as_many_names_as_it_says() -> None:
    text = f"a header\n{A}::x[a b]\n{A}::y\n\n2/5 tests collected (3 deselected) in 0.01s\n"

    assert listed(text) == {f"{A}::x[a b]": 1, f"{A}::y": 1}
    with pytest.raises(NoListing, match="no list of pytest"):
        listed(text.replace("3 deselected", "2 deselected"))


@pytest.mark.parametrize(
    "text",
    [
        f"{A}::x\n",
        f"{A}: 2\n\n2 tests collected in 0.01s\n",
        "<Module a>\n  <Function x>\n\n1 test collected in 0.01s\n",
        f"{A}::x\n{A}::y\n\n1 test collected in 0.01s\n",
        f"{A}::x\n\n1 test collected in 0.01s\nprinted at the end\n",
    ],
)
def test_anything_else_is_no_list_of_pytest(text: str) -> None:
    with pytest.raises(NoListing):
        listed(text)


@pytest.mark.parametrize("form", FORMS)
def test_a_list_of_none_is_none(form: str) -> None:
    with pytest.raises(NoListing):
        listed("\n \n", form)


def test_a_list_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of the work as that of the base, which it will be for others."""
    monkeypatch.setattr(collected_tests, "MOST", 2)
    text = b"a\nb\nc\nd\n"

    with pytest.raises(NoListing, match="over 2"):
        collected_tests.names(NAMES, text)
    monkeypatch.setattr(collected_tests, "MOST_BYTES", 3)
    with pytest.raises(NoListing, match="over 3 bytes"):
        collected_tests.names(NAMES, text)


def test_what_is_told_says_how_many_and_the_first_of_them() -> None:
    names = collected_tests.names(NAMES, b"".join(b"t%02d\n" % number for number in range(40)))
    text = told([f"t{number:02}" for number in range(30)], names)

    first, *rows = text.split("\n")
    assert first == "30 of 40 tests are not collected any more:"
    assert (rows[0], rows[-1]) == ("t00", "and 10 more")
    assert in_short(text) == ("30 of 40", "t00")
    assert in_short("anything else") is None
