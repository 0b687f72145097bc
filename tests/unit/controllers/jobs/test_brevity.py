"""The pods that are made say nothing twice, and nothing that holds anyway."""

from __future__ import annotations

import dataclasses
import json

import pytest

from bernstein.api.encoding import load
from bernstein.controllers.jobs import pod as pods
from bernstein.controllers.jobs.fence import fence_job
from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.built import CONFIGS, JOBS, containers, environment, mounts, pod

EVERY = pytest.mark.parametrize("name", JOBS)


@EVERY
def test_nothing_is_said_that_holds_without_a_word(name: str) -> None:
    """The whole spec is paid for at every patch of a Job, its pod and the pod's status."""
    job, shared = JOBS[name]["spec"], pod(name)["securityContext"]
    assert not {"completions", "parallelism"} & job.keys()
    assert "fsGroupChangePolicy" not in shared, "it is not for scratch volumes"
    for container in containers(name):
        own = container["securityContext"]
        assert [key for key in own if own[key] == shared.get(key)] == []
        assert [key for key, value in container.items() if value in ([], {})] == []
    for _, mount, volume in mounts(name):
        assert "defaultMode" not in volume.get("configMap", {})
        if "secret" in volume or "configMap" in volume:
            assert "readOnly" not in mount, "the kubelet lets nobody write there"
        for source in volume.get("projected", {}).get("sources", ()):
            assert "expirationSeconds" not in source["serviceAccountToken"], "it is an hour"


@EVERY
def test_a_program_of_ours_is_told_only_what_it_would_not_do_anyway(name: str) -> None:
    for container in containers(name):
        if (called := built.program(container)) is None:
            continue
        text = built.configuration(container)
        config = load(CONFIGS[called], text)
        assert not environment(container)
        told = json.loads(text)
        for field in dataclasses.fields(config):
            if field.default is not dataclasses.MISSING:
                assert (field.name in told) is (getattr(config, field.name) != field.default)


USUAL = "IfNotPresent"


@pytest.mark.parametrize(
    ("image", "asked", "said"),
    [
        ("bernstein:1", USUAL, None),
        ("bernstein:1", "Always", "Always"),
        ("host:5000/bernstein:1", USUAL, None),
        ("host:5000/bernstein", USUAL, USUAL),
        ("host:5000/bernstein", "Always", None),
        ("bernstein:latest", USUAL, USUAL),
        ("bernstein:latest", "Never", "Never"),
        ("bernstein@sha256:00", USUAL, None),
        ("bernstein:latest@sha256:00", USUAL, None),
    ],
)
def test_a_pull_policy_is_said_where_kubernetes_would_take_another(
    image: str, asked: str, said: str | None
) -> None:
    made = pods.container("any", image, ["true"], mounts=(), resources={}, pull=asked)

    assert made.get("imagePullPolicy") == said


def test_a_name_that_is_taken_says_no_more_than_it_must() -> None:
    fence = fence_job("j", "team", built.TASK, built.PLAIN_SETTINGS)
    (container,) = fence["spec"]["template"]["spec"]["containers"]

    assert not {"env", "resources", "volumeMounts"} & container.keys()
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
