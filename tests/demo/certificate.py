"""A certificate authority for one use, and a server certificate of it."""

from __future__ import annotations

import ipaddress
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

DAYS = 30


@dataclass(frozen=True, slots=True)
class Certificate:
    """PEM texts."""

    ca: str
    certificate: str
    key: str


def issue(names: Sequence[str]) -> Certificate:
    """A certificate for these host names or addresses and for localhost; the authority's key is
    forgotten."""
    subjects = ",".join([*map(_subject, names), "DNS:localhost", "IP:127.0.0.1"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
        _run(
            folder,
            *new,
            *("-nodes", "-x509", "-days", str(DAYS), "-subj", "/CN=example"),
            *("-keyout", "ca.key", "-out", "ca.crt"),
        )
        _run(
            folder,
            *new,
            *("-nodes", "-subj", f"/CN={names[0]}", "-keyout", "tls.key", "-out", "tls.csr"),
        )
        (folder / "extensions").write_text(f"subjectAltName={subjects}\n")
        _run(
            folder,
            *("openssl", "x509", "-req", "-in", "tls.csr", "-days", str(DAYS)),
            *("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"),
            *("-extfile", "extensions", "-out", "tls.crt"),
        )
        return Certificate(*((folder / f).read_text() for f in ("ca.crt", "tls.crt", "tls.key")))


def _subject(name: str) -> str:
    try:
        return f"IP:{ipaddress.ip_address(name)}"
    except ValueError:
        return f"DNS:{name}"


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
