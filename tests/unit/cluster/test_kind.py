"""kind's command lines, as recorded by programs that take the place of kind and docker."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import kind
from tests.cluster.errors import ClusterError
from tests.cluster.kind import NODE_IMAGE, KindCluster


class Programs:
    """Folder of small shell programs that write down how they were called."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._calls = folder / "calls"

    def add(self, name: str, body: str = "") -> None:
        script = f'#!/bin/sh\necho {name} "$@" >> {self._calls}\n{body}\n'
        (self._folder / name).write_text(script)
        (self._folder / name).chmod(0o755)

    def calls(self, beginning: str = "") -> list[str]:
        lines = self._calls.read_text().splitlines() if self._calls.exists() else []
        return [line for line in lines if line.startswith(beginning)]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    made = Programs(folder)
    made.add("kind")
    made.add("docker")
    return made


@pytest.fixture
def cluster(programs: Programs) -> KindCluster:
    return KindCluster("demo")


def test_up_creates_one_pinned_node_and_waits_for_it(
    cluster: KindCluster, programs: Programs
) -> None:
    cluster.up()
    (create,) = programs.calls("kind")
    assert create.startswith("kind create cluster --name bernstein-demo-")
    assert f" --image {NODE_IMAGE} " in create
    assert f" --kubeconfig {cluster.kubeconfig} " in create
    assert "@sha256:" in NODE_IMAGE
    assert "v1.34." in NODE_IMAGE


def test_configuration_mounts_policy_and_log_where_the_api_server_looks(
    cluster: KindCluster,
) -> None:
    cluster.up()
    written = json.loads((cluster.kubeconfig.parent / "kind.json").read_text())
    (node,) = written["nodes"]
    patch: Any = json.loads(node["kubeadmConfigPatches"][0])
    arguments = patch["apiServer"]["extraArgs"]
    mounts = {mount["containerPath"]: mount["hostPath"] for mount in node["extraMounts"]}
    assert Path(mounts[arguments["audit-policy-file"]]).is_file()
    log = Path(arguments["audit-log-path"])
    assert mounts[str(log.parent)] == str(cluster.audit_log.parent)
    assert log.name == cluster.audit_log.name
    volumes = {volume["mountPath"] for volume in patch["apiServer"]["extraVolumes"]}
    assert volumes == set(mounts)


def test_a_pod_takes_no_more_than_its_share_of_processes(cluster: KindCluster) -> None:
    nodes: Any = cluster.configuration()["nodes"]

    patches = [json.loads(text) for text in nodes[0]["kubeadmConfigPatches"]]
    assert {"kind": "KubeletConfiguration", "podPidsLimit": 1024} in patches


def test_failed_creation_is_reported_and_its_remains_deleted(
    cluster: KindCluster, programs: Programs
) -> None:
    programs.add("kind", 'test "$1" != create || { echo no space left >&2; exit 1; }')
    programs.add("docker", f"echo {cluster.node}")
    with pytest.raises(ClusterError, match=r"KindFailed: .*no space left"):
        cluster.up()
    verbs = [call.split()[1] for call in programs.calls("kind")]
    assert verbs == ["delete", "create", "delete"]


def test_ready_cluster_stays_as_it_is(cluster: KindCluster, programs: Programs) -> None:
    cluster.up()
    cluster.kubeconfig.touch()
    programs.add("docker", f"echo {cluster.node}")
    cluster.up()
    assert len(programs.calls("kind create")) == 1
    assert cluster.status().ready


def test_down_deletes_what_is_there_and_nothing_else(
    cluster: KindCluster, programs: Programs
) -> None:
    cluster.down()
    assert programs.calls("kind") == []
    programs.add("docker", f"echo {cluster.node}")
    cluster.down()
    (delete,) = programs.calls("kind")
    assert delete.startswith("kind delete cluster --name bernstein-demo-")


def test_archives_and_engine_images_are_loaded_by_their_own_verbs(
    cluster: KindCluster, programs: Programs, tmp_path: Path
) -> None:
    archive = tmp_path / "image.tar"
    archive.touch()
    cluster.load_images([str(archive), "tool:dev"])
    first, second = programs.calls("kind load")
    assert first.startswith(f"kind load image-archive {archive} --name bernstein-demo-")
    assert second.startswith("kind load docker-image tool:dev --name bernstein-demo-")


def test_component_is_killed_inside_the_node(cluster: KindCluster, programs: Programs) -> None:
    cluster.kill("kube-apiserver")
    (call,) = programs.calls("docker exec")
    assert call.startswith(f"docker exec {cluster.node} pkill --signal KILL --full ")
    assert "kube-apiserver" in call


def test_unknown_component_is_refused(cluster: KindCluster) -> None:
    with pytest.raises(ClusterError, match="NoSuchComponent"):
        cluster.kill("kube-proxi")


def test_container_is_found_by_its_labels_and_killed(
    cluster: KindCluster, programs: Programs
) -> None:
    programs.add("docker", 'case "$*" in *crictl*) echo abc123;; esac')
    cluster.kill_container("pod-1", "main", "demo")
    find, kill = programs.calls("docker exec")
    assert "--name ^main$ --label io.kubernetes.pod.name=pod-1" in find
    assert "io.kubernetes.pod.namespace=demo" in find
    assert kill.endswith("ctr --namespace k8s.io tasks kill --signal SIGKILL abc123")


def test_container_that_does_not_run_is_an_error(cluster: KindCluster) -> None:
    with pytest.raises(ClusterError, match="ContainerNotFound"):
        cluster.kill_container("pod-1", "main")


@pytest.mark.parametrize(
    ("docker", "usable"),
    [
        ("", True),
        ('test "$1" != info', False),
        ('test "$1 $2" != "image inspect"', True),
        ('test "$1 $2" != "image inspect" && test "$1" != pull', False),
    ],
    ids=["ready", "no engine", "image can be pulled", "image cannot be pulled"],
)
def test_kind_is_usable_only_with_engine_and_image(
    programs: Programs, docker: str, usable: bool
) -> None:
    programs.add("docker", docker)
    assert kind.usable() is usable


def test_kind_is_not_usable_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind, "find_program", lambda _: None)
    assert not kind.usable()
