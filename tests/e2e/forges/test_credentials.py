"""What containers of real pods can read of credentials, with a repository that is reached by SSH.

Each that runs long enough is looked into: files of its volumes, and the environments and command
lines of its processes. Of all others the pods are read as they were admitted. With https all are
looked into, in `inside/test_every_pod.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.background import wait_for
from tests.e2e.conftest import EXISTS, Object, condition, does
from tests.e2e.forges.conftest import MakeTeam, Team
from tests.e2e.forges.inside.container import Container, needs_root, running
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
CALLBACK = "token for bernstein.dev/callback"

EXPECTED: dict[tuple[str, str], set[str]] = {
    ("agent", "checkout"): {"git-read/ssh-privatekey", "git-read/known_hosts"},
    ("agent", "pusher"): {"git-work/ssh-privatekey", "git-work/known_hosts"},
    ("agent", "recorder"): {CALLBACK},
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
    needs_root()
    here = team([does("new", WAITS)], ssh=True)
    here.plan("shop", STAGES)
    pod = _running(here, "agent")

    assert _found(here, pod, "agent") == set()
    assert _found(here, pod, "recorder") == {CALLBACK}
    assert _found(here, pod, "pusher") == {"work"}

    key = {"a private key": "OPENSSH PRIVATE KEY"}
    assert _inside(here, pod, "pusher").holds(key).keys() == {"a private key"}
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


def _inside(here: Team, pod: str, container: str) -> Container:
    uid = here.get("pod", pod)["metadata"]["uid"]
    (found,) = (each for each in running() if (each.pod, each.name) == (uid, container))
    return found


def _found(here: Team, pod: str, container: str) -> set[str]:
    return {*_inside(here, pod, container).holds(here.secrets)}


def _containers(pod: Object) -> Iterator[Any]:
    yield from pod["spec"].get("initContainers", ())
    yield from pod["spec"]["containers"]
