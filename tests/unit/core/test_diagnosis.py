"""What raw pod status says."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import Failure
from bernstein.core import diagnosis, pods, remedies
from bernstein.core.jobs import JobView
from tests.unit.core.objects import (
    NOW,
    Object,
    ended,
    failed,
    job,
    over,
    pod,
    running,
    waiting,
)

MOUNT = {"reason": "FailedMount", "message": 'MountVolume.SetUp failed: secret "x" not found'}
KEY = {
    "reason": "FailedMount",
    "message": 'failed for volume "secret-read" : references non-existent secret key: password',
}
MAP = {"reason": "FailedMount", "note": 'references non-existent config key in configmap "y"'}
FOREIGN = {"reason": "FailedMount", "message": 'MountVolume.SetUp failed: secret "z" not found'}
OTHER = {"reason": "Pulled", "message": "image x not found"}


def mounting(*containers: Object, **more: Any) -> Object:
    """A pod that mounts the Secrets `x` and `git-read` and the ConfigMap `y`."""
    young: Object = {"phase": "Pending", "age": 11}
    found = pod(*containers, **(young | more))
    found["spec"]["volumes"] = [
        {"name": "tmp", "emptyDir": {}},
        {"name": "key", "secret": {"secretName": "x"}},
        {"name": "secret-read", "secret": {"secretName": "git-read"}},
        {"name": "ca", "configMap": {"name": "y"}},
    ]
    return found


def test_a_container_ran_when_it_runs_or_has_run() -> None:
    assert pods.has_started(pod(running("agent")), "agent")
    assert pods.has_started(over(ended("agent", 1)), "agent")
    assert not pods.has_started(over(ended("agent", 128, reason="StartError")), "agent")
    assert not pods.has_started(pod(waiting("agent")), "agent")
    assert not pods.has_started(pod(), "agent")


@pytest.mark.parametrize(
    ("container", "reason", "message"),
    [
        (failed("x", "RefNotFound", "no ref"), "RefNotFound", "no ref"),
        (failed("x", "InternalError", "bug"), "InfrastructureError", "bug"),
        (failed("x", "InvalidConfig", "bug"), "InfrastructureError", "bug"),
        (
            ended("x", 2, said="Traceback"),
            "InfrastructureError",
            "x ended with exit code 2:\n> Traceback",
        ),
        (ended("x", 137), "InfrastructureError", "x ended with exit code 137"),
    ],
)
def test_a_program_of_ours_says_why_it_failed(container: Object, reason: str, message: str) -> None:
    found = diagnosis.failure_of(over(container), "x")

    assert found == diagnosis.Diagnosis(reason, message)


def stopped(name: str, after: float, **more: Any) -> Object:
    """A pod whose program was told to end, with as many seconds behind it, of 600."""
    said = Failure("Terminated", "the pod was stopped before the work was done")
    found = over(ended(name, 1, said=said, after=after), **more)
    found["spec"]["activeDeadlineSeconds"] = 600
    return found


@pytest.mark.parametrize("name", ["checkout", "begin", "prepare", "land", "prune", "cache"])
def test_a_program_that_git_has_kept_waiting_until_its_time_was_over_names_the_server(
    name: str,
) -> None:
    found = diagnosis.failure_of(stopped(name, 590, reason="DeadlineExceeded"), name)

    assert found is not None
    assert found.reason == "RepositoryUnreachable"
    assert found.message.startswith(f"{name} was not done in the 600 s of its pod: the git server")


@pytest.mark.parametrize(
    ("name", "ended_so"),
    [
        ("checkout", stopped("checkout", 590)),
        ("checkout", stopped("checkout", 590, disrupted=True)),
        ("checkout", stopped("checkout", 30, reason="DeadlineExceeded")),
        ("inspect", stopped("inspect", 590, reason="DeadlineExceeded")),
    ],
    ids=["by somebody", "disrupted", "begun late", "without git"],
)
def test_a_program_that_was_stopped_otherwise_says_so(name: str, ended_so: Object) -> None:
    found = diagnosis.failure_of(ended_so, name)

    assert (found and found.reason) == "Terminated"


def test_what_did_not_fail_has_no_failure() -> None:
    assert diagnosis.failure_of(over(ended("x")), "x") is None
    assert diagnosis.failure_of(pod(running("x")), "x") is None
    assert diagnosis.failure_of(pod(), "x") is None


@pytest.mark.parametrize(
    ("stuck", "age", "events", "reason"),
    [
        (waiting("a", "ErrImageNeverPull"), 0, (), "ImagePullFailed"),
        (waiting("a", "InvalidImageName"), 0, (), "ImagePullFailed"),
        (waiting("a"), 11, (MOUNT,), "SecretNotFound"),
        (waiting("a"), 11, (MAP,), "ConfigMapNotFound"),
        (waiting("a"), 11, (OTHER,), None),
        (waiting("a"), 11, (FOREIGN,), None),
        (waiting("a"), 11, (FOREIGN, MOUNT), "SecretNotFound"),
        (waiting("a"), 9, (MOUNT,), None),
        (
            waiting("a", "CreateContainerConfigError", "configmap x not found"),
            0,
            (),
            "ConfigMapNotFound",
        ),
        (waiting("a", "CreateContainerError", "no such runtime"), 0, (), "ImageUnusable"),
    ],
)
def test_a_pod_that_waits_says_for_what(
    stuck: Object, age: float, events: tuple[Object, ...], reason: str | None
) -> None:
    held = job("j", mounting(stuck, age=age), events=events)

    found = diagnosis.diagnose_waiting(held, NOW)

    assert (found and found.reason) == reason


def test_a_key_that_a_secret_does_not_have_is_told_with_the_secrets_name() -> None:
    found = diagnosis.diagnose_waiting(job("j", mounting(waiting("a")), events=(KEY,)), NOW)

    assert found is not None
    assert found.reason == "SecretNotFound"
    assert found.message.endswith('non-existent secret key: password (secret "git-read")')


AGAIN = waiting("recorder", "CrashLoopBackOff") | {
    "lastState": {"terminated": {"exitCode": 1, "startedAt": NOW.isoformat()}}
}


@pytest.mark.parametrize(
    "began",
    [
        pytest.param(running("checkout"), id="one runs"),
        pytest.param(ended("checkout"), id="one has ended"),
        pytest.param(AGAIN, id="one is started again"),
    ],
)
def test_an_event_says_nothing_of_volumes_once_a_container_has_started(began: Object) -> None:
    held = job("j", mounting(began, waiting("agent")), events=(MOUNT, KEY, MAP))

    assert diagnosis.diagnose_waiting(held, NOW) is None


@pytest.mark.parametrize(("age", "reason"), [(600, None), (601, "Unschedulable")])
def test_a_pod_that_fits_nowhere_has_ten_minutes(age: float, reason: str | None) -> None:
    held = job("j", pod(phase="Pending", age=age, unschedulable="0/1 nodes: memory", node=None))

    found = diagnosis.diagnose_waiting(held, NOW)

    assert (found and found.reason) == reason


@pytest.mark.parametrize(("age", "reason"), [(4, None), (5, "PodRejected")])
def test_a_job_without_pods_is_looked_at_after_five_seconds(age: float, reason: str | None) -> None:
    refused = job("j", age=age, events=({"reason": "FailedCreate", "message": "quota"},))

    found = diagnosis.diagnose_waiting(refused, NOW)

    assert (found and found.reason) == reason


# --- claims -------------------------------------------------------------------------------------

LACKS = '0/1 nodes are available: persistentvolumeclaim "caches" not found. preemption: no.'
UNBOUND = "0/2 nodes are available: pod has unbound immediate PersistentVolumeClaims."


def claiming(*containers: Object, **more: Any) -> Object:
    """A pod that mounts the claim `caches`."""
    found = mounting(*containers, **more)
    claim = {"claimName": "caches", "readOnly": True}
    found["spec"]["volumes"].append({"name": "cache", "persistentVolumeClaim": claim})
    return found


TOO_LATE = 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded'


def filling(**more: Any) -> Object:
    """A pod that writes to the claim."""
    found = claiming(node=None, **more)
    (claim,) = (
        v["persistentVolumeClaim"] for v in found["spec"]["volumes"] if v["name"] == "cache"
    )
    del claim["readOnly"]
    return found


def said_of_its_node(reason: str, message: str, found: Object) -> Object:
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message}
    found.setdefault("status", {})["conditions"] = [condition]
    return found


@pytest.mark.parametrize(
    ("waits", "reason"),
    [
        (said_of_its_node("SchedulerError", TOO_LATE, filling(age=61)), "ClaimNotBound"),
        (said_of_its_node("SchedulerError", TOO_LATE, filling(age=59)), None),
        (said_of_its_node("SchedulerError", "no scheduler", filling(age=999)), None),
        (said_of_its_node("SchedulingGated", "", filling(age=999)), None),
        (filling(age=301), "ClaimNotBound"),
        (filling(age=299), None),
        (claiming(node=None, age=301), None),
    ],
)
def test_a_claim_that_gets_no_volume_is_told_though_no_node_is_said_to_lack_it(
    waits: Object, reason: str | None
) -> None:
    found = diagnosis.claim_trouble(waits, NOW)
    assert (found.reason if found is not None else None) == reason


@pytest.mark.parametrize(
    ("waits", "reason"),
    [
        (claiming(node=None, unschedulable=LACKS, age=1), "ClaimNotFound"),
        (claiming(node=None, unschedulable=UNBOUND, age=59), None),
        (claiming(node=None, unschedulable=UNBOUND, age=61), "ClaimNotBound"),
        (claiming(node=None, unschedulable="Insufficient cpu", age=999), None),
        (claiming(waiting("checkout", "ContainerCreating"), age=299), None),
        (claiming(waiting("checkout", "ContainerCreating"), age=301), "ClaimNotMounted"),
        (claiming(waiting("checkout", "ErrImagePull"), age=301), None),
        (claiming(running("checkout"), age=301), None),
        (mounting(node=None, unschedulable=LACKS, age=301), None),
    ],
)
def test_a_pod_that_does_not_get_its_claim_is_told_which(waits: Object, reason: str | None) -> None:
    found = diagnosis.claim_trouble(waits, NOW)
    assert (found.reason if found is not None else None) == reason
    assert found is None or "the PersistentVolumeClaim 'caches'" in found.message


def test_a_run_that_does_not_get_the_claim_of_a_cache_is_run_again_at_once() -> None:
    waits = job("s1", claiming(node=None, unschedulable=LACKS))
    found = diagnosis.to_abandon(waits, NOW)
    assert found is not None
    assert found.reason == "Disrupted"
    assert "'caches' is not in the namespace" in found.message
    said = diagnosis.unscheduled(waits, NOW)
    assert said == "its pod has no node: the PersistentVolumeClaim 'caches' is not in the namespace"


# --- a node that cannot set a pod up --------------------------------------------------------------

NETWORK = {"reason": "FailedCreatePodSandBox", "message": "failed to set up the network\n\x1b[2J"}


def on_a_node(age: float, *containers: Object, is_set_up: bool = False) -> Object:
    found = pod(*(containers or (waiting("checkout"),)), phase="Pending", age=age)
    told = {"type": "PodReadyToStartContainers", "status": str(is_set_up)}
    found["status"]["conditions"].append(told)
    return found


def test_what_a_node_says_of_a_pod_that_it_cannot_set_up_is_told_after_a_minute() -> None:
    assert diagnosis.unscheduled(job("s1", on_a_node(59), events=(NETWORK,)), NOW) is None

    said = diagnosis.unscheduled(job("s1", on_a_node(60), events=(OTHER, NETWORK)), NOW)

    assert said == "its node cannot set its pod up: failed to set up the network"


@pytest.mark.parametrize(
    "waits",
    [
        job("s1", on_a_node(700, is_set_up=True), events=(NETWORK,)),
        job("s1", on_a_node(700, running("checkout")), events=(NETWORK,)),
        job("s1", on_a_node(700), events=(OTHER,)),
    ],
    ids=["it is by now", "a container runs", "nothing is said of it"],
)
def test_a_pod_that_is_set_up_or_only_waits_is_not_given_up(waits: JobView) -> None:
    assert diagnosis.unscheduled(waits, NOW) is None
    assert diagnosis.to_abandon(waits, NOW) is None


def test_one_that_is_never_set_up_is_given_up_after_ten_minutes_like_one_without_a_node() -> None:
    assert diagnosis.to_abandon(job("s1", on_a_node(600), events=(NETWORK,)), NOW) is None

    found = diagnosis.to_abandon(job("s1", on_a_node(601), events=(NETWORK,)), NOW)

    assert found is not None
    assert found.reason == "Unschedulable"
    assert "cannot set its pod up" in found.message
    assert "network" in remedies.remedy_of(found.reason, found.message)
