"""No setting of gates keeps what pushes work from looking for secrets in it first."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.projects.workplace import Workplace
from tests.unit.controllers.jobs import built
from tests.unit.core import objects

PASSED_OVER: dict[str, dict[str, Any]] = {
    "off": {"pipeline": [{"name": "pii_scan", "enabled": False}]},
    "advice": {"pipeline": [{"name": "pii_scan", "required": False}]},
    "no gates": {"enabled": False},
}


@pytest.mark.parametrize("gates", PASSED_OVER.values(), ids=PASSED_OVER)
@pytest.mark.parametrize(("job", "container"), [("agent", "pusher"), ("format", "format")])
def test_what_pushes_work_is_told_the_same_whatever_the_project_says_of_its_gates(
    job: str, container: str, gates: dict[str, Any]
) -> None:
    project = objects.project(gates=gates)

    found = [told(job, container, each) for each in (project, built.PLAIN)]

    assert found[0] == found[1]


def told(job: str, container: str, project: Workplace) -> str:
    if job == "agent":
        made = built.agent_job(project, built.PLAIN_SETTINGS)
    else:
        made = built.follow_up(*built.WANTED[job], project, built.PLAIN_SETTINGS)
    spec = made["spec"]["template"]["spec"]
    each = [*spec.get("initContainers", ()), *spec["containers"]]
    (found,) = [one for one in each if one["name"] == container]
    return built.configuration(found)
