"""From the last release to this one and back, in pods: those of one are at work while the operator
and the server become the other's.

The last release is what `tests/releases` keeps: its chart, and an image with its modules.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from bernstein.core import labels
from tests import releases
from tests.background import wait_for
from tests.cluster.control_plane import audit
from tests.cluster.control_plane.audit import Write
from tests.demo.manifests import GitServer
from tests.e2e.conftest import SLOWNESS, World, does
from tests.e2e.release.conftest import Object, Team, put_up
from tests.releases import image
from tests.stack import SYSTEM, Stack

OF_THE_LAST = "bernstein:last"
STEPS = ("forth", "back")
"""Each is a stage, whose agent goes on when the test says so."""
TOLD = {"usage": {"input": 1000, "output": 100}}
KINDS = (
    "agentsessions.bernstein.dev",
    "approvals.bernstein.dev",
    "plans.bernstein.dev",
    "projects.bernstein.dev",
    "tasks.bernstein.dev",
)


@pytest.fixture
def last(carried: Stack, dist: Path, version: str, tmp_path: Path) -> Stack:
    """Nothing but the last release is there."""
    archive = tmp_path / "last.tar"
    image.write(dist / f"images/bernstein-{version}.tar", releases.last(), OF_THE_LAST, archive)
    carried.cluster.load_images([str(archive)])
    archive.unlink()
    _clear(carried)
    _, _, tag = OF_THE_LAST.partition(":")
    put_up(carried, releases.last().chart, f"image.tag={tag}")
    return carried


def _clear(stack: Stack) -> None:
    """As the page on uninstalling has it."""
    if not stack.run("helm", "list", "--short", "-n", SYSTEM):
        return
    stack.kubectl("delete", "plans.bernstein.dev,tasks.bernstein.dev", "--all", "-A")
    left = "tasks.bernstein.dev,agentsessions.bernstein.dev"
    wait_for(lambda: not stack.kubectl("get", left, "-A", "-o", "name"))
    stack.kubectl("delete", "projects.bernstein.dev", "--all", "-A")
    stack.run("helm", "uninstall", "bernstein", "-n", SYSTEM)
    stack.kubectl("delete", "crd", *KINDS)


def _waits(server: GitServer, step: str) -> Object:
    """The agent goes on when the repository has a ref of that name."""
    address = server.url("r0").replace("://", f"://read:{server.passwords['read']}@")
    asks = f"git -c http.sslVerify=false ls-remote --exit-code {address} {_ref(step)}"
    until = f"until {asks} >/dev/null 2>&1; do sleep 1; done"
    write = {"write": {"path": f"{step}.py", "content": "X = 1\n"}}
    return does(step, {"steps": [TOLD, {"run": until}, TOLD, write], "text": "done"})


def _ref(step: str) -> str:
    return f"refs/heads/go/{step}"


def test_a_plan_goes_through_an_upgrade_and_back_in_pods_and_nothing_runs_twice(
    last: Stack, chart: Path, version: str, team: Team
) -> None:
    server = GitServer.new("goes-on")
    here = team(server, *(_waits(server, step) for step in STEPS), gates=False)
    here.plan("shop", [{"name": step, "steps": [_step(step)]} for step in STEPS])

    old = _at_work(here, "forth", OF_THE_LAST)
    put_up(last, chart)
    assert _at_work(here, "forth", OF_THE_LAST) == old, "it runs on"
    _go_on(here, "forth")

    new = _at_work(here, "back", f"bernstein:{version}")
    _heard_to_the_end(here, "forth")
    last.run("helm", "rollback", "bernstein", "1", "-n", SYSTEM, "--wait", "--timeout", "3m")
    assert _at_work(here, "back", f"bernstein:{version}") == new
    _go_on(here, "back")

    plan = here.await_("plan", "shop", lambda p: p["status"].get("endedAt"))
    assert plan["status"]["phase"] == "Succeeded"
    _heard_to_the_end(here, "back")
    assert {f"{step}.py" for step in STEPS} <= set(here.files())
    _each_ran_once(here)


def _step(title: str) -> Object:
    signal = {"type": "path_exists", "path": f"{title}.py"}
    return {"title": title, "completionSignals": [signal]}


def _session(here: World, step: str) -> Object:
    (found,) = (s for s in here.all("agentsessions") if _task(step) in s["metadata"]["name"])
    return found


def _task(step: str) -> str:
    return f"shop-{step}-{step}"


def _at_work(here: World, step: str, image: str) -> str:
    """UID of the pod in which the agent waits, whose programs of ours are of that image."""
    found: list[str] = []

    def at_work() -> bool:
        found[:] = [
            pod["metadata"]["uid"]
            for pod in here.all("pods")
            if pod["metadata"]["labels"].get(labels.JOB) == "agent"
            and pod["metadata"]["labels"].get(labels.TASK) == _task(step)
            and _runs(pod, "agent")
            and _image(pod, "recorder") == image
        ]
        return bool(found)

    wait_for(at_work, 120 * SLOWNESS)
    (uid,) = found
    return uid


def _runs(pod: Object, container: str) -> bool:
    status = pod.get("status", {})
    both = (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ()))
    return any(each["name"] == container and "running" in each["state"] for each in both)


def _image(pod: Object, container: str) -> str:
    both = (*pod["spec"].get("initContainers", ()), *pod["spec"]["containers"])
    (found,) = (each["image"] for each in both if each["name"] == container)
    return str(found)


def _go_on(here: World, step: str) -> None:
    here.on_server("update-ref", _ref(step), "refs/heads/main")


def _heard_to_the_end(here: World, step: str) -> None:
    """What the pod said when the other release was there already: to the server, and at its end."""
    status = _session(here, step)["status"]
    said = 2 * TOLD["usage"]["input"]
    assert (status["report"]["finished"], status["report"]["usage"]["input"]) == (True, said)
    assert (status["outcome"]["reason"], status["usage"]["input"]) == ("Succeeded", said)


def _each_ran_once(here: World) -> None:
    """Each Task has one session, and each piece of work one Job, which has one pod."""
    tasks, sessions = here.all("tasks"), [s["metadata"]["name"] for s in here.all("agentsessions")]
    tried = [attempt["session"] for task in tasks for attempt in task["status"]["attempts"]]
    assert len(tasks) == len(STEPS)
    assert sorted(tried) == sorted(sessions) == sorted(f"{_task(step)}-s1" for step in STEPS)

    made = [w for w in here.writes() if (w.verb, w.code) == ("create", 201)]
    assert [each for each, times in _times(made).items() if times > 1] == []
    jobs = [write.name for write in made if write.resource == "jobs"]
    works = Counter(re.sub(r"-[0-9]+$", "", name) for name in jobs if "shop-" in name)
    assert [each for each, times in works.items() if times > 1] == []
    assert {f"{_task(step)}-s1{kind}" for step in STEPS for kind in ("", "-land")} <= set(works)
    pods = [w for w in _all_writes(here) if (w.verb, w.code, w.resource) == ("create", 201, "pods")]
    assert len([write for write in pods if write.user.endswith(":job-controller")]) == len(jobs)


def _times(made: Iterable[Write]) -> Counter[tuple[str, str]]:
    return Counter((write.resource, write.name) for write in made)


def _all_writes(here: World) -> Iterator[Write]:
    log = Path(here.stack.cluster.status().audit_log)
    return (w for w in audit.writes(log) if w.namespace == here.namespace and not w.subresource)
