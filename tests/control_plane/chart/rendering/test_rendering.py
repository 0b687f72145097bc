"""What the chart renders for whom: `values` has one file for each. CRDs are shown elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.control_plane.conftest import CHART, RELEASE_NAMESPACE, Tools
from tests.documents import documents

SETS = {path.stem: path for path in sorted((Path(__file__).parent / "values").glob("*.yaml"))}


class _Yaml(SingleFileSnapshotExtension):
    _write_mode = WriteMode.TEXT
    file_extension = "yaml"


def text_of(tools: Tools, values: str, *more: str) -> str:
    return tools.template("-n", RELEASE_NAMESPACE, "-f", str(SETS[values]), *more)


def objects_of(tools: Tools, values: str, *more: str) -> list[dict[str, Any]]:
    return documents(text_of(tools, values, *more))


@pytest.mark.parametrize("values", SETS)
def test_what_is_rendered_is_exactly_this(
    tools: Tools, values: str, snapshot: SnapshotAssertion
) -> None:
    text = text_of(tools, values, "--set", "crds.install=false")

    assert text == snapshot(extension_class=_Yaml)


@pytest.mark.parametrize("values", SETS)
def test_rendering_twice_gives_the_same_bytes(tools: Tools, values: str) -> None:
    again = ("-n", RELEASE_NAMESPACE, "-f", str(SETS[values]))

    assert text_of(tools, values) == tools.helm("template", "bernstein", str(CHART), *again)


def test_what_is_installed_differs_in_nothing_from_what_is_rendered(
    tools: Tools, chart: None
) -> None:
    rendered = tools.helm(
        "template", "bernstein", str(CHART), "-n", RELEASE_NAMESPACE, "--no-hooks"
    )

    same = tools.run("kubectl", "diff", "-n", RELEASE_NAMESPACE, "-f-", stdin=rendered)
    other = rendered.replace("replicas: 2", "replicas: 3")
    differs = tools.run("kubectl", "diff", "-n", RELEASE_NAMESPACE, "-f-", stdin=other)

    assert (same.returncode, same.stdout, same.stderr) == (0, "", "")
    assert differs.returncode == 1


@pytest.mark.parametrize("values", SETS)
def test_the_api_server_takes_every_object_and_drops_nothing_of_it(
    tools: Tools, chart: None, monitoring_kinds: None, values: str
) -> None:
    for watched in yaml.safe_load(SETS[values].read_text()).get("watch", {}).get("namespaces", []):
        tools.run("kubectl", "create", "namespace", watched)
    made = objects_of(tools, values)
    for own in (each["metadata"]["name"] for each in made if each["kind"] == "Namespace"):
        tools.run("kubectl", "create", "namespace", own)
    taken = tools.run(
        *("kubectl", "apply", "--server-side", "--dry-run=server", "--force-conflicts"),
        *("--validate=strict", "--output=json", "-f-"),
        stdin="\n---\n".join(map(json.dumps, made)),
    )

    assert taken.returncode == 0, taken.stderr
    assert "Warning" not in taken.stderr
    # What is dropped is a difference for ever, for `kubectl diff` or for who applies it again.
    there = {_name(each): each for each in json.loads(taken.stdout)["items"]}
    lost = {_name(each): [*dropped(each, there[_name(each)])] for each in made}
    assert {name: fields for name, fields in lost.items() if fields} == {}


def _name(obj: dict[str, Any]) -> tuple[str, str, str]:
    metadata = obj["metadata"]
    namespace = metadata.get("namespace", "")
    return obj["kind"], "" if namespace == RELEASE_NAMESPACE else namespace, metadata["name"]


def dropped(said: Any, taken: Any, at: str = "") -> Iterator[str]:
    """Paths of what an object says and the API server has not kept."""
    if isinstance(said, dict):
        for name, value in said.items():
            if name in taken:
                yield from dropped(value, taken[name], f"{at}.{name}")
            elif (at, name) != ("", "stringData"):  # it is written as `data`
                yield f"{at}.{name}"
    elif isinstance(said, list):
        if len(said) != len(taken):
            yield at
        for number, (one, other) in enumerate(zip(said, taken, strict=False)):
            yield from dropped(one, other, f"{at}[{number}]")


@pytest.mark.parametrize("values", SETS)
def test_every_pod_meets_the_restricted_standard(tools: Tools, namespace: str, values: str) -> None:
    # The namespace's default service account is made a moment after the namespace.
    tools.kubectl("wait", "--for=create", "serviceaccount/default", "-n", namespace)
    tools.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")

    for name, template in templates(objects_of(tools, values)).items():
        template["spec"]["serviceAccountName"] = "default"
        pod = {"apiVersion": "v1", "kind": "Pod", **template}
        pod["metadata"] = {"name": name, "namespace": namespace}
        tools.kubectl("create", "--dry-run=server", "-f-", stdin=json.dumps(pod))


def templates(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Of every pod that the chart makes, by a name."""
    found = {}
    for each in objects:
        if each["kind"] == "Pod":
            found[each["metadata"]["name"]] = {"spec": each["spec"]}
        elif "template" in each.get("spec", {}):
            found[each["metadata"]["name"]] = each["spec"]["template"]
    assert len(found) >= 2
    return found
