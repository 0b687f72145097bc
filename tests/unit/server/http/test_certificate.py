"""TLS of the server: a renewed certificate is taken up by what already listens."""

import asyncio
import shutil
import ssl
from pathlib import Path

import pytest
import uvicorn

from bernstein.server.http.certificate import Certificate
from bernstein.server.serve import uvicorn_config
from bernstein.server.settings import read
from tests.unit.server.conftest import make_certificate


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("certificates")
    return {name: make_certificate(folder, name) for name in ("old", "new")}


class Mounted:
    """The files of a mounted Secret."""

    def __init__(self, folder: Path, pairs: dict[str, tuple[Path, Path]]) -> None:
        self.cert, self.key = folder / "tls.crt", folder / "tls.key"
        self._pairs = pairs
        self.hold("old", "old")

    def hold(self, certificate: str, key: str) -> None:
        shutil.copy(self._pairs[certificate][0], self.cert)
        shutil.copy(self._pairs[key][1], self.key)


@pytest.fixture
def mounted(tmp_path: Path, pairs: dict[str, tuple[Path, Path]]) -> Mounted:
    return Mounted(tmp_path, pairs)


def presented(context: ssl.SSLContext) -> bytes:
    """The certificate that a new client is shown."""
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname = False
    trusting.verify_mode = ssl.CERT_NONE
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = trusting.wrap_bio(to_client, to_server)
    server = context.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for side in (client, server):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    shown = client.getpeercert(binary_form=True)
    assert shown is not None
    return shown


def der(file: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert(file.read_text())


def serving(mounted: Mounted) -> tuple[Certificate, ssl.SSLContext]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = Certificate(mounted.cert, mounted.key)
    assert certificate.load_into(context)
    return certificate, context


def test_new_connections_see_the_renewed_certificate(mounted: Mounted) -> None:
    certificate, context = serving(mounted)
    assert presented(context) == der(mounted.cert)
    mounted.hold("new", "new")
    assert certificate.load_into(context)
    assert presented(context) == der(mounted.cert)


def test_files_that_did_not_change_are_not_loaded_again(mounted: Mounted) -> None:
    certificate, context = serving(mounted)
    assert not certificate.load_into(context)


def test_a_pair_that_does_not_fit_leaves_the_old_one_until_it_does(mounted: Mounted) -> None:
    certificate, context = serving(mounted)
    old = der(mounted.cert)
    mounted.hold("new", "old")
    assert not certificate.load_into(context)
    assert presented(context) == old
    mounted.hold("new", "new")
    assert certificate.load_into(context)
    assert presented(context) == der(mounted.cert)


def test_a_missing_file_leaves_the_old_one(mounted: Mounted) -> None:
    certificate, context = serving(mounted)
    old = der(mounted.cert)
    mounted.key.unlink()
    assert not certificate.load_into(context)
    assert presented(context) == old


async def test_the_files_are_followed(mounted: Mounted) -> None:
    certificate, context = serving(mounted)
    mounted.hold("new", "new")
    following = asyncio.create_task(certificate.follow(context, every=0.01))
    async with asyncio.timeout(5):
        while presented(context) != der(mounted.cert):  # noqa: ASYNC110 - it looks at files
            await asyncio.sleep(0.01)
    following.cancel()
    with pytest.raises(asyncio.CancelledError):
        await following


async def nothing(scope: object, receive: object, send: object) -> None: ...


def listening(mounted: Mounted) -> uvicorn.Config:
    flags = [f"--tls-cert={mounted.cert}", f"--tls-key={mounted.key}"]
    return uvicorn_config(nothing, read(flags, {}))


def test_old_versions_of_tls_are_not_spoken(mounted: Mounted) -> None:
    context = listening(mounted).ssl
    assert context is not None
    assert context.minimum_version == ssl.TLSVersion.TLSv1_2


def test_without_a_certificate_plain_http_is_spoken() -> None:
    assert not uvicorn_config(nothing, read([], {})).is_ssl
