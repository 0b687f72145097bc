"""Causes outside the agent: one clear condition, one pod, nothing merged; mended, it goes on."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.e2e.conftest import MakeWorld, Object, World, condition, does, state, writing

GOOD = does("good", writing("new.py", "X = 1\n"))


def _secret(spec: Object) -> None:
    spec["repositories"][0]["credentials"]["read"]["secretName"] = "absent"


def _work_secret(spec: Object) -> None:
    spec["repositories"][0]["credentials"]["work"]["secretName"] = "absent"


def _unreachable(spec: Object) -> None:
    spec["repositories"][0]["url"] = "https://nowhere.invalid/app.git"


def _key(spec: Object) -> None:
    spec["repositories"][0]["credentials"]["read"]["secretName"] = "without-password"


def _password(spec: Object) -> None:
    spec["repositories"][0]["credentials"]["read"]["secretName"] = "wrong-password"


SECRETS = {
    "without-password": {"username": "read"},
    "wrong-password": {"username": "read", "password": "of somebody else"},
}


def _image(spec: Object) -> None:
    spec["agents"][0]["image"] = "bernstein-absent:none"


CAUSES: list[Any] = [
    pytest.param(_secret, "SecretNotFound", "absent", id="missing-secret"),
    pytest.param(_work_secret, "SecretNotFound", "absent", id="missing-work-secret"),
    pytest.param(_key, "SecretNotFound", "without-password", id="missing-key"),
    pytest.param(_password, "RepositoryAuthFailed", "git-server", id="wrong-password"),
    pytest.param(_unreachable, "RepositoryUnreachable", "nowhere.invalid", id="unreachable"),
    pytest.param(_image, "ImagePullFailed", "bernstein-absent:none", id="missing-image"),
]


@pytest.mark.parametrize(("breaks", "reason", "names"), CAUSES)
def test_a_task_says_what_is_missing_and_how_to_mend_it(
    world: MakeWorld, breaks: Callable[[Object], None], reason: str, names: str
) -> None:
    here = world([GOOD], breaks)
    before = here.tip()
    here.apply(*(_basic_auth(name, data) for name, data in SECRETS.items()))
    here.task("good")
    task = here.stalled("task", "good", reason)
    stalled = condition(task, "Stalled")
    assert names in stalled["message"]
    assert "Remedy:" in stalled["message"]
    assert state(task) == "Open"
    assert task["status"]["attempt"] == 0
    assert task["status"]["waiting"]["reason"] == reason
    # What a new pod alone shows is looked at every few seconds.
    assert 1 <= _sessions(here) <= 2
    assert here.tip() == before


def _basic_auth(name: str, data: Object) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name},
        "stringData": data,
    }


def test_a_task_goes_on_within_seconds_when_its_secret_is_created(world: MakeWorld) -> None:
    here = world([GOOD], _secret)
    read = here.project["spec"]["repositories"][0]["credentials"]["work"]["secretName"]
    here.task("good")
    here.stalled("task", "good", "SecretNotFound")
    there = here.get("secret", read)
    here.apply({**_basic_auth("absent", {}), "data": there["data"]})
    mended = time.monotonic()
    here.await_("task", "good", lambda task: state(task) in ("InProgress", "Done", "Closed"))
    # Noticed within 15 s; then its pod is made, and its checkout runs.
    assert time.monotonic() - mended < 45


def _ready(reason: str) -> Callable[[Object], bool]:
    return lambda project: condition(project, "Ready").get("reason") == reason


PROBED: list[Any] = [
    pytest.param(_secret, "SecretNotFound", "read: ", id="missing-secret"),
    pytest.param(_key, "SecretNotFound", "without-password", id="missing-key"),
    pytest.param(_password, "RepositoryAuthFailed", "read: ", id="wrong-password"),
    pytest.param(_unreachable, "RepositoryUnreachable", "nowhere.invalid", id="unreachable"),
    pytest.param(
        lambda spec: spec["repositories"][0].update(branch="absent"),
        "RefNotFound",
        "refs/heads/absent",
        id="missing-branch",
    ),
]


@pytest.mark.parametrize(("breaks", "reason", "names"), PROBED)
def test_a_project_says_what_is_wrong_before_anybody_works(
    world: MakeWorld, breaks: Callable[[Object], None], reason: str, names: str
) -> None:
    here = world([GOOD], breaks)
    here.apply(*(_basic_auth(name, data) for name, data in SECRETS.items()))

    project = here.await_("project", here.project["metadata"]["name"], _ready(reason))

    told = condition(project, "Ready")
    assert told["status"] == "False"
    assert names in told["message"]
    assert "Remedy:" in told["message"]
    assert here.all("agentsessions") == []


def test_a_project_is_ready_within_seconds_when_its_secret_is_created(world: MakeWorld) -> None:
    here = world([GOOD], _work_secret)
    name = here.project["metadata"]["name"]
    here.await_("project", name, _ready("SecretNotFound"))
    there = here.get("secret", "git-work")
    here.apply({**_basic_auth("absent", {}), "data": there["data"]})
    mended = time.monotonic()

    here.await_("project", name, _ready("Accepted"))

    # The kubelet looks again after 10 to 15 s; then a program of ours starts.
    assert time.monotonic() - mended < 25
    # What a Job told is written down before the Job is deleted.
    here.await_("project", name, lambda _: not _jobs_that_stay(here))


def _jobs_that_stay(here: World) -> list[Object]:
    return [job for job in here.all("jobs") if "deletionTimestamp" not in job["metadata"]]


def test_a_work_account_that_may_deliver_is_told_and_the_branch_stays(world: MakeWorld) -> None:
    def strong(spec: Object) -> None:
        credentials = spec["repositories"][0]["credentials"]
        credentials["work"]["secretName"] = "strong"

    here = world([GOOD], strong)
    before = here.tip()
    deliver = here.get("secret", "git-deliver")
    here.apply({**_basic_auth("strong", {}), "data": deliver["data"]})

    project = here.await_(
        "project",
        here.project["metadata"]["name"],
        lambda p: bool(condition(p, "WorkCredentialTooStrong")),
    )

    assert condition(project, "WorkCredentialTooStrong")["reason"] == "MayPush"
    assert here.tip() == before


def test_a_task_goes_on_when_the_project_is_mended(world: MakeWorld) -> None:
    here = world([GOOD], _image)
    here.task("good")
    here.stalled("task", "good", "ImagePullFailed")
    agents = here.project["spec"]["agents"]
    agents[0]["image"] = "bernstein-agent-demo:dev"
    here.apply(here.project)
    task = here.closed("good")
    assert task["status"]["attempt"] == 1
    assert condition(task, "Stalled") == {}


def test_the_tasks_of_a_plan_wait_for_the_one_that_probes(world: MakeWorld) -> None:
    titles = [f"step {n}" for n in range(3)]
    here = world([does(t, writing(f"f{n}.py", "X = 1\n")) for n, t in enumerate(titles)], _image)
    here.plan("broken", [{"name": "all", "steps": [{"title": t} for t in titles]}], maxAgents=1)
    plan = here.stalled("plan", "broken", "ImagePullFailed")
    assert "bernstein-absent:none" in condition(plan, "Stalled")["message"]
    assert len({s["spec"]["taskRef"]["name"] for s in here.all("agentsessions")}) == 1


def test_a_plan_whose_repository_cannot_be_reached_makes_one_pod(world: MakeWorld) -> None:
    here = world([GOOD], _unreachable)
    here.plan("lost", [{"name": "all", "steps": [{"title": "good"}]}])
    plan = here.stalled("plan", "lost", "RepositoryUnreachable")
    assert "Remedy:" in condition(plan, "Stalled")["message"]
    assert _sessions(here) == 0
    jobs = [job["metadata"]["labels"]["bernstein.dev/job"] for job in here.all("jobs")]
    assert jobs.count("begin") == len([job for job in jobs if job != "probe"]) == 1


@pytest.mark.verification
def test_a_gate_that_cannot_run_is_not_the_agents_fault(world: MakeWorld) -> None:
    def asks(**gate: str) -> Object:
        return {
            "extends": "Default",
            "pipeline": [{"name": "own", "image": "bernstein-toolchain:dev", **gate}],
        }

    def stalled_by(cause: str) -> Object:
        def holds(task: Object) -> bool:
            said = condition(task, "Stalled")
            return said["reason"] == "GateErrored" and cause in said["message"]

        return here.await_("task", "good", holds)

    tool, image = asks(command="no-such-program"), asks(command="true", image="bernstein-absent:no")
    here = world([GOOD], lambda spec: spec.update(gates=tool))
    before = here.tip()
    here.task("good")
    task = stalled_by("'own' could not run: ToolMissing")
    assert "Remedy:" in condition(task, "Stalled")["message"]
    assert len(_pods_of_check(here, "own")) == 1
    here.project["spec"]["gates"] = image
    here.apply(here.project)
    task = stalled_by("ImagePullFailed: image 'bernstein-absent:no'")
    assert "bernstein-absent:no" in condition(task, "Stalled")["message"]
    assert task["status"]["gateErrors"] == 1, "of the second nothing has run"
    assert (state(task), task["status"]["attempt"]) == ("Done", 1)
    assert here.tip() == before
    here.project["spec"]["gates"] = asks(command="true")
    here.apply(here.project)
    task = here.closed("good")
    assert task["status"]["attempt"] == _sessions(here) == 1


@pytest.mark.verification
def test_a_gate_whose_pod_is_evicted_is_run_again_and_costs_no_attempt(world: MakeWorld) -> None:
    own = {"name": "own", "command": "sleep 20", "image": "bernstein-toolchain:dev"}
    gates = {"extends": "Default", "pipeline": [own]}
    here = world([GOOD], lambda spec: spec.update(gates=gates))
    here.task("good")
    first = here.await_("job", "good-s1-own-0", lambda job: job["status"]["ready"] == 1)
    (pod,) = [p["metadata"]["name"] for p in _pods_of_check(here, "own")]
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod, "namespace": here.namespace},
    }
    path = f"/api/v1/namespaces/{here.namespace}/pods/{pod}/eviction"
    here.kubectl("create", "--raw", path, "-f", "-", stdin=json.dumps(eviction))

    task = here.closed("good")

    assert first["metadata"]["name"] == "good-s1-own-0"
    here.await_("job", "good-s1-own-1", lambda job: job["status"]["succeeded"] == 1)
    verdicts = {c["name"]: c["verdict"] for c in task["status"]["verification"]["checks"]}
    assert verdicts["own"] == "Passed"
    assert (task["status"]["attempt"], _sessions(here)) == (1, 1)


def _pods_of_check(here: World, name: str) -> list[Object]:
    pods = here.all("pods")
    return [p for p in pods if p["metadata"]["labels"].get("bernstein.dev/check") == name]


def test_a_deliver_account_without_rights_keeps_the_work(world: MakeWorld) -> None:
    def weak(spec: Object) -> None:
        spec["repositories"][0]["credentials"]["deliver"]["secretName"] = "git-read"

    here = world([GOOD], weak)
    before = here.tip()
    here.task("good")
    task = here.await_("task", "good", lambda t: bool(condition(t, "Stalled")))
    assert condition(task, "Stalled")["reason"] == "CredentialRefused"
    assert state(task) == "Done"
    assert task["status"]["delivery"]["state"] == "CredentialRefused"
    assert here.tip() == before


def _sessions(here: World) -> int:
    return len(here.all("agentsessions"))
