"""A profile, told for one Task."""

from __future__ import annotations

import pytest

from tests.perf.bench.profile import Stats, functions, others, room_of, rooms

OURS = "/somewhere/operator/bernstein"
STATS: Stats = {
    (f"{OURS}/core/tasks/decide.py", 10, "decide"): (40, 40, 0.2, 2.0, {}),
    (f"{OURS}/core/tasks/open.py", 20, "open_"): (20, 20, 0.4, 0.5, {}),
    (f"{OURS}/kube/client.py", 30, "patch"): (10, 10, 0.1, 3.0, {}),
    ("/x/lib/python3.11/site-packages/pydantic/main.py", 1, "__init__"): (5, 5, 0.5, 0.5, {}),
    ("/x/lib/python3.11/json/decoder.py", 1, "decode"): (5, 5, 0.3, 0.3, {}),
    ("~", 0, "<method 'poll' of 'select.epoll' objects>"): (5, 5, 60.0, 60.0, {}),
    ("~", 0, "<built-in method builtins.len>"): (5, 5, 0.01, 0.01, {}),
}


def test_a_function_belongs_to_a_room_or_a_library() -> None:
    assert [room_of(place) for place in STATS] == [
        "core/tasks",
        "core/tasks",
        "kube/client",
        "library pydantic",
        "library json",
        "built in",
        "built in",
    ]


def test_rooms_are_told_by_their_own_time_and_waiting_is_none() -> None:
    told = [(row.what, row.cells["own"]) for row in rooms(STATS, 10).rows]

    assert [what for what, _ in told[:3]] == ["core/tasks", "library pydantic", "library json"]
    assert told[0][1] == pytest.approx((60,))
    assert all(values[0] < 1000 for _, values in told)


def test_functions_are_ours_and_told_with_what_they_call() -> None:
    told = functions(STATS, 10).rows

    assert [row.what for row in told] == [
        "kube/client:patch",
        "core/tasks/decide:decide",
        "core/tasks/open:open_",
    ]
    assert told[1].cells == {"all": (200.0,), "own": (20.0,), "calls": (4.0,)}


def test_functions_of_others_are_told_by_their_own_time() -> None:
    told = others(STATS, 10).rows

    assert [row.what for row in told] == [
        "library pydantic: __init__",
        "library json: decode",
        "built in: <built-in method builtins.len>",
    ]
    assert told[0].cells == {"own": (50.0,), "calls": (0.5,)}
