"""Values that say how the pods of operator and server run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.control_plane.conftest import CHART, RELEASE_NAMESPACE, Tools
from tests.documents import documents

COMPONENTS = ("operator", "server")
SELECTOR = {
    "app.kubernetes.io/name": "bernstein",
    "app.kubernetes.io/instance": "bernstein",
}

NODE = {"fieldRef": {"fieldPath": "spec.nodeName"}}


def objects(tools: Tools, component: str, **settings: Any) -> dict[str, dict[str, Any]]:
    """Of a component, by kind, with these settings."""
    text = tools.template(
        *("-n", RELEASE_NAMESPACE, "--set", "crds.install=false"),
        *("--set-json", f"{component}={json.dumps(settings)}"),
    )
    return {
        o["kind"]: o for o in documents(text) if o["metadata"]["name"] == f"bernstein-{component}"
    }


def pod(tools: Tools, component: str, **settings: Any) -> dict[str, Any]:
    template = objects(tools, component, **settings)["Deployment"]["spec"]["template"]
    return {**template["metadata"], **template["spec"]}


@pytest.mark.parametrize("component", COMPONENTS)
def test_pods_are_labelled_and_annotated(tools: Tools, component: str) -> None:
    made = pod(tools, component, podLabels={"team": "a"}, podAnnotations={"example.com/b": "c"})

    selector = SELECTOR | {"app.kubernetes.io/component": component}
    assert made["labels"] == selector | {"team": "a"}
    assert made["annotations"] == {"example.com/b": "c"}


@pytest.mark.parametrize("component", COMPONENTS)
def test_pods_are_spread_over_nodes_unless_somebody_says_otherwise(
    tools: Tools, component: str
) -> None:
    ours = {"matchLabels": SELECTOR | {"app.kubernetes.io/component": component}}
    zone = {
        "maxSkew": 2,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
    }
    theirs = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}

    (usual,) = pod(tools, component)["topologySpreadConstraints"]
    chosen = pod(
        tools, component, topologySpreadConstraints=[zone, {**zone, "labelSelector": theirs}]
    )

    assert usual["topologyKey"] == "kubernetes.io/hostname"
    assert usual["labelSelector"] == ours
    assert chosen["topologySpreadConstraints"] == [
        {**zone, "labelSelector": ours},
        {**zone, "labelSelector": theirs},
    ]
    none = pod(tools, component, topologySpreadConstraints=[])
    assert "topologySpreadConstraints" not in none


@pytest.mark.parametrize("component", COMPONENTS)
def test_pods_run_where_they_are_told_to(tools: Tools, component: str) -> None:
    affinity: dict[str, Any] = {"nodeAffinity": {"requiredDuringSchedulingIgnored": {}}}

    made = pod(
        tools,
        component,
        affinity=affinity,
        priorityClassName="high",
        nodeSelector={"a": "b"},
        tolerations=[{"key": "a", "operator": "Exists"}],
    )

    assert made["affinity"] == affinity
    assert made["priorityClassName"] == "high"
    assert made["nodeSelector"] == {"a": "b"}
    assert made["tolerations"] == [{"key": "a", "operator": "Exists"}]


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_drain_takes_as_many_replicas_as_the_budget_says(tools: Tools, component: str) -> None:
    def budget(**settings: Any) -> dict[str, Any] | None:
        return objects(tools, component, **settings).get("PodDisruptionBudget")

    for chosen in ({}, {"podDisruptionBudget": {"maxUnavailable": "50%"}}):
        found = budget(**chosen)
        assert found is not None
        wanted = "50%" if chosen else 1
        assert found["spec"]["maxUnavailable"] == wanted
        assert found["spec"]["selector"]["matchLabels"].items() >= SELECTOR.items()
    assert budget(podDisruptionBudget={"enabled": False}) is None


@pytest.mark.parametrize("component", COMPONENTS)
def test_accounts_are_annotated(tools: Tools, component: str) -> None:
    made = objects(tools, component, serviceAccount={"annotations": {"iam.example.com/role": "r"}})

    assert made["ServiceAccount"]["metadata"]["annotations"] == {"iam.example.com/role": "r"}
    assert "annotations" not in objects(tools, component)["ServiceAccount"]["metadata"]


@pytest.mark.parametrize("component", COMPONENTS)
def test_containers_get_more_variables_and_volumes_beside_their_own(
    tools: Tools, component: str
) -> None:
    variable = {"name": "HTTPS_PROXY", "value": "http://proxy.example.com:3128"}
    volume = {"name": "extra", "configMap": {"name": "extra"}}
    mount = {"name": "extra", "mountPath": "/extra", "readOnly": True}

    usual = pod(tools, component)
    made = pod(
        tools, component, extraEnv=[variable], extraVolumes=[volume], extraVolumeMounts=[mount]
    )

    (before,), (after,) = usual["containers"], made["containers"]
    assert after["env"] == [*before.get("env", []), variable]
    assert after["volumeMounts"] == [*before["volumeMounts"], mount]
    assert made["volumes"] == [*usual["volumes"], volume]


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"podLabels": {"app.kubernetes.io/component": "a"}}, "podLabels"),
        ({"podLabels": {"app.kubernetes.io/managed-by": "bernstein"}}, "podLabels"),
        ({"podLabels": {"bernstein.dev/job": "agent"}}, "podLabels"),
        ({"podLabels": {"a": "b c"}}, "does not match pattern"),
        ({"podAnnotations": {"a b": "c"}}, "additional properties 'a b' not allowed"),
        ({"topologySpreadConstraints": [{"maxSkew": 1}]}, "missing properties"),
        ({"affinity": {"nodes": {}}}, "additional properties 'nodes' not allowed"),
        ({"podDisruptionBudget": {"maxUnavailable": 0}}, "minimum"),
        ({"podDisruptionBudget": {"maxUnavailable": "0%"}}, "does not match pattern"),
        ({"serviceAccount": {"name": "other"}}, "additional properties 'name' not allowed"),
        ({"extraEnv": [{"name": "POD_NAMESPACE", "value": "a"}]}, "extraEnv/0/name"),
        ({"extraEnv": [{"name": "A-B", "value": "a"}]}, "does not match pattern"),
        ({"extraEnv": [{"name": "A", "value": "a", "valueFrom": NODE}]}, "not"),
        ({"extraVolumes": [{"name": "a", "hostPath": {"path": "/"}}]}, "'hostPath' not allowed"),
        ({"extraVolumes": [{"name": "tls", "emptyDir": {}}]}, "extraVolumes/0/name"),
        ({"extraVolumes": [{"name": "a"}]}, "minProperties"),
        ({"extraVolumeMounts": [{"name": "a", "mountPath": "etc"}]}, "does not match pattern"),
        *(
            ({"extraVolumeMounts": [{"name": "a", "mountPath": path}]}, "mountPath")
            for path in ("/etc/bernstein/tls", "/tmp/a", "/run/secrets/kubernetes.io", "/a/../tmp")
        ),
    ],
)
def test_settings_that_would_break_a_pod_are_refused(
    tools: Tools, component: str, settings: dict[str, Any], complaint: str
) -> None:
    refused = tools.run(
        *("helm", "template", "bernstein", str(CHART)),
        *("--set-json", f"{component}={json.dumps(settings)}"),
    )

    assert refused.returncode != 0
    assert complaint in refused.stderr
    assert f"/{component}/" in refused.stderr


def test_more_objects_are_rendered_if_they_are_texts(tools: Tools) -> None:
    text = "{kind: ConfigMap, apiVersion: v1, metadata: {name: '{{ .Release.Name }}-more'}}"
    verbatim = {"kind": "ConfigMap", "apiVersion": "v1", "data": {"b": "{{ c }}"}}
    verbatim["metadata"] = {"name": "verbatim"}

    out = tools.template("--set-json", f"extraObjects={json.dumps([text, verbatim])}")

    found = [o for o in documents(out) if o["kind"] == "ConfigMap"]
    assert [o for o in found if o == verbatim] == [verbatim]
    assert "bernstein-more" in {o["metadata"]["name"] for o in found}
