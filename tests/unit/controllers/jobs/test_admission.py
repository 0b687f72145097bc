"""The admission policy of the operator's own account takes every Job that is made.

What it refuses is shown with a real API server, in `tests/control_plane/chart`; here that none of
our Jobs has a field that it does not know.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.controllers.jobs.built import JOBS, containers, pod

CHART = Path(__file__).resolve().parents[4] / "charts/bernstein"
POLICY = (CHART / "templates/admission/operator.yaml").read_text()


def allowed(variable: str) -> set[str]:
    """The fields that the policy takes of what it calls so."""
    (listed,) = re.findall(rf"\b{variable}\.all\(field, field in \[(.*?)\]", POLICY, re.DOTALL)
    return set(re.findall(r"'(\w+)'", listed))


@pytest.mark.parametrize("name", JOBS)
def test_the_policy_takes_every_field_of_every_job(name: str) -> None:
    assert pod(name).keys() <= allowed("pod")
    for container in containers(name):
        assert container.keys() <= allowed("c")
        for mount in container.get("volumeMounts", []):
            assert mount.keys() <= allowed("mount")
    assert pod(name).get("dnsConfig", {}).keys() <= {"options"}
