"""The endpoint of a forge at which apps get tokens, and nothing else of it; played in a pod.

As GitHub documents it: POST /app/installations/ID/access_tokens, signed by the app's key.
"""

from __future__ import annotations

import base64
import json
import ssl
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_public_key

FOLDER = Path("/etc/app-server")
"""With `tls.crt`, `tls.key`, and `ID.pem` of each app: the public half of its key."""
PORT = 6443
"""That the example's NetworkPolicy lets the minter reach."""
HOLD = Path("/tmp/hold")
"""While it is there nobody is answered."""
INSTALLATIONS = {"1234567": "12345678", "1234568": "12345679"}
"""The one of each app."""


def signed_by(token: str) -> str | None:
    """The app that has signed this; None: nobody that is known."""
    head, claims, signature = token.split(".")
    app = str(json.loads(_decoded(claims))["iss"])
    key = load_pem_public_key((FOLDER / f"{app}.pem").read_bytes())
    assert isinstance(key, RSAPublicKey)
    try:
        key.verify(_decoded(signature), f"{head}.{claims}".encode(), PKCS1v15(), SHA256())
    except InvalidSignature:
        return None
    return app


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        while HOLD.exists():
            time.sleep(0.1)
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        app = signed_by(self.headers["authorization"].removeprefix("Bearer "))
        wanted = f"/api/v3/app/installations/{INSTALLATIONS.get(app or '')}/access_tokens"
        if app is None or self.path != wanted:
            self._answer(401, {"message": "A JSON web token could not be decoded"})
            return
        # With its end in one piece: others print at the same time.
        print(json.dumps({"app": app, **body}) + "\n", end="", flush=True)
        may = body["permissions"]
        told = {
            "token": "ghs_"
            + "-".join((app, *sorted(f"{what}-{how}" for what, how in may.items()))),
            "expires_at": "2035-07-11T22:14:10Z",
            "permissions": may | {"metadata": "read"},
            "repository_selection": "selected",
            "repositories": [{"full_name": f"team-a/{name}"} for name in body["repositories"]],
        }
        self._answer(201, told)

    def _answer(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Nothing."""


def main() -> None:
    server = ThreadingHTTPServer(("", PORT), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(FOLDER / "tls.crt", FOLDER / "tls.key")
    # Not while it accepts: who only connects would keep all others waiting.
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    server.serve_forever()


if __name__ == "__main__":
    main()
