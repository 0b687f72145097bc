"""What `bernstein doctor` says of images: those that nobody filled in, and those not pulled."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.project import Project, parse
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.doctor import images
from bernstein.cli.commands.doctor.finding import Outcome
from bernstein.core import labels
from bernstein.kube.client import Client
from bernstein.kube.resource import PODS
from tests.control_plane.objects import valid
from tests.unit.kube.apiserver import ApiServer

OURS = {"labels": {labels.MANAGED_BY: labels.MANAGER}}


def project(**spec: Any) -> Project:
    return parse(valid("Project", "team", "default", **spec))


@pytest.mark.parametrize(
    ("image", "is_placeholder"),
    [
        ("registry.example.com/tools:1", True),
        ("example.org:5000/tools", True),
        ("tools:1", False),
        ("a/example.com/tools", False),
        ("myexample.com/tools", False),
    ],
)
def test_an_image_that_was_never_filled_in_is_told(image: str, is_placeholder: bool) -> None:
    found = [*images.placeholders([project(toolchain={"image": image})])]

    assert [each.outcome for each in found] == [Outcome.BAD] * is_placeholder
    assert all("spec.toolchain.image" in each.message for each in found)


def test_those_of_gates_and_agents_are_looked_at_too() -> None:
    place = "registry.example.com/a"
    agents = [{"name": "demo", "adapter": "demo", "image": place}]
    pipeline = [{"name": "mine", "command": "x", "image": place}]

    (found,) = images.placeholders([project(agents=agents, gates={"pipeline": pipeline})])

    assert found.message.endswith("spec.agents[0].image, spec.gates.pipeline[0].image")


def waiting(reason: str, message: str = "", *, part: str = "containerStatuses") -> dict[str, Any]:
    state = {"waiting": {"reason": reason, "message": message}}
    return {part: [{"image": "reg/tools:1", "state": state}]}


async def look(api: ApiServer, client: Client) -> list[tuple[Outcome, str]]:
    found = await images.look(Cluster(client, "team"), [])
    return [(each.outcome, each.message) for each in found]


@pytest.mark.parametrize("part", ["containerStatuses", "initContainerStatuses"])
async def test_an_image_that_a_pod_of_ours_waits_for_is_told_once(
    api: ApiServer, client: Client, part: str
) -> None:
    said = "no such\x1b[31m manifest"
    for name in ("one", "two"):
        status = waiting("ImagePullBackOff", said, part=part)
        api.put(PODS, name, "team", metadata=OURS, status=status)

    ((outcome, message),) = await look(api, client)

    assert outcome is Outcome.BAD
    assert message == (
        "'reg/tools:1' is not pulled for one, two (ImagePullBackOff: no such manifest)"
    )


async def test_pods_of_others_and_other_waits_are_none_of_ours(
    api: ApiServer, client: Client
) -> None:
    api.put(PODS, "theirs", "team", status=waiting("ErrImagePull"))
    api.put(PODS, "starts", "team", metadata=OURS, status=waiting("ContainerCreating"))

    ((outcome, _),) = await look(api, client)

    assert outcome is Outcome.GOOD


async def test_who_may_not_read_pods_is_told_so(api: ApiServer, client: Client) -> None:
    api.fault = lambda _: 403

    ((outcome, message),) = await look(api, client)

    assert outcome is Outcome.UNKNOWN
    assert message.startswith("you may not read pods")
