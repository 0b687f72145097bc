import json
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from kubernetes.config.kube_config import KubeConfigMerger

from bernstein.kube.config import ConnectionInfo, FileToken, KubeconfigToken
from bernstein.kube.errors import ConfigError


def kubeconfig(folder: Path, user: dict[str, object], **context: str) -> str:
    file = folder / "kubeconfig"
    file.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": "c", "cluster": {"server": "https://host:6443/"}}],
                "users": [{"name": "u", "user": user}],
                "contexts": [
                    {"name": "plain", "context": {"cluster": "c", "user": "u"}},
                    {"name": "x", "context": {"cluster": "c", "user": "u"} | context},
                ],
                "current-context": "plain",
            }
        )
    )
    return str(file)


async def token_of(connection: ConnectionInfo, *, renew: bool = False) -> str:
    assert connection.token is not None
    return await connection.token.token(renew=renew)


async def test_a_context_gives_server_namespace_and_token(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, {"token": "secret"}, namespace="team")
    current = ConnectionInfo.from_kubeconfig(path)
    assert (current.server, current.namespace) == ("https://host:6443", "default")
    other = ConnectionInfo.from_kubeconfig(path, "x")
    assert other.namespace == "team"
    assert await token_of(other) == "secret"


def test_a_kubeconfig_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    load: Any = KubeConfigMerger.load_config

    def counted(self: KubeConfigMerger, path: str) -> None:
        read.append(path)
        load(self, path)

    monkeypatch.setattr(KubeConfigMerger, "load_config", counted)
    path = kubeconfig(tmp_path, {"token": "t"})

    ConnectionInfo.from_kubeconfig(path)

    assert read == [path]


async def test_an_exec_plugin_is_run_again_when_its_token_is_refused(tmp_path: Path) -> None:
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "TOKEN"},
    }
    plugin = tmp_path / "plugin"
    plugin.write_text(
        f"#!/bin/sh\necho x >> {tmp_path}/runs\n"
        f"echo '{json.dumps(credential)}' | sed s/TOKEN/t$(wc -l < {tmp_path}/runs)/\n"
    )
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    path = kubeconfig(
        tmp_path,
        {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": str(plugin),
                "interactiveMode": "Never",
            }
        },
    )
    connection = ConnectionInfo.from_kubeconfig(path)
    first = await token_of(connection)
    assert first.startswith("t")
    assert await token_of(connection) == first
    assert await token_of(connection, renew=True) != first


async def test_a_plugin_is_asked_for_its_token_once_a_minute() -> None:
    now, asked = 0.0, []

    def ask(configuration: SimpleNamespace) -> None:
        asked.append(now)
        configuration.api_key = {"authorization": f"Bearer t{len(asked)}"}

    configuration = SimpleNamespace(refresh_api_key_hook=ask, api_key={})
    source = KubeconfigToken(lambda: configuration, configuration, "config", clock=lambda: now)

    assert [await source.token() for _ in range(3)] == ["t1"] * 3
    now = 60.0
    assert await source.token() == "t2"
    assert asked == [0.0, 60.0]


@pytest.mark.parametrize("context", [None, "absent"])
def test_an_unusable_kubeconfig_says_what_to_check(tmp_path: Path, context: str | None) -> None:
    path = str(tmp_path / "none") if context is None else kubeconfig(tmp_path, {})
    with pytest.raises(ConfigError, match="check --kubeconfig"):
        ConnectionInfo.from_kubeconfig(path, context)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"machine\n", "it has not the form of a kubeconfig"),
        (b"- a\n- b\n", "it has not the form of a kubeconfig"),
        (b"{{{{", "it is no YAML: line 1: "),
        (b"\x7fELF\x02\x01\xff\xfe", "it is no YAML"),
        (b"[" * 5000, "it has not the form of a kubeconfig"),
        (b"clusters: 5\ncontexts: {a: b}\n", "it has not the form of a kubeconfig"),
        (b"", "Invalid kube-config"),
    ],
)
def test_a_file_that_is_no_kubeconfig_says_so(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match=f"{words}.*; check --kubeconfig"):
        ConnectionInfo.from_kubeconfig(str(file))


def test_an_error_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "none")
    with pytest.raises(ConfigError, match=f"kubeconfig '{path}': "):
        ConnectionInfo.from_kubeconfig(path)
    monkeypatch.setenv("KUBECONFIG", f"{path}:{path}2")
    with pytest.raises(ConfigError, match=f"kubeconfig '{path}:{path}2': "):
        ConnectionInfo.from_kubeconfig()
    monkeypatch.delenv("KUBECONFIG")
    with pytest.raises(ConfigError, match=r"kubeconfig '~/\.kube/config': "):
        ConnectionInfo.from_kubeconfig(None, "no-such-context")


def test_a_folder_is_no_kubeconfig(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="Is a directory; check --kubeconfig"):
        ConnectionInfo.from_kubeconfig(str(tmp_path))


def test_a_certificate_that_is_no_base64_says_so(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, {"client-certificate-data": "!!!notb64"})
    with pytest.raises(ConfigError, match="'-data' is no base64; check --kubeconfig"):
        ConnectionInfo.from_kubeconfig(path)


@pytest.mark.parametrize(
    ("cluster", "words"),
    [
        ({"server": "foo bar"}, "'server' is no URL: 'foo bar'; write https://"),
        ({"server": "ftp://host"}, "'server' is no URL"),
        ({"server": "https://host:99999"}, "form of a kubeconfig; check"),
        ({"server": 5}, "form of a kubeconfig; check"),
        ({"proxy-url": "host"}, "'proxy-url' is no URL"),
        ({"tls-server-name": 5}, "'tls-server-name' is no text; write it in quotes"),
    ],
)
def test_an_address_that_cannot_be_one_says_so(
    tmp_path: Path, cluster: dict[str, object], words: str
) -> None:
    file = tmp_path / "kubeconfig"
    content = yaml.safe_load(Path(kubeconfig(tmp_path, {})).read_text())
    content["clusters"][0]["cluster"] |= cluster
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(ConfigError, match=words):
        ConnectionInfo.from_kubeconfig(str(file))


def exec_user(command: str) -> dict[str, object]:
    return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": command}}


def script(file: Path, content: str) -> str:
    file.write_text(f"#!/bin/sh\n{content}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(file)


def test_a_credential_plugin_that_is_not_installed_is_named(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = kubeconfig(tmp_path, exec_user("no-such-auth-plugin"))
    with pytest.raises(ConfigError, match=r"'no-such-auth-plugin' .* is not installed; install it"):
        ConnectionInfo.from_kubeconfig(path)
    assert capfd.readouterr().err == ""


def test_a_credential_plugin_that_fails_says_why(tmp_path: Path) -> None:
    plugin = script(tmp_path / "plugin", "echo 'session; expired' >&2; exit 7")
    with pytest.raises(ConfigError, match=r"has failed: .* 7. session; expired; log in again"):
        ConnectionInfo.from_kubeconfig(kubeconfig(tmp_path, exec_user(plugin)))


async def test_a_plugin_that_is_gone_when_the_token_is_refused_is_named(tmp_path: Path) -> None:
    answer = '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "", "status": {"token": 1}}'
    plugin = script(tmp_path / "plugin", f"echo '{answer}'")
    connection = ConnectionInfo.from_kubeconfig(kubeconfig(tmp_path, exec_user(plugin)))
    (tmp_path / "plugin").unlink()
    with pytest.raises(ConfigError, match="is not installed"):
        await token_of(connection, renew=True)


def mounted(folder: Path) -> Path:
    (folder / "namespace").write_text("bernstein\n")
    (folder / "token").write_text("first\n")
    return folder


async def test_a_pod_uses_its_service_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "6443")
    connection = ConnectionInfo.in_cluster(mounted(tmp_path))
    assert connection.server == "https://[fd00::1]:6443"
    assert connection.namespace == "bernstein"
    assert await token_of(connection) == "first"


def test_outside_of_a_pod_in_cluster_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(ConfigError, match="no pod"):
        ConnectionInfo.in_cluster()


def test_a_pod_without_token_volume_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    with pytest.raises(ConfigError, match="automountServiceAccountToken"):
        ConnectionInfo.in_cluster(tmp_path)


def test_an_explicit_kubeconfig_wins_over_the_pod(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.delenv("KUBECONFIG", raising=False)
    path = kubeconfig(tmp_path, {})
    assert ConnectionInfo.load(path).server == "https://host:6443"
    with pytest.raises(ConfigError, match="service account"):
        ConnectionInfo.load()


async def test_a_rotated_token_file_is_read_after_its_age(tmp_path: Path) -> None:
    now = 0.0
    source = FileToken(mounted(tmp_path) / "token", max_age=60, clock=lambda: now)
    assert await source.token() == "first"
    (tmp_path / "token").write_text("second")
    assert await source.token() == "first"
    now = 60.0
    assert await source.token() == "second"


async def test_a_missing_token_file_is_a_config_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="mounted"):
        await FileToken(tmp_path / "token").token()


def test_certificates_are_checked_unless_told_otherwise() -> None:
    assert ConnectionInfo(server="https://h").ssl_context().check_hostname
    assert not ConnectionInfo(server="https://h", verify=False).ssl_context().check_hostname
