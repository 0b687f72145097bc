"""The pod of a probe: a container for each credential, and none that sees two."""

from __future__ import annotations

import json

import pytest

from bernstein.api.encoding import load
from bernstein.api.programs.probe import ProbeConfig
from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.built import Object, configuration, mounts
from tests.unit.core import objects

JOBS = {name: job for name, job in built.jobs().items() if name.startswith("probe")}
EVERY = pytest.mark.parametrize("name", JOBS)


def pod(name: str) -> Object:
    found: Object = JOBS[name]["spec"]["template"]["spec"]
    return found


def holds(name: str, container: Object) -> set[str]:
    """The Secrets of which it gets anything, as a file or a variable."""
    volumes = {v["name"]: v["secret"]["secretName"] for v in pod(name)["volumes"] if "secret" in v}
    files = {volumes[m["name"]] for m in container.get("volumeMounts", ()) if m["name"] in volumes}
    variables = (e["valueFrom"]["secretKeyRef"] for e in container["env"] if "valueFrom" in e)
    return files | {source["name"] for source in variables}


@EVERY
def test_no_container_of_a_probe_sees_two_credentials(name: str) -> None:
    held = [holds(name, container) for container in pod(name)["containers"]]

    assert [len(each) for each in held] == [1] * len(held)
    assert len(set.union(*held)) == len(held)


@EVERY
def test_the_containers_of_a_probe_share_no_folder_to_write_to(name: str) -> None:
    writable = [
        mount["name"]
        for _, mount, volume in mounts(name)
        if "emptyDir" in volume and not mount.get("readOnly")
    ]

    assert len(writable) == len(set(writable)) > 0


def test_a_probe_has_a_container_for_each_account_and_each_key() -> None:
    accounts = ["probe", "probe-work", "probe-deliver"]

    assert [c["name"] for c in pod("probe")["containers"]] == accounts
    also = ["probe-attestation", "probe-signing", "key-0", "key-1", "key-2"]
    assert [c["name"] for c in pod("probe-full")["containers"]] == [*accounts, *also]
    idle = [c for c in pod("probe-full")["containers"] if built.idles(c)]
    assert [c["env"][0]["valueFrom"]["secretKeyRef"] for c in idle] == [
        {"name": "openai", "key": "token"},
        {"name": "judge", "key": "api-key"},
        {"name": "other", "key": "api-key"},
    ]


def test_of_what_signs_a_probe_has_the_public_half_where_the_project_names_one() -> None:
    (found,) = (c for c in pod("probe-full")["containers"] if c["name"] == "probe-attestation")

    assert found["env"] == [
        {
            "name": "BERNSTEIN_KEY",
            "valueFrom": {"secretKeyRef": {"name": "signs", "key": "ed25519.public.pem"}},
        }
    ]

    key = {"name": "signs", "key": "ed25519.pem"}
    alone = objects.project(attestation={"key": key})
    job = built.follow_up(*built.WANTED["probe"], alone, built.PLAIN_SETTINGS)
    assert "signs" not in json.dumps(job)


def test_a_probes_container_waits_for_its_own_secret_alone() -> None:
    sources = [v.get("secret") or v.get("configMap") for v in pod("probe-full")["volumes"]]

    assert [source["optional"] for source in sources if source is not None] == [True] * 4


def test_the_work_account_alone_is_asked_about_a_ref_of_ours() -> None:
    found = {c["name"]: config(c) for c in pod("probe")["containers"]}

    assert {name: c.account for name, c in found.items()} == {
        "probe": "read",
        "probe-work": "work",
        "probe-deliver": "deliver",
    }
    assert str(found["probe-work"].ref).startswith("refs/bernstein/")
    assert found["probe"].ref is found["probe-deliver"].ref is None


def config(container: Object) -> ProbeConfig:
    return load(ProbeConfig, configuration(container))
