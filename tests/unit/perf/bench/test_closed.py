"""Copies of a Task that ended: as if each had run itself."""

from __future__ import annotations

import json

from tests.perf.bench.closed import Run, copies, table
from tests.perf.bench.load import Place, places

UIDS = ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222")
EXAMPLE = Place("closed-0", "example")


def stored() -> dict[tuple[str, str], str]:
    task = {"metadata": {"name": "example", "namespace": "closed-0", "uid": UIDS[0]}}
    owner = {"name": "example", "uid": UIDS[0]}
    metadata = {"name": "example-s1", "namespace": "closed-0", "uid": UIDS[1]}
    status = {"startedAt": "2026-01-02T01:30:00Z", "endedAt": "2026-01-02T03:04:05.678901Z"}
    session = {"metadata": {**metadata, "ownerReferences": [owner]}, "status": status}
    return {
        ("tasks", "example"): json.dumps(task),
        ("agentsessions", "example-s1"): json.dumps(session),
    }


def test_each_copy_has_its_own_names_and_uids_and_its_session_is_its_own() -> None:
    wanted = places(["closed-0", "closed-1"], 3, "copy")

    made = dict(copies(stored(), EXAMPLE, UIDS, wanted))

    assert list(made)[2:4] == [
        "/registry/bernstein.dev/tasks/closed-1/copy-1",
        "/registry/bernstein.dev/agentsessions/closed-1/copy-1-s1",
    ]
    assert json.loads([*made.values()][1])["status"] == {
        "startedAt": "2026-01-01T23:30:00Z",
        "endedAt": "2026-01-02T01:04:05Z",
    }
    objects = [json.loads(text)["metadata"] for text in made.values()]
    assert len({meta["uid"] for meta in objects} | set(UIDS)) == 8
    for task, session in zip(objects[::2], objects[1::2], strict=True):
        assert session["ownerReferences"] == [{"name": task["name"], "uid": task["uid"]}]
        assert session["namespace"] == task["namespace"]
        assert session["name"] == f"{task['name']}-s1"


def test_places_are_handed_to_namespaces_in_turn() -> None:
    assert [place.namespace for place in places(["a", "b"], 3, "x")] == ["a", "b", "a"]


def test_a_column_shows_each_number_of_tasks() -> None:
    run = Run(
        settled=2.5,
        at_start=0,
        at_rest=1,
        at_resync=0,
        memory=90_000_000,
        most_memory=95_000_000,
        lost=0,
        asked={"PATCH tasks": 1},
    )

    made = table({0: [run], 10_000: [run, run]}, 7_000)

    rows = {row.what: row.cells for row in made.rows}
    assert rows["memory at rest"] == {"0 more": (90.0,), "10,000 more": (90.0, 90.0)}
    assert rows["writes at rest"]["10,000 more"] == (1.0, 1.0)
    assert rows["all writes: PATCH tasks"] == {"0 more": (1.0,), "10,000 more": (1.0, 1.0)}
    assert "7,000 bytes" in made.title
