"""The server's certificate: an empty Secret of the chart, filled and renewed by an account that may
touch nothing else, and kept by upgrades, also by one from a chart that made it itself."""

from __future__ import annotations

import base64
import json
import shutil
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bernstein.certificates.__main__ import arguments
from bernstein.certificates.keeper import Wanted, once
from bernstein.certificates.rotation import TOLD, Step
from bernstein.kube.client import Client
from bernstein.kube.errors import Conflict, Forbidden
from bernstein.kube.resource import SECRETS
from tests.control_plane.conftest import CHART, RELEASE_NAMESPACE, Account, Tools
from tests.documents import documents

SECRET = "bernstein-server-certificate"
ACCOUNT = "bernstein-certificates"
OLDER = "older-system"


def deployment(tools: Tools, name: str) -> dict[str, Any]:
    rendered = tools.template("-n", RELEASE_NAMESPACE)
    return next(
        o
        for o in documents(rendered)
        if o["kind"] == "Deployment" and o["metadata"]["name"] == name
    )


@pytest.fixture
def wanted(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> Wanted:
    """As the chart tells its process."""
    (container,) = deployment(tools, ACCOUNT)["spec"]["template"]["spec"]["containers"]
    monkeypatch.setattr("sys.argv", ["certificates", *container["args"]])
    read = arguments()
    names, valid = frozenset(read.name), timedelta(days=read.valid_days)
    return Wanted(RELEASE_NAMESPACE, read.secret, names, valid)


def data(tools: Tools, name: str = SECRET, namespace: str = RELEASE_NAMESPACE) -> dict[str, str]:
    secret = json.loads(tools.kubectl("get", "secret", name, "-n", namespace, "-ojson"))
    held = secret.get("data", {})
    return {key: base64.b64decode(value).decode() for key, value in held.items()}


async def test_it_is_made_told_served_and_kept_through_an_upgrade(
    tools: Tools, chart: None, account: Account, wanted: Wanted, tmp_path: Path
) -> None:
    (operator,) = deployment(tools, "bernstein-operator")["spec"]["template"]["spec"]["containers"]
    (told,) = [a for a in operator["args"] if a.startswith("--callback-url=")]
    host = told.removeprefix("--callback-url=https://").removesuffix(":8052")
    due = datetime.now(UTC) - TOLD
    begin = due - wanted.valid + timedelta(days=30)
    async with Client(account(RELEASE_NAMESPACE, ACCOUNT)) as client:
        assert await once(client, wanted, begin) is Step.MAKE
        assert await once(client, wanted, begin) is Step.KEEP
        first = data(tools)
        handshake(first, first["ca.crt"], host, tmp_path)
        with pytest.raises(ssl.SSLCertVerificationError):
            handshake(first, first["ca.crt"], "elsewhere.example.com", tmp_path)

        arguments = ("-n", RELEASE_NAMESPACE, "--set", "operator.logLevel=debug")
        tools.helm("upgrade", "bernstein", str(CHART), *arguments)
        assert data(tools) == first
        tools.helm("upgrade", "bernstein", str(CHART), "-n", RELEASE_NAMESPACE)

        assert await once(client, wanted, due) is Step.TELL
        both = data(tools)
        assert await once(client, wanted, due + TOLD) is Step.SERVE
        second = data(tools)

    assert both["tls.crt"] == first["tls.crt"] != second["tls.crt"]
    handshake(both, first["ca.crt"], host, tmp_path)  # a session of before
    handshake(second, both["ca.crt"], host, tmp_path)  # one that was told of it
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(second, first["ca.crt"], host, tmp_path)


def handshake(certificate: dict[str, str], trusted: str, host: str, folder: Path) -> None:
    """TLS between a client that trusts this alone and a server with the certificate."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    trusting = ssl.create_default_context(cadata=trusted)
    client = trusting.wrap_bio(to_client, to_server, server_hostname=host)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    for name in ("tls.crt", "tls.key"):
        (folder / name).write_text(certificate[name])
    serving.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    server = serving.wrap_bio(to_server, to_client, server_side=True)
    waiting = [client, server]
    while waiting:
        for side in tuple(waiting):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            waiting.remove(side)


async def test_its_account_reads_no_other_secret_and_makes_none(
    tools: Tools, chart: None, account: Account
) -> None:
    tools.run("kubectl", "create", "secret", "generic", "other", "-n", RELEASE_NAMESPACE)
    async with Client(account(RELEASE_NAMESPACE, ACCOUNT)) as client:
        for attempt in (
            client.get(SECRETS, "other", RELEASE_NAMESPACE),
            client.patch(SECRETS, "other", RELEASE_NAMESPACE, {"data": {}}),
            client.list(SECRETS, RELEASE_NAMESPACE),
            client.create(SECRETS, {"metadata": {"name": "n"}}, namespace=RELEASE_NAMESPACE),
            client.delete(SECRETS, SECRET, RELEASE_NAMESPACE),
        ):
            with pytest.raises(Forbidden):
                await attempt


async def test_of_two_writers_one_finds_out(
    admin: Client, account: Account, wanted: Wanted, monkeypatch: pytest.MonkeyPatch
) -> None:
    await admin.patch(SECRETS, SECRET, RELEASE_NAMESPACE, {"data": None})
    async with Client(account(RELEASE_NAMESPACE, ACCOUNT)) as client:
        read = client.get

        async def slow(*arguments: Any) -> Any:
            found = await read(*arguments)
            label = {"metadata": {"labels": {"changed": "meanwhile"}}}
            await admin.patch(SECRETS, SECRET, RELEASE_NAMESPACE, label)
            return found

        monkeypatch.setattr(client, "get", slow)
        with pytest.raises(Conflict):
            await once(client, wanted, datetime.now(UTC))


@pytest.fixture
def older(tools: Tools, chart: None, tmp_path: Path) -> Iterator[str]:
    """A release of a chart that made the certificate itself, in a namespace of its own."""
    folder = tmp_path / "older"
    shutil.copytree(CHART, folder)
    (folder / "templates" / "certificates.yaml").unlink()
    helpers = folder / "templates" / "_helpers.tpl"
    now, then = 'printf "%s-certificate"', 'printf "%s-tls"'
    assert now in helpers.read_text()
    helpers.write_text(helpers.read_text().replace(now, then))
    template = Path(__file__).parent / "server-tls.yaml"
    shutil.copy(template, folder / "templates" / "server-tls.yaml")
    tools.run("kubectl", "create", "namespace", "older-work")
    tools.helm("install", "older", str(folder), *_older_values(), "--create-namespace")
    yield "older-bernstein-server"
    # Nobody runs its pods here, the one that would look first among them.
    tools.helm("uninstall", "older", "-n", OLDER, "--no-hooks")


def _older_values() -> tuple[str, ...]:
    only = ("--set", "watch.namespaces={older-work}", "--set", "crds.install=false")
    return ("-n", OLDER, *only)


async def test_what_an_older_chart_made_is_taken_over_and_kept(
    tools: Tools, account: Account, older: str, wanted: Wanted
) -> None:
    made = data(tools, f"{older}-tls", OLDER)
    assert set(made) == {"ca.crt", "tls.crt", "tls.key"}

    for _ in range(3):
        tools.helm("upgrade", "older", str(CHART), *_older_values())
        assert data(tools, f"{older}-certificate", OLDER) == made
    gone = tools.run("kubectl", "get", "secret", f"{older}-tls", "-n", OLDER)
    assert "NotFound" in gone.stderr

    names = frozenset([f"{older}.{OLDER}.svc", "127.0.0.1"])
    ours = Wanted(OLDER, f"{older}-certificate", names, wanted.valid)
    async with Client(account(OLDER, "older-bernstein-certificates")) as client:
        assert await once(client, ours, datetime.now(UTC)) is Step.KEEP
