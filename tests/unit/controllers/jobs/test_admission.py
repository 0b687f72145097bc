"""The admission policy of the operator's own account takes every Job that is made.

What it refuses is shown with a real API server, in `tests/control_plane/chart`; here that none of
our Jobs has a field that it does not know.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bernstein.core.remedies import ADMISSION_VALUE
from tests.unit.controllers.jobs.built import JOBS, containers, pod

CHART = Path(__file__).resolve().parents[4] / "charts/bernstein"
POLICY = (CHART / "templates/admission/operator.yaml").read_text()


def allowed(variable: str) -> set[str]:
    """The fields that the policy takes, by the name of its variable that lists them."""
    (listed,) = re.findall(rf"- name: {variable}\n +expression: >-\n +\[(.*?)\]", POLICY, re.DOTALL)
    return set(re.findall(r"'(\w+)'", listed))


def may_be_allowed() -> set[str]:
    """The fields that whoever installs the chart may let other people's webhooks add."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    policies = schema["properties"]["admissionPolicies"]["properties"]
    return set(policies["podFields"]["items"]["enum"])


@pytest.mark.parametrize("name", JOBS)
def test_the_policy_takes_every_field_of_every_job(name: str) -> None:
    assert pod(name).keys() <= allowed("podFields")
    for container in containers(name):
        assert container.keys() <= allowed("containerFields")
        for mount in container.get("volumeMounts", []):
            assert mount.keys() <= allowed("mountFields")
    assert pod(name).get("dnsConfig", {}).keys() <= {"options"}


def test_a_webhook_may_be_let_say_where_and_in_which_order_pods_run_and_no_more() -> None:
    assert may_be_allowed() == {
        *("affinity", "nodeSelector", "schedulerName", "tolerations", "topologySpreadConstraints"),
        *("preemptionPolicy", "priorityClassName"),
    }


def test_the_refusal_names_the_value_of_the_chart_and_what_it_takes() -> None:
    """The operator knows by the name of the value what to tell people."""
    assert ADMISSION_VALUE in POLICY
    (listed,) = re.findall(r"\$mayBeAllowed := list ([^}]*?) -?}}", POLICY)

    assert set(re.findall(r'"(\w+)"', listed)) == may_be_allowed()
