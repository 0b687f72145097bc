"""`bernstein logs` says each thing once: the score of the work, and what helps."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.resources import SESSIONS, TASKS
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.scenes import needs, task, verification
from tests.unit.core import objects
from tests.unit.kube.apiserver import ApiServer

REMEDY = "Give the agent's image a tag that exists."


def put(api: ApiServer, **status: Any) -> str:
    obj = task(0, **status).dump()
    name: str = obj["metadata"]["name"]
    api.put(TASKS, name, "team", **obj)
    return name


@pytest.mark.parametrize("follow", [(), ("--follow",)])
async def test_the_score_of_work_that_has_ended(
    api: ApiServer, bernstein: Bernstein, follow: tuple[str, ...]
) -> None:
    judged = verification(passed=True, qualityScore=85)
    name = put(api, state="Closed", verification=judged)

    answer = await bernstein("logs", name, *follow)

    assert answer.out.count("quality score 85 of 100") == 1


async def test_a_remedy_that_the_end_of_the_session_has_told(
    api: ApiServer, bernstein: Bernstein
) -> None:
    waits = needs("ImagePullFailed", f"image 'a' cannot be pulled. Remedy: {REMEDY}")
    name = put(api, state="Open", session=f"{task(0).metadata.name}-s1", **waits)
    ended = objects.dead("ImagePullFailed", message="image 'a' cannot be pulled", started=False)
    obj = ended.dump()
    obj["metadata"] |= {"name": f"{name}-s1", "labels": {"bernstein.dev/task": name}}
    obj["status"]["outcome"]["remedy"] = REMEDY
    api.put(SESSIONS, f"{name}-s1", "team", **obj)

    answer = await bernstein("logs", name)

    assert answer.out.count(REMEDY) == 1
    assert "ImagePullFailed: image 'a' cannot be pulled" in answer.out


async def test_what_a_task_waits_for_that_comes_by_itself(
    api: ApiServer, bernstein: Bernstein
) -> None:
    """`prompt` of a Task without a session sends people here for it."""
    waits = {"reason": "PlanStarting", "message": "its Plan has not begun yet", "scope": "Plan"}
    since = {"since": "2030-01-01T12:00:00Z", "needsPerson": False}
    name = put(api, state="Open", waiting=waits | since)

    answer = await bernstein("logs", name)

    assert answer.out.count("PlanStarting: its Plan has not begun yet") == 1


async def test_what_the_project_tells_and_an_agent_was_not_told(
    api: ApiServer, bernstein: Bernstein
) -> None:
    why = "rules: it could not be read: there is no ConfigMap 'house'"
    name = put(api, state="InProgress", session=f"{task(0).metadata.name}-s1")
    obj = objects.dead("Succeeded").dump()
    obj["metadata"] |= {"name": f"{name}-s1", "labels": {"bernstein.dev/task": name}}
    prompt = {"digest": "a" * 64, "bytes": 6120, "base": "b" * 40, "knowledgeMissing": [why]}
    obj["status"]["prompt"] = prompt
    api.put(SESSIONS, f"{name}-s1", "team", **obj)

    answer = await bernstein("logs", name)
    (told,) = (await bernstein("logs", name, "--json")).json["sessions"]

    assert f"prompt: 6,120 bytes, SHA-256 {'a' * 12}; not told: {why}" in answer.out
    assert told["prompt"]["knowledge_missing"] == [why]
