"""The few calls to the API server that bringing a cluster up needs, as its administrator."""

from __future__ import annotations

import http.client
import json
import ssl
from typing import Any

from tests.cluster.errors import ClusterError
from tests.cluster.layout import Layout


class ApiClient:
    """HTTPS with the administrator's certificate; one connection per call."""

    def __init__(self, layout: Layout, timeout: float = 5) -> None:
        self._address = layout.address
        self._port = layout.ports["kube-apiserver"]
        self._timeout = timeout
        self._tls = ssl.create_default_context(cafile=str(layout.pki / "ca.crt"))
        self._tls.load_cert_chain(layout.pki / "admin.crt", layout.pki / "admin.key")

    def request(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """Status and body; OSError or HTTPException when nobody answers."""
        connection = http.client.HTTPSConnection(
            self._address, self._port, timeout=self._timeout, context=self._tls
        )
        try:
            payload = None if body is None else json.dumps(body)
            connection.request(method, path, payload, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def answers(self, path: str) -> bool:
        """Whether the server answers 200 to a GET."""
        return self.get_json(path) is not None

    def get_json(self, path: str) -> Any:
        """The object at `path` ({} if the answer is no JSON); None when it cannot be had."""
        try:
            status, body = self.request("GET", path)
        except (OSError, http.client.HTTPException):
            return None
        if status != 200:
            return None
        try:
            return json.loads(body)
        except ValueError:
            return {}

    def create(self, path: str, body: object) -> None:
        """Create an object that may exist already; ClusterError ApiRefused otherwise."""
        status, answer = self.request("POST", path, body)
        if status not in (200, 201, 409):
            raise ClusterError(
                "ApiRefused",
                f"POST {path} was answered {status}: {answer.decode(errors='replace')[:500]}",
                "look into the API server's log",
            )


# Controller manager and scheduler serve with certificates they made themselves.
_UNVERIFIED = ssl.create_default_context()
_UNVERIFIED.check_hostname = False
_UNVERIFIED.verify_mode = ssl.CERT_NONE


def plain_health(address: str, port: int, path: str, *, tls: bool) -> bool:
    """Whether a component's own health endpoint answers 200."""
    connection: http.client.HTTPConnection
    if tls:
        connection = http.client.HTTPSConnection(address, port, timeout=2, context=_UNVERIFIED)
    else:
        connection = http.client.HTTPConnection(address, port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
