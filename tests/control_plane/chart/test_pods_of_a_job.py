"""The chart's policy on pods: one of ours stays its Job's, and the Job makes no second one."""

from __future__ import annotations

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Forbidden
from bernstein.kube.resource import JOBS, PODS
from tests.control_plane.conftest import Account, Person, first_pod
from tests.control_plane.objects import job

OWNERS_POLICY = "bernstein-pods.*nobody changes the owners"
THEIR_JOB_POLICY = "bernstein-pods.*belong to the Job that made them"
COUNT_POLICY = "bernstein-pods.*Kubernetes alone adds finalizers"
COUNTS = "batch.kubernetes.io/job-tracking"


@pytest.mark.parametrize(
    "label",
    [
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "controller-uid",
        "job-name",
    ],
)
async def test_nobody_makes_a_job_let_its_pod_go(
    operator: Client, admin: Client, person: Person, namespace: str, label: str
) -> None:
    """A Job lets go of a pod that its selector matches no more, and makes a second one."""
    await operator.create(JOBS, job(namespace))
    pod = (await first_pod(operator, namespace, "one"))["metadata"]["name"]

    for other in (await person("edit"), admin):
        for value in (None, "mine"):
            with pytest.raises(Forbidden, match=THEIR_JOB_POLICY):
                await other.patch(PODS, pod, namespace, {"metadata": {"labels": {label: value}}})


async def test_nobody_changes_the_owners_of_our_pods(
    operator: Client, admin: Client, person: Person, namespace: str
) -> None:
    await operator.create(JOBS, job(namespace))
    pod = (await first_pod(operator, namespace, "one"))["metadata"]
    (first,) = pod["ownerReferences"]
    unblocked = first | {"blockOwnerDeletion": False}
    second = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": pod["uid"]}

    for other in (await person("edit"), admin):
        for owners in (None, [unblocked, second], [second], [unblocked | {"controller": False}]):
            change = {"metadata": {"ownerReferences": owners}}
            with pytest.raises(Forbidden, match=OWNERS_POLICY):
                await other.patch(PODS, pod["name"], namespace, change)


@pytest.mark.parametrize(
    ("controller", "taker", "refusal"),
    [
        ("replication-controller", ("v1", "ReplicationController"), OWNERS_POLICY),
        ("replicaset-controller", ("apps/v1", "ReplicaSet"), OWNERS_POLICY),
        # Of an editor's own Job with `manualSelector`; and where all controllers are one account.
        ("job-controller", ("batch/v1", "Job"), THEIR_JOB_POLICY),
        ("job-controller", ("apps/v1", "ReplicaSet"), THEIR_JOB_POLICY),
    ],
)
async def test_no_controller_of_another_object_takes_our_pods_over(
    operator: Client,
    account: Account,
    namespace: str,
    controller: str,
    taker: tuple[str, str],
    refusal: str,
) -> None:
    """As each adopts a pod that has no controller and that its selector matches."""
    await operator.create(JOBS, job(namespace))
    pod = (await first_pod(operator, namespace, "one"))["metadata"]["name"]
    api_version, kind = taker
    owner = {"apiVersion": api_version, "kind": kind, "name": "taker", "uid": namespace}
    change = {"metadata": {"ownerReferences": [owner | {"controller": True}]}}

    async with Client(account("kube-system", controller)) as itself:
        with pytest.raises(Forbidden, match=refusal):
            await itself.patch(PODS, pod, namespace, change)


async def test_nobody_makes_a_job_count_its_pod_no_more(
    operator: Client, admin: Client, person: Person, account: Account, namespace: str
) -> None:
    """Without that finalizer the Job makes a second pod, whatever its backoffLimit is."""
    await operator.create(JOBS, job(namespace))
    pod = await first_pod(operator, namespace, "one")
    name, own = pod["metadata"]["name"], pod["metadata"]["finalizers"]
    assert COUNTS in own
    without = {"metadata": {"finalizers": [each for each in own if each != COUNTS]}}
    more = {"metadata": {"finalizers": [*own, "example.com/mine"]}}

    for client in (await person("edit"), admin):
        for change in (without, more):
            with pytest.raises(Forbidden, match=COUNT_POLICY):
                await client.patch(PODS, name, namespace, change)
    with pytest.raises(Forbidden):
        await operator.patch(PODS, name, namespace, without)
    async with Client(account("kube-system", "job-controller")) as itself:
        await itself.patch(PODS, name, namespace, without)


async def test_who_put_a_finalizer_on_a_new_pod_of_ours_takes_it_off(
    operator: Client, admin: Client, namespace: str
) -> None:
    """As an add-on's webhook does: such a pod would stay for ever."""
    made = job(namespace)
    made["spec"]["template"]["metadata"]["finalizers"].append("example.com/quota")
    await operator.create(JOBS, made)
    pod = (await first_pod(operator, namespace, "one"))["metadata"]

    own = [each for each in pod["finalizers"] if each != "example.com/quota"]
    assert len(own) == 2
    await admin.patch(PODS, pod["name"], namespace, {"metadata": {"finalizers": own}})
