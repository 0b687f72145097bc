"""What each container of our pods can read of Secrets and tokens: this, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

import pytest

from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.jobs.fence import fence_job
from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.credentials import held
from tests.unit.core import objects

Object = dict[str, Any]
Held = set[str]

HTTPS = built.FULL
SSH = objects.project(
    **{
        **HTTPS.spec.dump(),
        "repositories": [
            {**each.dump(), "url": "ssh://git@git.example:2222/team/app.git"}
            for each in HTTPS.spec.repositories
        ],
    }
)
PROJECTS = {"https": HTTPS, "ssh": SSH}
KEYS = {"https": ("username", "password"), "ssh": ("ssh-privatekey", "known_hosts")}
SHOWN = {"https": "username", "ssh": "known_hosts"}
"""What of an account is no secret, by which the kubelet waits for it."""

TOKEN = {"token for bernstein.dev/callback"}
SIGNS_COMMITS = {"ssh/id", "ssh/id.pub"}
SIGNS = {"signs/ed25519.pem", "signs/ed25519.public.pem"}
FORGE = {"forge/token"}
READ, WORK, DELIVER = {"git-read"}, {"git-work"}, {"git-deliver"}
"""An account's Secret, with both of its keys."""

CHECKOUT = {"checkout": READ}
"""In every Job that runs code of a repository, or judges it; no other container has anything."""
EXPECTED: Mapping[str, Mapping[str, Held]] = {
    "agent": {**CHECKOUT, "pusher": WORK, "recorder": TOKEN, "agent": {"openai/token"}},
    **dict.fromkeys(
        (
            *("check", "check-own-image", "check-service", "paths", "plugin", "plugin-base"),
            *("written", "base", "compare", "both", "both-again", "both-known", "tool"),
            *("setup", "setup-both"),
            *("database", "inspect", "inspect-merge"),
        ),
        CHECKOUT,
    ),
    "judge": {**CHECKOUT, "judge": {"judge/api-key"}},
    "format": {**CHECKOUT, "format": WORK},
    "begin": {"begin": WORK},
    "prepare": {"prepare": WORK},
    "land": {"land": DELIVER | SIGNS},
    "land-plan": {"land": DELIVER | SIGNS},
    "land-branch": {"land": DELIVER | SIGNS | SIGNS_COMMITS},
    "land-look": {"land": READ | SIGNS},
    "land-seek": {"land": READ},
    "propose": {"propose": FORGE},
    "close": {"propose": FORGE},
    "watch": {"watch": FORGE},
    "withdraw": {"propose": FORGE},
    "listen": {"listen": FORGE},
    "prune": {"prune": WORK},
    "cache": {"cache": READ},
    "probe": {
        "probe": READ | {"variable git-read"},
        "probe-work": WORK | {"variable git-work"},
        "probe-deliver": DELIVER | {"variable git-deliver"},
        "probe-attestation": {"variable signs/ed25519.public.pem"},
        "probe-signing": {"variable ssh/id.pub"},
        "key-0": {"variable openai/token"},
        "key-1": {"variable judge/api-key"},
        "key-2": {"variable other/api-key"},
    },
    "fence": {},
}
"""By Job and container. A container that is not here has nothing."""


def made(project: Workplace) -> dict[str, Object]:
    jobs = {"agent": built.agent_job(project, built.FULL_SETTINGS)}
    for name, (wanted, owner) in built.WANTED.items():
        jobs[name] = built.follow_up(wanted, owner, project, built.FULL_SETTINGS)
    jobs["fence"] = fence_job("work-s1", objects.NAMESPACE, built.TASK, built.FULL_SETTINGS)
    return jobs


MADE = {way: made(project) for way, project in PROJECTS.items()}


def pod(job: Object) -> Object:
    found: Object = job["spec"]["template"]["spec"]
    return found


def containers(job: Object) -> list[Object]:
    return [*pod(job).get("initContainers", ()), *pod(job)["containers"]]


def expected(way: str, name: str, container: str) -> Held:
    told: Held = set()
    for each in EXPECTED[name].get(container, set()):
        if each.startswith("git-"):
            told |= {f"{each}/{key}" for key in KEYS[way]}
        elif each.startswith("variable git-"):
            told.add(f"{each}/{SHOWN[way]}")
        else:
            told.add(each)
    return told


EVERY = pytest.mark.parametrize(
    ("way", "name"), [(way, name) for way, jobs in MADE.items() for name in jobs]
)


@EVERY
def test_each_container_has_the_credentials_that_it_should_have_and_no_other(
    way: str, name: str
) -> None:
    job = MADE[way][name]
    assert pod(job)["automountServiceAccountToken"] is False
    assert "serviceAccountName" not in pod(job)
    found = {c["name"]: sorted(held(pod(job), c)) for c in containers(job)}
    assert found == {each: sorted(expected(way, name, each)) for each in found}
    assert EXPECTED[name].keys() <= found.keys(), "an expectation of a container that is not there"


@EVERY
def test_no_pod_gets_a_secret_that_none_of_its_containers_reads(way: str, name: str) -> None:
    job = MADE[way][name]
    mounted = {each["name"] for c in containers(job) for each in c.get("volumeMounts", ())}
    assert {volume["name"] for volume in pod(job).get("volumes", ())} <= mounted


def test_there_is_an_expectation_for_every_kind_of_job() -> None:
    asked = {type(wanted) for wanted, _ in built.WANTED.values()}
    assert asked == set(get_args(built.Wanted)), "a kind of Job that is not built here"
    assert EXPECTED.keys() == MADE["https"].keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_with_ssh_a_job_differs_in_its_address_and_the_keys_of_its_accounts_alone(
    name: str,
) -> None:
    https, ssh = (json.dumps(MADE[way][name]) for way in ("https", "ssh"))
    (before,), (after,) = ([r.url for r in p.spec.repositories] for p in (HTTPS, SSH))
    told = ssh.replace(after, before)
    if name == "probe":
        told = told.replace('"key": "known_hosts"}}', '"key": "username"}}')
    for old, new in zip(KEYS["ssh"], KEYS["https"], strict=True):
        told = told.replace(f'"key": "{old}", "path": "{old}"', f'"key": "{new}", "path": "{new}"')
    assert told == https
