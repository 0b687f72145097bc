"""How problems of a plan are told where there is little room."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bernstein.core.plans.field_errors import FieldError, listed

TEXTS = st.lists(st.text("ab", min_size=1, max_size=30), max_size=20)


def test_problems_that_do_not_fit_are_counted() -> None:
    found = [FieldError("a", "first"), FieldError("b", "second"), FieldError("c", "third")]

    assert listed(found, 100) == "first\nsecond\nthird"
    assert listed(found, 13) == "first\nsecond\n… and 1 more"
    assert listed(found, 3) == "… and 3 more"
    assert listed([], 10) == ""


@given(TEXTS, st.integers(0, 200))
def test_no_problem_is_cut_or_forgotten(texts: list[str], limit: int) -> None:
    *shown, last = listed([FieldError("", text) for text in texts], limit).split("\n")

    if last.startswith("… and "):
        assert sum(map(len, shown)) <= limit
        assert len(shown) + int(last.split()[2]) == len(texts)
    else:
        assert [*shown, *([last] if last else [])] == texts
