"""What containers of real pods can read of credentials, with a repository that is reached by SSH.

Each that runs long enough is looked into: files of its volumes, and the environments and command
lines of its processes. Of all others the pods are read as they were admitted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.background import wait_for
from tests.e2e.conftest import EXISTS, Object, condition, does
from tests.e2e.forges.conftest import MakeTeam, Team
from tests.unit.controllers.jobs.credentials import held

GO = "until [ -e /tmp/go ]; do sleep 0.2; done"
WAITS: Object = {
    "steps": [
        {"run": GO},
        {"usage": {"input": 1000, "output": 100}},
        {"write": {"path": "new.py", "content": "X = 1\n"}},
    ],
    "text": "done",
}
STAGES: list[Object] = [
    {"name": "build", "steps": [{"title": "new", "completionSignals": [EXISTS]}]}
]
TOKEN = re.compile(rb"eyJ[\w-]{20,}\.eyJ[\w-]{20,}\.[\w-]{20,}")
"""As Kubernetes makes them for pods."""
NOT_OURS = ("proc", "sysfs", "cgroup", "cgroup2", "mqueue", "devpts")
"""Kinds of mounts that every container has, and that no volume is of."""
MOST = 1 << 19
"""Bytes of a file that is read: credentials are small."""

EXPECTED: dict[tuple[str, str], set[str]] = {
    ("agent", "checkout"): {"git-read/ssh-privatekey", "git-read/known_hosts"},
    ("agent", "pusher"): {"git-work/ssh-privatekey", "git-work/known_hosts"},
    ("agent", "recorder"): {"token for bernstein.dev/callback"},
    ("check", "checkout"): {"git-read/ssh-privatekey", "git-read/known_hosts"},
    ("inspect", "checkout"): {"git-read/ssh-privatekey", "git-read/known_hosts"},
    ("begin", "begin"): {"git-work/ssh-privatekey", "git-work/known_hosts"},
    ("prepare", "prepare"): {"git-work/ssh-privatekey", "git-work/known_hosts"},
    ("land", "land"): {"git-deliver/ssh-privatekey", "git-deliver/known_hosts"},
    ("propose", "propose"): {"forge-token/token"},
    ("watch", "watch"): {"forge-token/token"},
    ("listen", "listen"): {"forge-token/token"},
}
"""By the label of the Job and the container; one that is not here has nothing."""


def test_in_real_pods_each_container_finds_the_credential_that_it_should_and_no_other(
    team: MakeTeam,
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root sees the processes of containers")
    here = team([does("new", WAITS)], ssh=True)
    here.plan("shop", STAGES)
    pod = _running(here, "agent")

    assert _found(here, pod, "agent") == set()
    assert _found(here, pod, "recorder") == {"a token"}
    assert _found(here, pod, "pusher") == {"work"}

    assert b"OPENSSH PRIVATE KEY" in _inside(here, pod, "pusher"), "files of Secrets are read"
    here.kubectl("exec", pod, "-c", "agent", "--", "touch", "/tmp/go")
    here.await_(
        "plan", "shop", lambda p: p["status"]["delivery"]["state"] == "PullRequestOpen", 240
    )
    assert _found(here, _running(here, "watch"), "watch") == {"forge"}

    kinds = set()
    for each in here.all("pods"):
        kind = each["metadata"]["labels"]["bernstein.dev/job"]
        kinds.add(kind)
        for container in _containers(each):
            expected = EXPECTED.get((kind, container["name"]), set())
            assert set(held(each["spec"], container)) == expected, (kind, container["name"])
    assert {"agent", "begin", "land", "propose", "watch"} <= kinds


def test_a_plan_is_delivered_over_ssh_and_a_key_that_is_too_strong_is_told(team: MakeTeam) -> None:
    here = team([does("new", {**WAITS, "steps": WAITS["steps"][1:]})], ssh=True)
    here.plan("shop", STAGES)
    plan = here.await_(
        "plan", "shop", lambda p: p["status"]["delivery"]["state"] == "PullRequestOpen", 240
    )
    here.merge(plan["status"]["delivery"]["pullRequest"]["number"])
    here.await_("plan", "shop", lambda p: p["status"]["phase"] == "Succeeded", 90)
    assert "new.py" in here.files()

    project = here.all("projects")[0]
    strong = condition(project, "WorkCredentialTooStrong")
    assert strong["reason"] == "MayPush", "nothing protects the branch"


def _running(here: Team, kind: str) -> str:
    """The name of the pod of such a Job, once its main container runs."""
    found: list[str] = []

    def look() -> bool:
        found[:] = [
            pod["metadata"]["name"]
            for pod in here.all("pods")
            if pod["metadata"]["labels"].get("bernstein.dev/job") == kind
            and pod["status"].get("phase") == "Running"
        ]
        return bool(found)

    wait_for(look, 180)
    return found[0]


def _inside(here: Team, pod: str, container: str) -> bytes:
    """All that is in its volumes, and what its processes were started with; seen from the node:
    nobody may connect to a container of ours."""
    status = here.get("pod", pod)["status"]
    each = [*status["containerStatuses"], *status.get("initContainerStatuses", ())]
    (uid,) = (c["containerID"].rpartition("/")[2] for c in each if c["name"] == container)
    processes = [p for p in Path("/proc").glob("[0-9]*") if uid in _read(p / "cgroup").decode()]
    assert processes, "it does not run on this machine"
    told = [_read(process / name) for process in processes for name in ("environ", "cmdline")]
    return b"\0".join([*told, *_files(processes[0])])


def _files(process: Path) -> Iterator[bytes]:
    rows = [row.split(" ") for row in (process / "mounts").read_text().splitlines()]
    places = [at for _, at, kind, *_ in rows if kind not in NOT_OURS]
    volumes = [at for at in places if at != "/" and not at.startswith(("/proc", "/sys", "/dev"))]
    assert volumes
    for at in volumes:
        root = Path(f"{process}/root{at}")
        for file in [root] if root.is_file() else root.rglob("*"):
            if file.is_file() and not file.is_symlink() and file.stat().st_size < MOST:
                yield _read(file)


def _read(file: Path) -> bytes:
    """What has gone meanwhile is empty."""
    try:
        return file.read_bytes()
    except OSError:
        return b""


def _found(here: Team, pod: str, container: str) -> set[str]:
    read = _inside(here, pod, container)
    found = {name for name, value in here.secrets.items() if value.encode() in read}
    return found | ({"a token"} if TOKEN.search(read) else set())


def _containers(pod: Object) -> Iterator[Any]:
    yield from pod["spec"].get("initContainers", ())
    yield from pod["spec"]["containers"]
