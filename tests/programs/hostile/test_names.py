"""A Service `com` of the namespace with a pod named `github`, to be `github.com` for our pods.

What a name is looked up as, the C library of a container decides, by the file that the kubelet
writes for its pod. Here it does so in a namespace of its own, with a name server that answers as
the cluster's would. The attack is first seen to work with what every pod has.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.controllers.jobs.built import JOBS

pytestmark = pytest.mark.verification

ATTACKER, FORGE = "10.0.0.66", "192.0.2.1"
SEARCHED = ("team.svc.cluster.local", "svc.cluster.local", "cluster.local")
ANSWERS = {"github.com.team.svc.cluster.local": ATTACKER, "github.com": FORGE}
OF_THE_CLUSTER = {"ndots": "5"}
"""Options of a pod that says nothing of its own."""
APART = ["unshare", "--mount", "--net", *(["--map-root-user"] if os.geteuid() else [])]

LOOKS_UP = f"""
import fcntl, socket, struct, subprocess, sys, threading

with socket.socket() as any_socket:  # the loopback of a new namespace is down
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14s", b"lo", 1, b""))
subprocess.run(["mount", "--bind", sys.argv[1], "/etc/resolv.conf"], check=True)
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))

def answer():
    while True:
        asked, client = server.recvfrom(512)
        end = asked.index(0, 12) + 5
        parts, at = [], 12
        while asked[at]:
            parts.append(asked[at + 1 : at + 1 + asked[at]].decode())
            at += asked[at] + 1
        address = {ANSWERS!r}.get(".".join(parts))
        is_a = asked[end - 4 : end - 2] == b"\\0\\1"
        code = b"\\x81\\x80" if address else b"\\x81\\x83"
        found = b""
        if address and is_a:
            found = b"\\xc0\\x0c\\0\\1\\0\\1\\0\\0\\0\\x1e\\0\\4" + socket.inet_aton(address)
        count = struct.pack("!HHHH", 1, 1 if found else 0, 0, 0)
        server.sendto(asked[:2] + code + count + asked[12:end] + found, client)

threading.Thread(target=answer, daemon=True).start()
print(socket.gethostbyname("github.com"))
"""


def github(options: dict[str, str], folder: Path) -> str:
    """The address that a container of a pod with these options finds for `github.com`."""
    said = " ".join(f"{name}:{value}" for name, value in options.items())
    file = folder / "resolv.conf"
    file.write_text(f"nameserver 127.0.0.1\nsearch {' '.join(SEARCHED)}\noptions {said}\n")
    done = subprocess.run(
        [*APART, sys.executable, "-c", LOOKS_UP, str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("job", ["begin", "land", "inspect"])
def test_no_service_of_the_namespace_is_the_git_server_for_our_pods(
    job: str, tmp_path: Path
) -> None:
    assert github(OF_THE_CLUSTER, tmp_path) == ATTACKER, "with what every pod has"

    own = JOBS[job]["spec"]["template"]["spec"]["dnsConfig"]["options"]
    options = OF_THE_CLUSTER | {each["name"]: each["value"] for each in own}
    assert github(options, tmp_path) == FORGE
