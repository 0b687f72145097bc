"""Values that say where spans go."""

from __future__ import annotations

from typing import Any

import pytest

from tests.control_plane.chart.rendering.test_rendering import objects_of
from tests.control_plane.conftest import CHART, RELEASE_NAMESPACE, Tools


def operator(tools: Tools, values: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The pod of the operator, and its container."""
    (pod,) = (
        each["spec"]["template"]["spec"]
        for each in objects_of(tools, values)
        if each["kind"] == "Deployment" and each["metadata"]["name"] == "bernstein-operator"
    )
    (container,) = pod["containers"]
    return pod, container


def test_the_operator_is_told_of_the_collector_its_headers_and_its_authority(tools: Tools) -> None:
    pod, container = operator(tools, "tracing")

    told = [word for word in container["args"] if word.startswith("--trace")]
    assert told == [
        "--trace-endpoint=https://collector.monitoring:4318",
        "--trace-headers=/etc/bernstein/tracing/headers",
        "--trace-ca=/etc/bernstein/tracing/ca/ca.crt",
    ]
    secrets = {each["name"]: each.get("secret") for each in pod["volumes"]}
    mounted = {
        each["mountPath"]: secrets[each["name"]]
        for each in container["volumeMounts"]
        if each["mountPath"].startswith("/etc/bernstein/tracing/") and each["readOnly"]
    }
    assert mounted == {
        "/etc/bernstein/tracing/headers": {"secretName": "collector-token", "optional": True},
        "/etc/bernstein/tracing/ca": {
            "secretName": "collector-ca",
            "optional": True,
            "items": [{"key": "ca.crt", "path": "ca.crt"}],
        },
    }


def test_without_a_collector_nothing_is_said_of_traces(tools: Tools) -> None:
    pod, container = operator(tools, "default")

    assert not [word for word in container["args"] if "trace" in word]
    assert {each["name"] for each in pod["volumes"]} == {"callback", "tmp"}


@pytest.mark.parametrize(
    "wrong",
    [
        "endpoint=collector:4318",
        "endpoint=https://user:word@collector",
        "headersSecret=token",
        "caSecret=ca",
        "endpoint=http://collector:4318,tracing.caSecret=ca",
        "endpoint=https://collector,tracing.headersSecret=Not_A_Name",
    ],
)
def test_what_makes_no_sense_is_refused(tools: Tools, wrong: str) -> None:
    done = tools.run(
        *("helm", "template", "bernstein", str(CHART), "-n", RELEASE_NAMESPACE),
        *("--set", f"tracing.{wrong}"),
    )

    assert done.returncode != 0
    assert "tracing" in done.stderr
