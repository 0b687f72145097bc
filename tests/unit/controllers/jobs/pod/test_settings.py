"""What a Project says of its pods besides: on every Job's pod, and nothing else changes."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from bernstein.api.projects.pods import PodSettings
from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.test_admission import allowed, may_be_allowed

PLACED = {
    "nodeSelector": {"team": "agents"},
    "tolerations": [
        {"key": "team", "value": "agents", "effect": "NoSchedule"},
        {
            "key": "maintenance",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 60,
        },
    ],
    "priorityClassName": "batch",
}
LABELS = {"cost-centre": "42"}
ANNOTATIONS = {"sidecar.istio.io/inject": "false"}


def made(name: str, pods: dict[str, Any]) -> dict[str, Any]:
    """The Job of that name, for a Project with these settings."""
    whole = built.FULL.spec
    project = built.FULL.model_copy(
        update={"spec": whole.model_copy(update={"pods": PodSettings.model_validate(pods)})}
    )
    if name == "agent":
        return built.agent_job(project, built.FULL_SETTINGS)
    wanted, owner = built.WANTED[name]
    return built.follow_up(wanted, owner, project, built.FULL_SETTINGS)


EVERY = pytest.mark.parametrize("name", ["agent", *built.WANTED])


@EVERY
def test_every_pod_runs_where_the_project_says_and_is_else_the_same(name: str) -> None:
    expected = copy.deepcopy(made(name, {}))
    expected["spec"]["template"]["spec"] |= PLACED

    assert made(name, PLACED) == expected


@EVERY
def test_every_pod_and_no_job_has_the_labels_and_annotations_of_the_project(name: str) -> None:
    plain = made(name, {})
    expected = copy.deepcopy(plain)
    expected["spec"]["template"]["metadata"]["labels"] = plain["metadata"]["labels"] | LABELS
    expected["spec"]["template"]["metadata"]["annotations"] = ANNOTATIONS

    assert made(name, {"labels": LABELS, "annotations": ANNOTATIONS}) == expected


def test_whoever_installs_the_chart_may_let_projects_say_where_pods_run() -> None:
    assert not PLACED.keys() & allowed("podFields")
    assert PLACED.keys() <= may_be_allowed()
