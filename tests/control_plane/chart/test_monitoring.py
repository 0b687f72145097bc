"""What the chart brings for Prometheus and Grafana, as Helm renders it."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from typing import Any

import pytest
import yaml

from bernstein.observe import series
from tests import monitoring
from tests.control_plane.conftest import CHART, RELEASE_NAMESPACE, Tools
from tests.documents import documents
from tests.unit.docs.pages import ROOT

PAGE = (ROOT / "docs/how-to/monitor.md").read_text()
OF_PROMETHEUS = ("ServiceMonitor", "PodMonitor", "PrometheusRule")


def rendered(tools: Tools, *values: str) -> list[dict[str, Any]]:
    set_values = [part for value in values for part in ("--set-json", _json(value))]
    return documents(tools.template("-n", RELEASE_NAMESPACE, *set_values))


def _json(value: str) -> str:
    """`--set` reads a number with a point as a string."""
    key, _, plain = value.partition("=")
    try:
        return f"{key}={json.dumps(json.loads(plain))}"
    except ValueError:
        return f"{key}={json.dumps(plain)}"


def of_kind(objects: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    return {o["metadata"]["name"]: o for o in objects if o["kind"] == kind}


def peers(policies: dict[str, dict[str, Any]], name: str) -> list[Any]:
    return [peer for rule in policies[name]["spec"]["ingress"] for peer in rule["from"]]


def test_nothing_for_prometheus_is_made_before_somebody_asks(tools: Tools) -> None:
    objects = rendered(tools)
    assert not any(of_kind(objects, kind) for kind in OF_PROMETHEUS)
    assert not of_kind(objects, "ConfigMap")
    assert "bernstein-operator-metrics" not in of_kind(objects, "NetworkPolicy")


def test_the_rules_are_those_that_are_tested(tools: Tools) -> None:
    rule = of_kind(rendered(tools, "monitoring.rules.enabled=true"), "PrometheusRule")["bernstein"]
    assert rule["spec"] == yaml.safe_load(monitoring.rules())


def test_a_prometheus_of_ones_own_gets_the_rules_by_the_command_of_the_page(tools: Tools) -> None:
    (command,) = re.findall(r"helm template (.+\n.+\n)    \| (sed .+) > bernstein-rules", PAGE)
    asked = shlex.split(command[0].replace("\\\n", ""))
    assert asked[:2] == ["bernstein", "charts/bernstein"]

    printed = tools.template(*asked[2:])
    rules = subprocess.run(
        ["sh", "-c", command[1]], input=printed, capture_output=True, text=True, check=True
    )

    assert yaml.safe_load(rules.stdout) == yaml.safe_load(monitoring.rules())


def test_a_prometheus_of_ones_own_finds_the_ports_as_the_page_says(tools: Tools) -> None:
    (config,) = re.findall(r"```yaml\n# prometheus\.yml\n(.+?)```", PAGE, re.DOTALL)
    (job,) = yaml.safe_load(config)["scrape_configs"]
    keep = re.compile(job["relabel_configs"][0]["regex"])
    services = of_kind(rendered(tools, "metrics.scrapeAnnotations=true"), "Service")

    found = {}
    for name, service in services.items():
        said = service["metadata"].get("annotations", {})
        scraped = str(said.get("prometheus.io/scrape", "")).lower()
        for port in service["spec"]["ports"]:
            if keep.fullmatch(f"{scraped};{port['name']}"):
                assert said["prometheus.io/port"] == str(port["port"])
                found[name] = said["prometheus.io/scheme"]

    assert found == {"bernstein-operator-metrics": "http", "bernstein-server": "https"}
    assert job["tls_config"]["server_name"] == f"bernstein-server.{RELEASE_NAMESPACE}.svc"
    assert job["kubernetes_sd_configs"][0]["namespaces"]["names"] == [RELEASE_NAMESPACE]
    assert job["honor_labels"] is True


def test_objectives_and_pages_of_alerts_are_values(tools: Tools) -> None:
    objects = rendered(
        tools,
        "monitoring.rules.enabled=true",
        "monitoring.rules.runbooks=https://wiki.example.com/alerts/",
        "monitoring.rules.objectives.firstPass=0.85",
        "monitoring.rules.objectives.closed=0.99",
        "monitoring.rules.objectives.closedWithinSeconds=86400",
        "monitoring.labels.release=prometheus",
        "fullnameOverride=orchestra",
    )
    rule = of_kind(objects, "PrometheusRule")["orchestra"]
    text = json.dumps(rule["spec"])
    assert rule["metadata"]["labels"]["release"] == "prometheus"
    assert "https://wiki.example.com/alerts/BernsteinStalled.md" in text
    assert "vector(0.85)" in text
    assert "1.5 * (1 - 0.99)" in text
    assert 'le=\\"86400.0\\"' in text
    assert 'name=\\"orchestra-operator\\"' in text
    for word in ("OBJECTIVE", "CLOSED_WITHIN", "RUNBOOKS", "LEASE"):
        assert word not in text


def test_the_dashboards_are_those_that_are_tested_where_grafanas_sidecar_looks(
    tools: Tools,
) -> None:
    dashboards = of_kind(rendered(tools, "monitoring.dashboards.enabled=true"), "ConfigMap")
    held = {file: json.loads(text) for d in dashboards.values() for file, text in d["data"].items()}
    assert held == {f"bernstein-{name}": each for name, each in monitoring.dashboards().items()}
    for dashboard in dashboards.values():
        assert dashboard["metadata"]["namespace"] == RELEASE_NAMESPACE
        assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
        assert "annotations" not in dashboard["metadata"]


def test_where_dashboards_are_and_what_they_point_to_are_values(tools: Tools) -> None:
    dashboards = of_kind(
        rendered(
            tools,
            "monitoring.dashboards.enabled=true",
            "monitoring.dashboards.namespace=grafana",
            "monitoring.dashboards.labels.shown=yes",
            "monitoring.dashboards.annotations.grafana_folder=Agents",
            "monitoring.rules.runbooks=https://wiki.example.com/alerts/",
            "fullnameOverride=orchestra",
        ),
        "ConfigMap",
    )
    assert len(dashboards) == len(monitoring.dashboards())
    for name, dashboard in dashboards.items():
        assert name.startswith("orchestra-dashboard-")
        assert dashboard["metadata"]["namespace"] == "grafana"
        assert dashboard["metadata"]["labels"]["shown"] == "yes"
        assert dashboard["metadata"]["annotations"] == {"grafana_folder": "Agents"}
    text = json.dumps(list(dashboards.values()))
    assert "https://wiki.example.com/alerts/BernsteinStalled.md" in text
    assert 'name=\\\\\\"orchestra-operator\\\\\\"' in text
    assert "RUNBOOKS" not in text
    assert "OPERATOR_LEASE" not in text


def test_the_times_that_may_be_wanted_are_the_buckets() -> None:
    schema = json.loads((ROOT / "charts/bernstein/values.schema.json").read_text())
    rules = schema["properties"]["monitoring"]["properties"]["rules"]["properties"]
    wanted = rules["objectives"]["properties"]["closedWithinSeconds"]["enum"]
    assert tuple(wanted) == series.TASK_CLOSED_SECONDS.buckets


@pytest.mark.parametrize(
    ("kind", "value", "endpoints"),
    [
        ("ServiceMonitor", "serviceMonitors", "endpoints"),
        ("PodMonitor", "podMonitors", "podMetricsEndpoints"),
    ],
)
def test_both_are_scraped_on_ports_that_there_are(
    tools: Tools, kind: str, value: str, endpoints: str
) -> None:
    objects = rendered(
        tools,
        f"monitoring.{value}.enabled=true",
        "monitoring.interval=15s",
        "monitoring.labels.a=b",
    )
    monitors = of_kind(objects, kind)
    assert set(monitors) == {"bernstein-operator", "bernstein-server"}
    for name, monitor in monitors.items():
        (endpoint,) = monitor["spec"][endpoints]
        assert monitor["metadata"]["labels"]["a"] == "b"
        assert (endpoint["honorLabels"], endpoint["interval"]) == (True, "15s")
        wanted = monitor["spec"]["selector"]["matchLabels"]
        template = of_kind(objects, "Deployment")[name]["spec"]["template"]
        container = template["spec"]["containers"][0]
        ports = {port["name"] for port in container["ports"]}
        selected = [template["metadata"]["labels"]]
        if kind == "ServiceMonitor":
            services = [
                s
                for s in of_kind(objects, "Service").values()
                if wanted.items() <= s["metadata"]["labels"].items()
            ]
            ports = {port["name"] for s in services for port in s["spec"]["ports"]}
            assert len(services) == 1  # else each pod would be scraped twice
        assert wanted.items() <= selected[0].items()
        assert endpoint["port"] in ports
    tls = monitors["bernstein-server"]["spec"][endpoints][0]["tlsConfig"]
    assert tls["serverName"] == f"bernstein-server.{RELEASE_NAMESPACE}.svc"
    pod = of_kind(objects, "Deployment")["bernstein-server"]["spec"]["template"]["spec"]
    mounted = [v["secret"]["secretName"] for v in pod["volumes"] if "secret" in v]
    assert [tls["ca"]["secret"]] == [{"name": name, "key": "ca.crt"} for name in mounted]
    for service in of_kind(objects, "Service").values():
        assert "annotations" not in service["metadata"]


def test_the_scraper_gets_through_and_nobody_else(tools: Tools, chart: None) -> None:
    objects = rendered(tools, "monitoring.serviceMonitors.enabled=true")
    policies = of_kind(objects, "NetworkPolicy")
    assert "ingress" not in policies["bernstein-operator"]["spec"]
    for component, port in (("operator", "http"), ("server", "https")):
        policy = policies[f"bernstein-{component}-metrics"]
        assert (
            peers(policies, f"bernstein-{component}-metrics") == (monitoring.values()["scrapers"])
        )
        assert policy["spec"]["ingress"][0]["ports"] == [{"port": port, "protocol": "TCP"}]
        taken = tools.run(
            *("kubectl", "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f-"),
            stdin=json.dumps(policy),
        )
        assert taken.returncode == 0, taken.stderr


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        (
            "monitoring.serviceMonitors.enabled=true,monitoring.podMonitors.enabled=true",
            "would scrape everything twice",
        ),
        ("monitoring.rules.objectives.firstPass=0.5", "minimum: got 0.5, want 0.7"),
        ("monitoring.rules.objectives.closed=1", "exclusiveMaximum"),
        ("monitoring.rules.objectives.closedWithinSeconds=1000", "value must be one of"),
        ("monitoring.rules.runbooks=https://wiki.example.com/alerts", "does not match pattern"),
        ("monitoring.interval=often", "does not match pattern"),
        ("monitoring.dashboards.namespace=Grafana", "does not match pattern"),
        ("monitoring.dashboards.folder=A", "'folder' not allowed"),
        ("monitoring.scrapers=null", "missing property 'scrapers'"),
        ("monitoring.scraper[0].podSelector.matchLabels.a=b", "'scraper' not allowed"),
    ],
)
def test_values_that_make_no_sense_are_refused(tools: Tools, values: str, complaint: str) -> None:
    refused = tools.run(
        "helm",
        "template",
        "bernstein",
        str(CHART),
        *(p for v in values.split(",") for p in ("--set-json", _json(v))),
    )

    assert refused.returncode != 0
    assert complaint in refused.stderr
