"""CNI plugin of the local cluster, chained after `bridge`: a pod starts only when its rules hold.

Copied to where containerd looks for plugins, with an interpreter's first line before this text. It
is started twice and more for every pod, and imports of the standard library only what is written in
C: to load `json` and `socket`, with all that these import, took twice as long as all else.
"""

from __future__ import annotations

import os
import sys
from _json import encode_basestring_ascii, make_encoder, make_scanner
from _socket import AF_UNIX
from _socket import socket as new_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
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
    config = loads(sys.stdin.read())
    version = config.get("cniVersion", VERSIONS[0])
    command = os.environ["CNI_COMMAND"]
    try:
        answer = run(command, config, dict(os.environ))
    except PluginError as error:
        if command == "DEL":  # a pod must be able to end without the engine
            return 0
        print(dumps({"cniVersion": version, "code": error.code, "msg": str(error)}))
        return 1
    if answer is not None:
        print(dumps({"cniVersion": version, **answer}))
    return 0


def run(command: str, config: Any, environment: dict[str, str]) -> Any:
    """What is to be printed, if anything."""
    if command == "VERSION":
        return {"supportedVersions": VERSIONS}
    request = {"command": command, "container": environment["CNI_CONTAINERID"]}
    if command == "DEL":
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
    connection = new_socket(AF_UNIX)
    try:
        connection.settimeout(TIMEOUT)
        connection.connect(path)
        connection.sendall(dumps(request).encode() + b"\n")
        while not answer.endswith(b"\n") and (part := connection.recv(65536)):
            answer += part
    except OSError as error:
        message = f"the network policy engine does not answer at {path}: {error}"
        raise PluginError(TRY_AGAIN_LATER, message) from error
    finally:
        connection.close()
    if not answer.endswith(b"\n"):
        raise PluginError(TRY_AGAIN_LATER, "the network policy engine ended before it answered")
    if refusal := loads(answer.decode())["error"]:
        raise PluginError(TRY_AGAIN_LATER, f"network policies are not enforced: {refusal}")


class _Reading:
    """How `json.loads` reads."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def loads(text: str) -> Any:
    """As `json.loads` of an object."""
    return make_scanner(_Reading())(text.strip(), 0)[0]  # type: ignore[arg-type]


def dumps(value: Any) -> str:
    """As `json.dumps`."""
    encode = make_encoder({}, str, encode_basestring_ascii, None, ": ", ", ", False, False, False)
    return "".join(encode(value, 0))


if __name__ == "__main__":
    sys.exit(main())
