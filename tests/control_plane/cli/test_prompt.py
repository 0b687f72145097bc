"""`bernstein prompt` of a Task and of a session, out of the ConfigMap that belongs to it."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import Any

from bernstein.core import labels, names
from bernstein.core.owners import owner_reference
from bernstein.core.prompts import parts
from bernstein.core.prompts.complete import complete
from bernstein.kube.client import Client
from bernstein.kube.resource import CONFIG_MAPS, Object
from bernstein.resources import SESSIONS
from tests.control_plane.cli.conftest import Bernstein
from tests.control_plane.cli.scenes import SHA, make_session, set_status
from tests.control_plane.conftest import eventually
from tests.control_plane.objects import TASKS, valid

DATA = parts.data({parts.HEAD: "Task: Do it\nAttempt: 1", parts.RULES: "Work."}, ["README.md"])
SIZES = {"head": 22, "context files": 1000}
GIVEN = {
    "digest": "f" * 64,
    "bytes": 1234,
    "base": SHA,
    "cut": ["file a.py: 9 bytes"],
    "mark": "0" * 24,
    "parts": SIZES,
}


async def keep(operator: Client, session: Object, name: str, **data: Any) -> None:
    """A ConfigMap of the session, as the operator makes it."""
    meta = session["metadata"]
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": meta["namespace"],
            "labels": {labels.MANAGED_BY: labels.MANAGER, labels.SESSION: meta["name"]},
            "ownerReferences": [owner_reference(SESSIONS.kind, meta["name"], meta["uid"])],
        },
        "data": data,
    }
    # The API server learns of new kinds some time after it serves them.
    await eventually(functools.partial(operator.create, CONFIG_MAPS, config_map), 60)


async def test_the_last_sessions_prompt_is_shown_as_far_as_it_is_known(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str, tmp_path: Path
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "mine"))
    session = await make_session(operator, task, "mine-s1", None)
    await set_status(operator, session, state="Starting", prompt=GIVEN)
    await set_status(operator, task, state="Open", session="mine-s1")
    await keep(operator, session, names.prompt("mine-s1"), **DATA)

    shown = await bernstein("prompt", "task/mine", "--repo", str(tmp_path))
    answer = await bernstein("prompt", "mine-s1", "--json", "--repo", str(tmp_path))
    record = answer.json

    assert (shown.code, answer.code) == (1, 1), "the agent got more than that"
    assert f"No clone is at {tmp_path}" in shown.err
    assert "Task: Do it\nAttempt: 1\n" in shown.out
    assert f"- README.md: the pod adds it, as it is in commit {SHA}" in shown.out
    assert record["text"] == shown.out
    assert (record["exact"], record["bytes"], record["base"]) == (False, 1234, SHA)
    assert record["cut"] == ["file a.py: 9 bytes"]
    assert record["parts"] == SIZES


async def test_a_prompt_is_shown_to_the_byte_in_whatever_the_terminal_writes(
    process: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    content = parts.data({parts.HEAD: "Task: \tna\u00efve  \n\n\n\U0001f600"}, ())
    made = complete(content, [], "", None, lambda: "0" * 24)
    digest = hashlib.sha256(made.text.encode()).hexdigest()
    task = await admin.create(TASKS, valid("Task", namespace, "plain"))
    session = await make_session(operator, task, "plain-s1", None)
    told = GIVEN | {"digest": digest, "bytes": len(made.text.encode()), "cut": []}
    await set_status(operator, session, state="Starting", prompt=told)
    await keep(operator, session, names.prompt("plain-s1"), **content)

    shown = await process("prompt", "plain-s1", PYTHONIOENCODING="ascii", PYTHONUTF8="0")

    assert (shown.code, shown.out) == (0, made.text), shown.err


async def test_of_a_task_without_a_session_the_first_prompt_is_shown(
    bernstein: Bernstein, admin: Client, namespace: str, project: Object
) -> None:
    await admin.create(TASKS, valid("Task", namespace, "new", contextFiles=["README.md"]))

    shown = await bernstein("prompt", "new")

    assert (shown.code, "Attempt: 1\n" in shown.out) == (0, True), shown.err
    assert "- README.md: the pod adds it, as in its first commit\n" in shown.out
    assert "No session has begun" in shown.err


async def test_the_prompt_of_a_session_that_an_older_release_began_is_the_whole(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "old"))
    session = await make_session(operator, task, "old-s1", None)
    await keep(operator, session, "old-s1", **{"prompt.md": "Task: Do it\n"})

    assert (await bernstein("prompt", "old-s1")).out == "Task: Do it\n"
