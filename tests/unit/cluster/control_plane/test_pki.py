from __future__ import annotations

import json
import ssl
import subprocess
from pathlib import Path

import pytest

from tests.cluster.control_plane import pki
from tests.cluster.layout import Layout


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Layout:
    folder = tmp_path_factory.mktemp("cluster")
    layout = Layout(
        id="local-0a1b2c3d",
        folder=folder,
        logs=folder,
        run=folder,
        image_store=folder,
        slot=2,
        ports={"kube-apiserver": 20000},
        address="10.201.32.1",
    )
    pki.create(layout, node=True)
    return layout


def test_every_certificate_is_signed_by_the_clusters_authority(made: Layout) -> None:
    names = sorted(pki.identities(made, node=True))
    files = [str(made.pki / f"{name}.crt") for name in names]
    subprocess.run(
        ["openssl", "verify", "-CAfile", str(made.pki / "ca.crt"), *files],
        check=True,
        capture_output=True,
    )


def test_no_key_is_readable_by_others(made: Layout) -> None:
    assert made.pki.stat().st_mode & 0o077 == 0
    assert made.kubeconfig.stat().st_mode & 0o077 == 0


def test_api_server_is_known_by_all_names_that_clients_use(made: Layout) -> None:
    text = subprocess.run(
        ["openssl", "x509", "-noout", "-text", "-in", str(made.pki / "kube-apiserver.crt")],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    for name in ("DNS:kubernetes.default.svc", f"IP Address:{made.address}", "127.0.0.1"):
        assert name in text
    assert f"IP Address:{made.api_service}" in text


def test_kubeconfig_holds_all_that_a_client_needs(made: Layout) -> None:
    document = json.loads(made.kubeconfig.read_text())
    (cluster,) = document["clusters"]
    assert cluster["cluster"]["server"] == f"https://10.201.32.1:{made.ports['kube-apiserver']}"
    assert document["current-context"] == made.id


def test_administrators_certificate_can_be_loaded_by_a_client(made: Layout) -> None:
    context = ssl.create_default_context(cafile=str(made.pki / "ca.crt"))
    context.load_cert_chain(made.pki / "admin.crt", made.pki / "admin.key")


def test_cluster_without_node_has_no_node_credentials(layout: Layout) -> None:
    pki.create(layout, node=False)
    present = {path.stem for path in Path(layout.pki).glob("*.crt")}
    assert present == {"ca", "admin", "kube-apiserver", "kube-controller-manager"}
