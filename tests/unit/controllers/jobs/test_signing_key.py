"""Who is given the key that signs what is said of landed commits."""

from __future__ import annotations

import pytest

from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.built import JOBS, containers, pod

LANDS = {
    "land-full": False,
    "land-plan-full": False,
    "land-branch-full": False,
    "land-look-full": True,
}
"""Whether the Job starts without the key."""


@pytest.mark.parametrize("name", JOBS)
def test_the_key_that_signs_is_given_to_no_pod_but_the_one_that_lands(name: str) -> None:
    spec = built.FULL.spec.attestation
    assert spec is not None
    files = {
        item["key"]
        for volume in pod(name)["volumes"]
        if volume.get("secret", {}).get("secretName") == spec.key.name
        for item in volume["secret"].get("items", [{"key": spec.key.key}])
    }
    variables = {
        source["key"]
        for container in containers(name)
        for each in container.get("env", ())
        if (source := each.get("valueFrom", {}).get("secretKeyRef"))
        and source["name"] == spec.key.name
    }

    assert (spec.key.key in files | variables) == (name in LANDS)


def test_who_only_looks_whether_work_has_landed_waits_for_no_key_that_signs() -> None:
    sources = {name: _source(name) for name in LANDS}

    assert {name: source.get("optional", False) for name, source in sources.items()} == LANDS


@pytest.mark.parametrize("name", JOBS)
def test_the_key_that_signs_commits_is_given_to_who_lands_at_the_branch_alone(name: str) -> None:
    files = {
        (container["name"], item["key"])
        for container, _, volume in built.mounts(name)
        if volume.get("secret", {}).get("secretName") == "ssh"
        for item in volume["secret"]["items"]
    }
    private = {who for who, key in files if key == "id"}

    assert private == ({"land"} if name == "land-branch-full" else set())
    volumes = [v for v in pod(name)["volumes"] if v.get("secret", {}).get("secretName") == "ssh"]
    assert not any(v["secret"].get("optional") for v in volumes), "nothing lands unsigned"


def _source(name: str) -> built.Object:
    (found,) = (v["secret"] for v in pod(name)["volumes"] if v["name"] == "secret-attestation")
    return dict(found)
