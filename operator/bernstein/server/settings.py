"""Settings of the server process: flags, else environment variables."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bernstein.observe.logging import LEVELS

PREFIX = "BERNSTEIN_SERVER_"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    host: str
    port: int
    tls_cert: Path | None
    tls_key: Path | None
    namespaces: tuple[str, ...]
    kubeconfig: str | None
    log_level: str


def read(arguments: Sequence[str], environment: Mapping[str, str]) -> ServerSettings:
    """The settings; ends the process with code 2 and a usage message where they make no sense."""
    parser = _parser(environment)
    given = parser.parse_args(arguments)
    if bool(given.tls_cert) != bool(given.tls_key):
        parser.error("--tls-cert and --tls-key belong together")
    return ServerSettings(
        host=given.host,
        port=given.port,
        tls_cert=Path(given.tls_cert) if given.tls_cert else None,
        tls_key=Path(given.tls_key) if given.tls_key else None,
        namespaces=tuple(name for name in given.namespaces.split(",") if name),
        kubeconfig=given.kubeconfig or None,
        log_level=given.log_level,
    )


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m bernstein.server",
        description="Receives the callbacks of agents' pods. "
        f"Every flag can be given as an environment variable {PREFIX}<FLAG>.",
    )

    def add(flag: str, default: str, text: str, **more: object) -> None:
        variable = PREFIX + flag.upper().replace("-", "_")
        value = environment.get(variable, default)
        parser.add_argument(f"--{flag}", default=value, help=text, **more)  # type: ignore[arg-type]

    add("host", "0.0.0.0", "address to listen on")  # noqa: S104 - the pod's network policy decides
    add("port", "8052", "port to listen on; 0 takes a free one", type=int)
    add("tls-cert", "", "PEM file with certificate and chain; without it plain HTTP is spoken")
    add("tls-key", "", "PEM file with the certificate's key")
    add("namespaces", "", "comma-separated namespaces whose sessions report here; empty = all")
    add("kubeconfig", "", "kubeconfig; without it the pod's own account, or the default kubeconfig")
    add("log-level", "info", f"one of {', '.join(LEVELS)}", choices=LEVELS)
    return parser
