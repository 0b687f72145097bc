"""The server's own process, over TLS, with the rights of the chart."""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

import httpx

from bernstein.api import pod
from bernstein.kube.config import ConnectionInfo, StaticToken

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(pod.__file__).parents[2])}

SECONDS = 60
"""For an answer, or for the end of a process: they take a few at most on an idle machine."""


@dataclass(frozen=True)
class Running:
    """The server process and how to reach it."""

    process: subprocess.Popen[bytes]
    url: str
    ca_file: Path
    log: Path

    def http(self) -> httpx.AsyncClient:
        context = ssl.create_default_context(cafile=str(self.ca_file))
        return httpx.AsyncClient(
            base_url=self.url, verify=context, trust_env=False, timeout=SECONDS
        )


def certificate_for_localhost(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "tls.crt", folder / "tls.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"),
            *("-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


def kubeconfig(folder: Path, connection: ConnectionInfo) -> Path:
    token = connection.token
    assert isinstance(token, StaticToken)
    file = folder / "kubeconfig"
    cluster = {"server": connection.server, "certificate-authority": connection.ca_file}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "server", "user": {"token": asyncio.run(token.token())}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "server"}}],
        "current-context": "test",
    }
    file.write_text(json.dumps(content))
    return file
