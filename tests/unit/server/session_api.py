"""The API server of the kube tests, which beside that answers reviews of tokens and of access."""

import base64
import copy
import json
import re
from typing import Any

from bernstein.api.pod import AUDIENCE
from bernstein.kube.resource import Object
from bernstein.resources import SESSIONS
from tests.unit.kube.apiserver import ApiServer, Call

NOW = 1_750_000_000.0


def token(signature: str = "good", *, audience: str = AUDIENCE, expires: float = NOW + 3600) -> str:
    """Looks like a projected token; the API server below looks at its signature only."""

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    encoded = base64.urlsafe_b64encode(signature.encode()).decode().rstrip("=")
    return f"{part({'alg': 'RS256'})}.{part({'aud': [audience], 'exp': expires})}.{encoded}"


def proof(namespace: str, pod: str, uid: str) -> Object:
    """Status of a TokenReview that proves a pod."""
    return {
        "authenticated": True,
        "audiences": [AUDIENCE],
        "user": {
            "username": f"system:serviceaccount:{namespace}:agent",
            "extra": {
                "authentication.kubernetes.io/pod-name": [pod],
                "authentication.kubernetes.io/pod-uid": [uid],
            },
        },
    }


class SessionApi(ApiServer):
    def __init__(self) -> None:
        super().__init__()
        self.proofs: dict[str, Object] = {token(): proof("team", "pod-1", "uid-1")}
        self.denied: set[str] = set()

    def _answer(self, call: Call, match: re.Match[str], content_type: str) -> object:
        if call.plural == "tokenreviews":
            refused = {"authenticated": False, "error": "invalid bearer token"}
            return {"status": self.proofs.get(call.body["spec"]["token"], refused)}
        if call.plural == "selfsubjectaccessreviews":
            wish = call.body["spec"]["resourceAttributes"]
            return {"status": {"allowed": wish["resource"] not in self.denied}}
        return super()._answer(call, match, content_type)

    def session(self, name: str = "fix-s1", **status: Any) -> None:
        """Makes or replaces a running session of pod-1."""
        pod = {"name": "pod-1", "uid": "uid-1"}
        known = self._objects.get((SESSIONS.plural, "team", name), {})
        self.put(
            SESSIONS,
            name,
            "team",
            spec=copy.deepcopy(known.get("spec") or SPEC),
            status={"state": "Working", "pod": pod, **status},
        )

    def stop(self, reason: str, name: str = "fix-s1") -> None:
        spec = {**self.get(SESSIONS, name, "team")["spec"], "stop": {"reason": reason}}
        self.put(SESSIONS, name, "team", spec=spec)

    def report(self, name: str = "fix-s1") -> Any:
        return self.get(SESSIONS, name, "team")["status"].get("report")

    @property
    def applied(self) -> list[Call]:
        return [call for call in self.calls if call.verb == "PATCH"]


SPEC = {
    "taskRef": {"name": "fix", "uid": "task-uid"},
    "project": "default",
    "attempt": 1,
    "number": 1,
    "agent": "demo",
    "adapter": "demo",
    "model": "sonnet",
    "effort": "normal",
    "baseRef": "refs/bernstein/abc/integration",
    "workRef": "refs/bernstein/abc/fix/s1",
    "timeoutSeconds": 1800,
}
