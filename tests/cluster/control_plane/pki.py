"""Certificates of a cluster, made by openssl: one authority, and a certificate per component."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.layout import NODE_NAME, Layout
from tests.cluster.machine.packages import program
from tests.cluster.processes.process import run

DAYS = "3650"
ELLIPTIC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True)
class Identity:
    """Subject of a certificate, and the names under which it serves (if it serves)."""

    subject: str
    alternative_names: tuple[str, ...] = ()


def identities(layout: Layout, *, node: bool) -> Mapping[str, Identity]:
    """File name -> identity of every certificate that the cluster needs."""
    names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost"]
    addresses = dict.fromkeys(["127.0.0.1", layout.address, layout.api_service])
    serving = (*(f"DNS:{name}" for name in names), *(f"IP:{ip}" for ip in addresses))
    control_plane = {
        "kube-apiserver": Identity("/CN=kube-apiserver", serving),
        "admin": Identity("/O=system:masters/CN=kubernetes-admin"),
        "kube-controller-manager": Identity("/CN=system:kube-controller-manager"),
    }
    if not node:
        return control_plane
    kubelet_names = (f"DNS:{NODE_NAME}", f"IP:{layout.node_address}")
    return {
        **control_plane,
        "kubelet-client": Identity("/O=system:masters/CN=kube-apiserver-kubelet-client"),
        "kube-scheduler": Identity("/CN=system:kube-scheduler"),
        "kubelet": Identity(f"/O=system:nodes/CN=system:node:{NODE_NAME}", kubelet_names),
        "kube-proxy": Identity("/CN=system:kube-proxy"),
        "coredns": Identity("/CN=system:coredns"),
        "network-policy": Identity("/CN=system:network-policy"),
    }


def create(layout: Layout, *, node: bool) -> None:
    """Make the authority, the service account key, the certificates and a kubeconfig for each."""
    layout.pki.mkdir(parents=True, exist_ok=True)
    layout.pki.chmod(0o700)
    openssl = program("openssl")
    folder = layout.pki
    authority = ("-keyout", f"{folder}/ca.key", "-out", f"{folder}/ca.crt")
    extensions = ("-addext", "keyUsage=critical,digitalSignature,keyCertSign,cRLSign")
    request = (openssl, "req", "-x509", *ELLIPTIC, "-days", DAYS, "-subj", "/CN=kubernetes")
    run([*request, *extensions, *authority])
    key = f"{folder}/service-accounts.key"
    curve = ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    run([openssl, "genpkey", *curve, "-out", key])
    run([openssl, "pkey", "-in", key, "-pubout", "-out", f"{folder}/service-accounts.pub"])
    for serial, (name, identity) in enumerate(identities(layout, node=node).items(), start=2):
        _issue(openssl, folder, name, identity, serial)
        if name not in ("kube-apiserver", "kubelet-client"):
            path = layout.kubeconfig if name == "admin" else layout.folder / f"{name}.kubeconfig"
            _write_kubeconfig(path, layout, name)


def _issue(openssl: str, folder: Path, name: str, identity: Identity, serial: int) -> None:
    request = folder / f"{name}.csr"
    key = f"{folder}/{name}.key"
    subject = ("-subj", identity.subject)
    run([openssl, "req", *ELLIPTIC, *subject, "-keyout", key, "-out", str(request)])
    extensions = folder / f"{name}.ext"
    lines = ["basicConstraints=CA:FALSE", "extendedKeyUsage=clientAuth,serverAuth"]
    if identity.alternative_names:
        lines.append("subjectAltName=" + ",".join(identity.alternative_names))
    extensions.write_text("\n".join(lines) + "\n")
    signer = ("-CA", f"{folder}/ca.crt", "-CAkey", f"{folder}/ca.key", "-set_serial", str(serial))
    files = ("-in", str(request), "-out", f"{folder}/{name}.crt", "-extfile", str(extensions))
    run([openssl, "x509", "-req", "-days", DAYS, *signer, *files])
    request.unlink()
    extensions.unlink()


def _write_kubeconfig(path: Path, layout: Layout, name: str) -> None:
    def data(file: str) -> str:
        return base64.b64encode((layout.pki / file).read_bytes()).decode()

    certificate = {
        "client-certificate-data": data(f"{name}.crt"),
        "client-key-data": data(f"{name}.key"),
    }
    cluster = {"server": layout.server, "certificate-authority-data": data("ca.crt")}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": layout.id, "cluster": cluster}],
        "users": [{"name": name, "user": certificate}],
        "contexts": [{"name": layout.id, "context": {"cluster": layout.id, "user": name}}],
        "current-context": layout.id,
    }
    path.touch(mode=0o600)
    path.write_text(json.dumps(document, indent=1))
