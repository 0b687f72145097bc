from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cluster.__main__ import main
from tests.cluster.processes.record import Record, save


def planned(cache: Path, name: str, provider: str) -> Path:
    """Record of a cluster whose components are not started yet."""
    path = cache / "clusters" / name / "state" / "record.json"
    ports = {"kube-apiserver": 1}
    save(path, Record(provider=provider, slot=0, address="127.0.0.1", ports=ports, build="x"))
    return path


def test_error_is_printed_with_its_remedy_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["kubeconfig", "--provider", "control-plane"]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("error: NotRunning: cluster control-plane is not up\n  remedy: ")


def test_status_of_nothing_is_not_ready(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--provider", "control-plane", "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["name"], status["ready"], status["components"]) == ("control-plane", False, [])


def test_status_for_people_names_the_provider(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", "--provider", "control-plane", "--name", "demo"]) == 0
    assert capsys.readouterr().out.startswith("demo (control-plane): not ready\n")


def test_down_of_nothing_succeeds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["down", "--provider", "control-plane"]) == 0
    assert "is not there" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("present", "chosen"),
    [
        ({"a": "control-plane"}, "a (control-plane)"),
        ({"a": "control-plane", "b": "local"}, "b (local)"),
        ({"a": "kwok", "b": "local"}, "b (local)"),
        ({}, "local (local)"),
    ],
)
def test_without_provider_the_cluster_that_is_there_is_meant(
    cache: Path, capsys: pytest.CaptureFixture[str], present: dict[str, str], chosen: str
) -> None:
    for name, provider in present.items():
        planned(cache, name, provider)
    assert main(["status"]) == 0
    assert capsys.readouterr().out.startswith(f"{chosen}: not ready\n")


def test_node_operations_need_a_node(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load", "--provider", "control-plane", "image.tar"]) == 1
    assert "error: NoNode: the control-plane cluster has no node" in capsys.readouterr().err


def test_clean_cache_removes_every_cache_and_says_what_stays(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = planned(cache, "demo", "control-plane")
    (cache / "kubernetes").mkdir()
    assert main(["clean-cache"]) == 0
    assert not record.exists()
    assert not cache.exists()
    assert "Go's own caches stay" in capsys.readouterr().err
