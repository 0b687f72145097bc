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


def _source(name: str) -> built.Object:
    (found,) = (v["secret"] for v in pod(name)["volumes"] if v["name"] == "secret-attestation")
    return dict(found)
