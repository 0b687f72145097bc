"""JSON Patches make the new document of the old one, and send no more than has changed."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bernstein.kube.patches import json_patch
from tests.unit.kube.apiserver import json_patched

values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.text("a/~", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner),
    max_leaves=12,
)
documents = st.dictionaries(st.sampled_from("xyz"), values)


@given(documents, documents)
def test_the_patch_makes_the_new_one_of_the_old_and_is_empty_between_equals(
    old: dict[str, Any], new: dict[str, Any]
) -> None:
    made = json_patched({"status": old}, json_patch(old, new, "/status"))["status"]

    assert repr(_sorted(made)) == repr(_sorted(new)), "True is not 1"
    assert json_patch(new, new) == []


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def test_of_a_long_list_only_what_changed_is_sent() -> None:
    rows = [{"name": f"t{n}", "state": "Open"} for n in range(100)]
    moved = [*rows[:7], {"name": "t7", "state": "Closed"}, *rows[8:]]

    assert json_patch({"tasks": rows}, {"tasks": moved}, "/status") == [
        {"op": "replace", "path": "/status/tasks/7/state", "value": "Closed"}
    ]


def test_a_list_of_which_more_changed_than_it_has_items_is_sent_as_a_whole() -> None:
    rows, other = [{"a": 1, "b": 1}] * 3, [{"a": 2, "b": 2}] * 3

    assert json_patch({"x": rows}, {"x": other}) == [
        {"op": "replace", "path": "/x", "value": other}
    ]


def test_names_are_escaped() -> None:
    assert json_patch({"a/b~c": 1}, {}) == [{"op": "remove", "path": "/a~1b~0c"}]
