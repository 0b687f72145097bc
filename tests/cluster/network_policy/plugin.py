"""CNI plugin of the local cluster, chained after `bridge`: a pod starts only when its rules hold.

Copied to where containerd looks for plugins, with an interpreter's first line before this text. It
imports only the standard library, and of that little: it is started for every pod.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from typing import Any

TIMEOUT = 15.0
VERSIONS = ["0.3.0", "0.3.1", "0.4.0", "1.0.0"]
# Codes of the CNI specification.
INVALID_CONFIGURATION = 7
TRY_AGAIN_LATER = 11


class PluginError(Exception):
    """What the container runtime is told: a code, and words for the pod's events."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


def main() -> int:
    config = json.load(sys.stdin)
    version = config.get("cniVersion", VERSIONS[0])
    try:
        answer = run(os.environ["CNI_COMMAND"], config, dict(os.environ))
    except PluginError as error:
        print(json.dumps({"cniVersion": version, "code": error.code, "msg": str(error)}))
        return 1
    if answer is not None:
        print(json.dumps({"cniVersion": version, **answer}))
    return 0


def run(command: str, config: Any, environment: dict[str, str]) -> Any:
    """What is to be printed, if anything."""
    if command == "VERSION":
        return {"supportedVersions": VERSIONS}
    request = {"command": command, "container": environment["CNI_CONTAINERID"]}
    if command == "DEL":
        with contextlib.suppress(PluginError):  # a pod must be able to end without the engine
            ask(config["socket"], request)
        return None
    result = config.get("prevResult")
    if result is None:
        message = "bernstein-network-policy has to come after a plugin that gives addresses"
        raise PluginError(INVALID_CONFIGURATION, message)
    pairs = (pair.partition("=") for pair in environment.get("CNI_ARGS", "").split(";"))
    arguments = {name: value for name, _, value in pairs}
    request["namespace"] = arguments.get("K8S_POD_NAMESPACE", "")
    request["name"] = arguments.get("K8S_POD_NAME", "")
    request["uid"] = arguments.get("K8S_POD_UID", "")
    addresses = (entry["address"].partition("/")[0] for entry in result.get("ips", ()))
    ask(config["socket"], {**request, "addresses": [a for a in addresses if ":" not in a]})
    return result if command == "ADD" else None


def ask(path: str, request: Any) -> None:
    """Tell the engine, and wait until it has done what follows; PluginError if it has not."""
    answer = b""
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(TIMEOUT)
            connection.connect(path)
            connection.sendall(json.dumps(request).encode() + b"\n")
            while not answer.endswith(b"\n") and (part := connection.recv(65536)):
                answer += part
    except OSError as error:
        message = f"the network policy engine does not answer at {path}: {error}"
        raise PluginError(TRY_AGAIN_LATER, message) from error
    if not answer.endswith(b"\n"):
        raise PluginError(TRY_AGAIN_LATER, "the network policy engine ended before it answered")
    if refusal := json.loads(answer)["error"]:
        raise PluginError(TRY_AGAIN_LATER, f"network policies are not enforced: {refusal}")


if __name__ == "__main__":
    sys.exit(main())
