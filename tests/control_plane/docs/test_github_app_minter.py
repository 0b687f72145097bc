"""The minter of the page on GitHub Apps, with a real API server: what its account may do is what
the page says, and no more."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bernstein.api import encoding
from bernstein.api.programs.mint import MintConfig, Wanted
from bernstein.kube.client import Client
from bernstein.kube.config import ConnectionInfo
from bernstein.kube.errors import Forbidden
from bernstein.kube.resource import Resource
from bernstein.pods.errors import PodError
from bernstein.pods.programs import mint
from tests.cluster import Cluster
from tests.control_plane.conftest import Account, Tools, first_pod
from tests.unit.docs.pages import ROOT

EXAMPLE = ROOT / "docs/examples/github-app/minter.yaml"
SECRETS = Resource("", "v1", "secrets", "Secret")
NAMES = ("git-read", "git-work", "git-deliver", "forge-token")
Object = dict[str, Any]


def documents(namespace: str) -> Iterator[Object]:
    for each in yaml.safe_load_all(EXAMPLE.read_text()):
        for subject in each.get("subjects", ()):
            subject["namespace"] = namespace
        yield each


@pytest.fixture
def applied(tools: Tools, chart: None, namespace: str) -> str:
    objects = {"apiVersion": "v1", "kind": "List", "items": list(documents(namespace))}
    tools.kubectl("apply", "-n", namespace, "-f", "-", stdin=json.dumps(objects))
    other = ("create", "secret", "generic", "another", "--from-literal=token=of-others")
    tools.kubectl(*other, "-n", namespace)
    return namespace


def containers(namespace: str) -> list[Object]:
    (cron,) = (each for each in documents(namespace) if each["kind"] == "CronJob")
    found: list[Object] = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    return found


def forge(request: httpx.Request) -> httpx.Response:
    asked = json.loads(request.content)
    told = {
        "token": "ghs_" + "-".join(asked["permissions"]),
        "expires_at": "2030-07-11T22:14:10Z",
        "permissions": asked["permissions"],
        "repositories": [{"full_name": "team-a/app"}],
    }
    return httpx.Response(201, stream=httpx.ByteStream(json.dumps(told).encode()))


def mount(folder: Path, namespace: str, ca: str, token: str) -> None:
    key = generate_private_key(65537, 2048)
    data = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    (folder / "key.pem").write_bytes(data)
    (folder / "ca.crt").write_bytes(Path(ca).read_bytes())
    (folder / "namespace").write_text(namespace)
    (folder / "token").write_text(token)


@pytest.fixture
async def configs(
    applied: str, cluster: Cluster, account: Account, tmp_path: Path
) -> list[MintConfig]:
    """What the page's containers are told, with what the kubelet would mount."""
    connection = account(applied, "github-app-minter")
    ca = ConnectionInfo.from_kubeconfig(str(cluster.kubeconfig)).ca_file
    assert connection.token is not None
    mount(tmp_path, applied, str(ca), await connection.token.token())
    return [
        replace(
            encoding.load(MintConfig, each["args"][0]),
            key_file=str(tmp_path / "key.pem"),
            cluster=connection.server,
            account_folder=str(tmp_path),
        )
        for each in containers(applied)
    ]


async def test_the_minters_account_writes_these_secrets_and_no_other(
    admin: Client, account: Account, applied: str
) -> None:
    body = {"data": {"token": base64.b64encode(b"mine").decode()}}
    async with Client(account(applied, "github-app-minter")) as minter:
        for name in NAMES:
            await minter.patch(SECRETS, name, applied, body)
        with pytest.raises(Forbidden):
            await minter.patch(SECRETS, "another", applied, body)
        with pytest.raises(Forbidden):
            await minter.create(SECRETS, {"metadata": {"name": "new"}, **body}, namespace=applied)
        for name in (*NAMES, "another"):
            with pytest.raises(Forbidden):
                await minter.get(SECRETS, name, applied)
        with pytest.raises(Forbidden):
            await minter.list(SECRETS, applied)
        with pytest.raises(Forbidden):
            await minter.delete(SECRETS, "git-read", applied)
    kept = await admin.get(SECRETS, "another", applied)
    assert base64.b64decode(kept["data"]["token"]) == b"of-others"


async def test_the_page_s_minter_fills_the_secrets_that_projects_name(
    admin: Client, applied: str, configs: list[MintConfig], tools: Tools
) -> None:
    for config in configs:
        await in_thread(config)
    found = {name: await admin.get(SECRETS, name, applied) for name in NAMES}

    keys = {name: sorted(secret["data"]) for name, secret in found.items()}
    basic = ["password", "username"]
    assert keys == {**dict.fromkeys(NAMES[:3], basic), "forge-token": ["token"]}
    expires = {each["metadata"]["annotations"]["bernstein.dev/expires"] for each in found.values()}
    assert expires == {"2030-07-11T22:14:10+00:00"}
    # Who applies the page again, as Argo CD does, takes no token away.
    objects = {"apiVersion": "v1", "kind": "List", "items": list(documents(applied))}
    tools.kubectl("apply", "-n", applied, "-f", "-", stdin=json.dumps(objects))
    again = {name: (await admin.get(SECRETS, name, applied))["data"] for name in NAMES}
    assert again == {name: secret["data"] for name, secret in found.items()}


async def test_a_minter_that_is_told_another_secret_is_refused_by_the_api_server(
    admin: Client, applied: str, configs: list[MintConfig]
) -> None:
    told = replace(configs[0], tokens=(Wanted("read", "another"), Wanted("read", "none")))
    with pytest.raises(PodError, match="the pod's account may not write it") as failed:
        await in_thread(told)
    assert failed.value.reason == "SecretWriteRefused"
    kept = await admin.get(SECRETS, "another", applied)
    assert base64.b64decode(kept["data"]["token"]) == b"of-others"


async def test_its_pods_are_taken_where_pods_have_to_be_restricted(
    tools: Tools, admin: Client, applied: str
) -> None:
    enforce = "pod-security.kubernetes.io/enforce=restricted"
    tools.kubectl("label", "namespace", applied, enforce)
    tools.kubectl("create", "job", "now", "--from=cronjob/github-app-minter", "-n", applied)
    pod = await first_pod(admin, applied, "now")
    assert pod["spec"]["serviceAccountName"] == "github-app-minter"
    keys = [
        [mount["name"] for mount in each["volumeMounts"] if mount["mountPath"] == "/app-key"]
        for each in pod["spec"]["containers"]
    ]
    assert keys == [["works"], ["delivers"]]


async def in_thread(config: MintConfig) -> None:
    """The program has a loop of its own."""
    await asyncio.to_thread(mint.run, config, httpx.MockTransport(forge))
