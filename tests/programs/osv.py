"""A database of weaknesses that answers as OSV's does.

`osv.py FOLDER PORT`: for everybody, over TLS, with the folder's `tls.crt` and `tls.key`. It imports
nothing of ours, so that it runs wherever Python does.
"""

from __future__ import annotations

import json
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

SEVERITY = {"GHSA-leak": "HIGH", "GHSA-slow": "LOW", "PYSEC-odd": None}
_ALIASES = {"PYSEC-leak": ["GHSA-leak"]}
_OF = {
    ("leaky", "1.0"): ["PYSEC-leak"],
    ("leaky", "1.1"): ["PYSEC-leak"],
    ("slow", "1.0"): ["GHSA-slow"],
    ("odd", "1.0"): ["PYSEC-odd"],
}


class _Answers(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = (asked["package"]["name"], asked["version"])
        found = [_record(name, key[0]) for name in _OF.get(key, ())]
        self._answer(200, {"vulns": found} if found else {})

    def do_GET(self) -> None:
        name = self.path.rpartition("/")[2]
        known = name in SEVERITY or name in _ALIASES
        self._answer(200 if known else 404, _record(name, "") if known else {})

    def _answer(self, status: int, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing: the output is the test's."""


def _record(name: str, package: str) -> dict[str, Any]:
    events = [{"introduced": "0"}, {"fixed": "2.0"}]
    affected = {
        "package": {"name": package, "ecosystem": "PyPI"},
        "ranges": [{"type": "ECOSYSTEM", "events": events}],
    }
    severity = SEVERITY.get(name)
    return {
        "id": name,
        "aliases": _ALIASES.get(name, []),
        "summary": "It leaks.",
        "affected": [affected],
        **({"database_specific": {"severity": severity}} if severity else {}),
    }


@contextmanager
def serving(tls: Path | None = None) -> Iterator[str]:
    """The address at which it is asked on this machine; `tls`: folder of its certificate."""
    server = _server("127.0.0.1", 0, tls)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        scheme = "http" if tls is None else "https"
        yield f"{scheme}://127.0.0.1:{server.server_address[1]}/v1/query"
    finally:
        server.shutdown()
        server.server_close()


def _server(host: str, port: int, tls: Path | None) -> ThreadingHTTPServer:
    server = ThreadingHTTPServer((host, port), _Answers)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls / "tls.crt", tls / "tls.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    return server


if __name__ == "__main__":
    _server("", int(sys.argv[2]), Path(sys.argv[1])).serve_forever()
