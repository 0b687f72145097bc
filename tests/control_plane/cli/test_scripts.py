"""What scripts call, against a real API server; the test plays the operator."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.control_plane.cli.conftest import Bernstein, Start, ended
from tests.control_plane.cli.scenes import SHA, moves, now, set_status
from tests.control_plane.conftest import eventually
from tests.control_plane.objects import PLANS, TASKS, valid

CALL = ("add-task", "Add SBOM endpoint", "--scope", "small")


async def close(operator: Client, task: Object) -> None:
    """Up to Done; `closed` is left to the test."""
    for state in ("Open", "Claimed", "InProgress", "Done"):
        task = await set_status(operator, task, state=state, history=moves((state, "Test")))


async def closed(operator: Client, task: Object) -> None:
    delivered = {"state": "Merged", "sha": SHA, "onto": "refs/heads/main"}
    await set_status(
        operator, task, state="Closed", history=moves(("Closed", "Delivered")), delivery=delivered
    )


async def test_a_task_is_added_once_by_whoever_asks_at_the_same_time(
    process: Bernstein, admin: Client, namespace: str, project: Object
) -> None:
    answers = await asyncio.gather(*(process("--json", *CALL) for _ in range(3)))
    other = await process("--json", *CALL, "--idempotency-key", "nightly")

    assert [answer.code for answer in answers] == [0, 0, 0], answers
    (name,) = {answer.json["id"] for answer in answers}
    assert {answer.json["status"] for answer in answers} == {"open"}
    there = (await admin.list(TASKS, namespace)).items
    assert {task["metadata"]["name"] for task in there} == {name, other.json["id"]}
    assert len(there) == 2


async def test_task_files_become_tasks_that_their_label_finds(
    bernstein: Bernstein, admin: Client, namespace: str, project: Object, tmp_path: Path
) -> None:
    (tmp_path / "2.yaml").write_text("id: TSK-040\ntitle: First\n")
    (tmp_path / "1.yaml").write_text("id: TSK-042\ntitle: Second\ndepends_on: [TSK-040]\n")

    added = await bernstein("add-task", "-f", str(tmp_path), "--json")
    found = await admin.list(TASKS, namespace, label_selector="bernstein.dev/seed-id=TSK-042")
    third = await bernstein("add-task", "Third", "--depends-on", "TSK-042", "--json")

    assert added.code == 0, added.err
    assert [record["id"] for record in added.json] == ["tsk-040", "tsk-042"]
    (task,) = found.items
    assert task["spec"]["dependsOn"] == ["tsk-040"]
    assert third.json["depends_on"] == ["tsk-042"]


async def test_the_largest_task_that_options_take_is_taken_by_the_api_server(
    bernstein: Bernstein, namespace: str, project: Object
) -> None:
    call = ("add-task", "Ж" * 300, "-d", "x" * 8192, "--json")

    answer = await bernstein(*call)

    assert answer.code == 0, answer.err


async def test_merge_waits_for_what_is_done_and_watch_tells_of_it(
    start: Start,
    bernstein: Bernstein,
    operator: Client,
    admin: Client,
    namespace: str,
    project: Object,
) -> None:
    name = (await bernstein("--json", *CALL)).json["id"]
    watching = await start("watch", f"task/{name}", "--json")
    await close(operator, await admin.get(TASKS, name, namespace))
    merging = await start("merge")
    await closed(operator, await admin.get(TASKS, name, namespace))

    merged, watched = await asyncio.gather(ended(merging), ended(watching))

    assert merged.code == 0, merged.err
    assert merged.out in (
        f"✓ Task '{name}': merged a1b2c3d4\n",
        f"Nothing to merge: nothing is done in namespace '{namespace}'.\n",
    )
    assert watched.code == 0, watched.err
    told = [json.loads(row)["event"] for row in watched.out.splitlines()]
    assert told[0] == "task_created"
    assert told[-1] == "task_closed"


async def test_what_is_kept_back_fails_merge(
    bernstein: Bernstein, operator: Client, admin: Client, namespace: str, project: Object
) -> None:
    name = (await bernstein("--json", *CALL)).json["id"]
    task = await admin.get(TASKS, name, namespace)
    await close(operator, task)
    waiting = {"reason": "MergeConflict", "message": "it conflicts", "needsPerson": True}
    await set_status(
        operator, task, state="Done", waiting=waiting | {"since": "2030-01-01T00:00:00Z"}
    )

    answer = await bernstein("merge", "--json")

    assert answer.code == 1
    assert [each["reason"] for each in answer.json["failed"]] == ["MergeConflict"]


async def test_what_was_just_cancelled_of_who_asks_fails_merge(
    bernstein: Bernstein, operator: Client, admin: Client, namespace: str, project: Object
) -> None:
    name = (await bernstein("--json", *CALL)).json["id"]
    task = await admin.get(TASKS, name, namespace)
    task = await set_status(operator, task, state="Open", history=moves(("Open", "Created")))
    gone = moves(("Cancelled", "Cancelled"))
    await set_status(operator, task, state="Cancelled", endedAt=now(), history=gone)

    answer = await bernstein("merge", "--json")

    assert answer.code == 1, answer
    (lost,) = answer.json["failed"]
    assert (lost["id"], lost["reason"]) == (name, "Cancelled")


async def test_stopped_plans_are_noted_and_go_on(
    bernstein: Bernstein, admin: Client, namespace: str
) -> None:
    for name in ("one", "two"):
        await admin.create(PLANS, valid("Plan", namespace, name))
    await admin.patch(PLANS, "two", namespace, {"spec": {"suspend": True}})

    async def suspended() -> set[str]:
        plans = (await admin.list(PLANS, namespace)).items
        return {p["metadata"]["name"] for p in plans if p["spec"].get("suspend")}

    stopped = await bernstein("stop", "--json")
    both = await suspended()
    started = await bernstein("start", "--json")

    assert stopped.json["stopped"] == ["one"]
    assert both == {"one", "two"}
    # No operator leads here: nothing is resumed.
    assert (started.code, started.json["healthy"], started.json["resumed"]) == (1, False, [])
    assert await suspended() == {"one", "two"}


async def test_who_may_only_look_adds_nothing_and_stops_nothing(
    bernstein: Bernstein, admin: Client, namespace: str, project: Object, stranger: str
) -> None:
    await admin.create(PLANS, valid("Plan", namespace, "one"))

    for call in (CALL, ("stop",), ("merge",), ("watch",), ("diff", "x"), ("start",)):
        refused = await bernstein(*call, "--kubeconfig", stranger, "--json")
        assert refused.code == 1, call
        assert refused.json["error"]["reason"] == "Forbidden", call

    async def untouched() -> bool:
        plan = await admin.get(PLANS, "one", namespace)
        return not plan["spec"].get("suspend") and not (await admin.list(TASKS, namespace)).items

    await eventually(untouched)
