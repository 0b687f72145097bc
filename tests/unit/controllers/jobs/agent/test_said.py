"""What a session says is in its pod: another word makes another pod."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.session import AgentSession
from bernstein.controllers.jobs.agent import agent_job
from tests.unit.controllers.jobs import built
from tests.unit.core import objects

SHA = "7" * 40
OTHER: dict[str, tuple[dict[str, Any], str]] = {
    "taskRef.name": ({"taskRef": {"name": "other", "uid": "uid-work"}}, "other"),
    "planRef.name": ({"planRef": {"name": "other", "uid": objects.PLAN_UID}}, "other"),
    "adapter": ({"adapter": "other"}, "other"),
    "model": ({"model": "other"}, "other"),
    "effort": ({"effort": "low"}, 'effort="low"'),
    "baseRef": ({"baseRef": "refs/heads/other"}, "refs/heads/other"),
    "workRef": ({"workRef": "refs/bernstein/0/other"}, "refs/bernstein/0/other"),
    "resumeRef": ({"resumeRef": "refs/bernstein/0/other"}, "refs/bernstein/0/other"),
    "resumeSha": ({"resumeRef": "refs/bernstein/0/work", "resumeSha": SHA}, SHA),
    "rejected.ref": ({"rejected": {"ref": "refs/bernstein/0/other", "sha": SHA}}, "/0/other"),
    "rejected.sha": ({"rejected": {"ref": "refs/bernstein/0/other", "sha": SHA}}, SHA),
    "documents": ({"documents": ["plan"]}, '"documents":["plan"]'),
    "timeoutSeconds": ({"timeoutSeconds": 7777}, str(7777 + 300)),
}
"""A field, a session that says something else there, and a text that only its pod has."""


def pod(**spec: Any) -> str:
    """All of it, as text, for a Project that uses every field, with a setup of 300 seconds."""
    found = objects.session(model="gpt-5").dump()
    session = AgentSession.model_validate(found | {"spec": found["spec"] | spec})
    agent = built.FULL.spec.agent("demo")
    assert agent is not None
    return str(agent_job(session, built.FULL, agent, "Do work\n", built.FULL_SETTINGS))


@pytest.mark.parametrize("field", OTHER)
def test_another_word_of_the_session_is_in_its_pod(field: str) -> None:
    spec, text = OTHER[field]

    assert text not in pod()
    assert text in pod(**spec)
