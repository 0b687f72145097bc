"""`bernstein prompt` of a Task and of a session, out of the ConfigMap that belongs to it."""

from __future__ import annotations

import functools
from typing import Any

from bernstein.core import labels, names
from bernstein.core.owners import owner_reference
from bernstein.core.prompts import parts
from bernstein.kube.client import Client
from bernstein.kube.resource import CONFIG_MAPS, Object
from bernstein.resources import SESSIONS
from tests.control_plane.cli.conftest import Bernstein
from tests.control_plane.cli.scenes import SHA, make_session, set_status
from tests.control_plane.conftest import eventually
from tests.control_plane.objects import TASKS, valid

DATA = parts.data({parts.HEAD: "Task: Do it\nAttempt: 1", parts.RULES: "Work."}, ["README.md"])
GIVEN = {"digest": "f" * 64, "bytes": 1234, "base": SHA, "cut": ["file a.py: 9 bytes"]}


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
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "mine"))
    session = await make_session(operator, task, "mine-s1", None)
    await set_status(operator, session, state="Starting", prompt=GIVEN)
    await set_status(operator, task, state="Open", session="mine-s1")
    await keep(operator, session, names.prompt("mine-s1"), **DATA)

    shown = await bernstein("prompt", "task/mine")
    record = (await bernstein("prompt", "mine-s1", "--json")).json

    assert "Task: Do it\nAttempt: 1\n" in shown.out
    assert f"- README.md: the pod adds it, as it is in commit {SHA}" in shown.out
    assert record["text"] == shown.out
    assert (record["exact"], record["bytes"], record["base"]) == (False, 1234, SHA)
    assert record["cut"] == ["file a.py: 9 bytes"]


async def test_the_prompt_of_a_session_that_an_older_release_began_is_the_whole(
    bernstein: Bernstein, admin: Client, operator: Client, namespace: str
) -> None:
    task = await admin.create(TASKS, valid("Task", namespace, "old"))
    session = await make_session(operator, task, "old-s1", None)
    await keep(operator, session, "old-s1", **{"prompt.md": "Task: Do it\n"})

    assert (await bernstein("prompt", "old-s1")).out == "Task: Do it\n"
