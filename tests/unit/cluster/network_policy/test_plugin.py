"""The CNI plugin as the container runtime calls it, with an engine that is a socket."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.local import parts
from tests.cluster.network_policy import plugin

RESULT = {
    "interfaces": [{"name": "eth0"}],
    "ips": [{"version": "4", "address": "10.0.0.7/20"}, {"version": "6", "address": "fd00::7/64"}],
}
POD = "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=u-1"


@contextmanager
def engine(path: Path, answer: bytes) -> Iterator[list[Any]]:
    """Answers one question; what it was asked is in the list."""
    asked: list[Any] = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, connection.makefile("rb") as lines:
                asked.append(json.loads(lines.readline()))
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield asked
        thread.join()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "bernstein-network-policy"
    path.write_text(parts.policy_plugin())
    path.chmod(0o755)
    return path


def call(
    program: Path, command: str, engine_at: Path, *, previous: object = RESULT
) -> tuple[int, Any]:
    """Exit code and what it printed."""
    config = {"cniVersion": "0.4.0", "name": "pods", "type": "x", "socket": str(engine_at)}
    done = subprocess.run(
        [program],
        input=json.dumps(config if previous is None else {**config, "prevResult": previous}),
        env={"CNI_COMMAND": command, "CNI_CONTAINERID": "c-1", "CNI_ARGS": POD},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout) if done.stdout else None


def test_result_is_passed_on_when_the_rules_hold(program: Path, tmp_path: Path) -> None:
    with engine(tmp_path / "s", b'{"error": ""}\n') as asked:
        assert call(program, "ADD", tmp_path / "s") == (0, {"cniVersion": "0.4.0", **RESULT})
    assert asked == [
        {
            "command": "ADD",
            "container": "c-1",
            "namespace": "shop",
            "name": "web",
            "uid": "u-1",
            "addresses": ["10.0.0.7"],
        }
    ]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (b'{"error": "nft refused"}\n', "network policies are not enforced: nft refused"),
        (b"", "the network policy engine ended before it answered"),
    ],
)
def test_pod_is_to_be_tried_again_when_the_rules_do_not_hold(
    program: Path, tmp_path: Path, answer: bytes, words: str
) -> None:
    with engine(tmp_path / "s", answer):
        code, said = call(program, "ADD", tmp_path / "s")
    assert (code, said) == (1, {"cniVersion": "0.4.0", "code": 11, "msg": words})


def test_engine_that_is_silent_is_not_waited_for_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin, "TIMEOUT", 0.1)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        with pytest.raises(plugin.PluginError, match=r"does not answer .* timed out"):
            plugin.ask(str(tmp_path / "s"), {})


def test_pod_ends_also_without_the_engine(program: Path, tmp_path: Path) -> None:
    assert call(program, "DEL", tmp_path / "none", previous=None) == (0, None)


def test_check_says_what_the_engine_finds(program: Path, tmp_path: Path) -> None:
    with engine(tmp_path / "s", b'{"error": ""}\n') as asked:
        assert call(program, "CHECK", tmp_path / "s") == (0, None)
    assert asked[0]["command"] == "CHECK"
    code, said = call(program, "CHECK", tmp_path / "none")
    assert (code, said["code"]) == (1, 11)


def test_plugin_without_one_before_it_is_a_wrong_configuration(
    program: Path, tmp_path: Path
) -> None:
    code, said = call(program, "ADD", tmp_path / "none", previous=None)
    assert (code, said["code"]) == (1, 7)


def test_versions_are_named(program: Path, tmp_path: Path) -> None:
    code, said = call(program, "VERSION", tmp_path / "none", previous=None)
    assert code == 0
    assert "0.4.0" in said["supportedVersions"]


def test_interpreter_is_named_by_its_own_path(program: Path) -> None:
    first = program.read_text().splitlines()[0]
    assert first == f"#!{Path(sys.executable).resolve()} -ISE"


def test_it_loads_little_that_is_written_in_python(program: Path) -> None:
    """It is started for every pod, and that took longer than all that it does."""
    done = subprocess.run(
        [sys.executable, "-ISE", "-X", "importtime", program],
        input="{}",
        env={"CNI_COMMAND": "VERSION"},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "_json" in loaded
    assert loaded.isdisjoint({"enum", "json", "re", "selectors", "socket", "typing"})


@pytest.mark.parametrize("value", [RESULT, {"a": [1, -2.5, True, None, ""], "é\n\U0001f600": {}}])
def test_it_reads_and_writes_as_json_does(value: object) -> None:
    assert plugin.dumps(value) == json.dumps(value)
    assert plugin.loads(f" {json.dumps(value, indent=1)}\n") == value
