"""Of several repositories a Job knows the one that its Task works in, and no other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bernstein.api.encoding import load
from bernstein.api.programs.probe import ProbeConfig
from bernstein.api.projects import workplace
from bernstein.api.projects.workplace import Workplace
from bernstein.controllers.jobs.probe import probe_job
from bernstein.core import labels
from bernstein.core.projects.actions import RunProbe
from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.built import configuration, program
from tests.unit.core import objects

KINDS = sorted(set(built.WANTED) - {"probe"})


def row(name: str) -> dict[str, Any]:
    account = {a: {"secretName": f"{name}-{a}"} for a in ("read", "work", "deliver")}
    token = {"name": f"{name}-token", "key": "token"}
    return {
        "name": name,
        "url": f"https://git.{name}.example/it.git",
        "credentials": account,
        "ca": {"name": f"{name}-ca"},
        "forge": {"type": "gitea", "token": token, "api": f"https://api.{name}.example"},
    }


def seen_from(name: str, **spec: Any) -> Workplace:
    rows = [row("first"), row("second"), row("third")]
    models = built.JUDGED.spec.dump()["models"]
    project = objects.project(repositories=rows, models=models, **spec)
    return workplace.at(project.whole, name)


@pytest.mark.parametrize("kind", KINDS)
def test_a_job_names_nothing_of_another_repository(kind: str) -> None:
    wanted, owner = built.WANTED[kind]
    job = built.follow_up(wanted, owner, seen_from("second"), built.PLAIN_SETTINGS)

    told = json.dumps(job)
    assert "second-" in told
    assert "first" not in told
    assert "third" not in told
    assert job["metadata"]["labels"][labels.REPOSITORY] == "second"


def test_the_agent_of_a_task_sees_its_repository_alone() -> None:
    job = built.agent_job(seen_from("third"), built.PLAIN_SETTINGS)

    told = json.dumps(job)
    assert "third-read" in told
    assert "third-work" in told
    assert "third-deliver" not in told
    assert "second" not in told
    assert "first" not in told


def test_each_account_of_each_repository_is_tried_by_a_container_that_sees_no_other() -> None:
    project = seen_from("first").whole
    job = probe_job(
        RunProbe("default--probe-0", "1"), project, "team", built.PROJECT, built.PLAIN_SETTINGS
    )
    pod = job["spec"]["template"]["spec"]
    secret_of = {v["name"]: v["secret"]["secretName"] for v in pod["volumes"] if "secret" in v}
    ca_of = {v["name"]: v["configMap"]["name"] for v in pod["volumes"] if "configMap" in v}

    seen = set()
    for container in pod["containers"]:
        secrets = [
            secret_of[m["name"]]
            for m in container.get("volumeMounts", ())
            if m["name"] in secret_of
        ]
        for secret in secrets:
            assert len(secrets) == 1
            repository = secret.partition("-")[0]
            told = json.dumps(container)
            assert f"https://git.{repository}.example/it.git" in told
            assert told.count(".example/it.git") == 1
            cas = [
                ca_of[m["name"]] for m in container.get("volumeMounts", ()) if m["name"] in ca_of
            ]
            assert cas == [f"{repository}-ca"]
            seen.add(secret)
    accounts = ("read", "work", "deliver")
    assert seen == {f"{name}-{each}" for name in ("first", "second", "third") for each in accounts}
    names = [container["name"] for container in pod["containers"]]
    assert len(names) == len(set(names))


def test_who_works_in_the_first_repository_has_the_jobs_of_a_project_with_one() -> None:
    """But for the mark: which one is the first may be another one tomorrow."""
    wanted, owner = built.WANTED["land"]
    several = built.follow_up(wanted, owner, seen_from("first"), built.PLAIN_SETTINGS)
    alone = objects.project(repositories=[row("first")], models=built.JUDGED.spec.dump()["models"])

    assert several["metadata"]["labels"][labels.REPOSITORY] == "first"
    for marked in (several["metadata"], several["spec"]["template"]["metadata"]):
        marked["labels"].pop(labels.REPOSITORY, None)
    assert several == built.follow_up(wanted, owner, alone, built.PLAIN_SETTINGS)


def test_the_account_of_work_is_tried_on_all_branches_of_its_repository() -> None:
    """Two entries may be for two branches of one, and one of them alone have a forge."""
    one = {**row("first"), "branch": "main"}
    other = {**row("second"), "url": one["url"].removesuffix(".git"), "branch": "release"}
    one.pop("forge", None)
    other["forge"] = {"type": "gitea", "token": {"name": "token", "key": "token"}}
    project = objects.project(repositories=[one, other, row("third")]).whole
    asked = RunProbe("default--probe-0", "1")
    job = probe_job(asked, project, "team", built.PROJECT, built.PLAIN_SETTINGS)

    told = {
        each["name"]: load(ProbeConfig, configuration(each))
        for each in job["spec"]["template"]["spec"]["containers"]
        if each["name"].startswith("probe")
    }
    main, release = "refs/heads/main", "refs/heads/release"
    tried = {name: (config.branch, config.others) for name, config in told.items()}
    assert tried["probe-work"] == (main, (release,))
    assert tried["probe-work-1"] == (release, (main,))
    proposed = {name for name, config in told.items() if config.proposed}
    assert {"probe-work", "probe-work-1"} <= proposed
    assert not [c for c in told.values() if c.account != "work" and (c.others or c.proposed)]
    assert not told["probe-work-2"].others


def test_where_work_has_a_repository_of_its_own_every_program_with_git_is_told_its_address() -> (
    None
):
    url = "https://work.example/it.git"
    project = objects.project(repositories=[row("first") | {"workRepository": {"url": url}}])
    for found, told in ((project, url), (objects.project(repositories=[row("first")]), None)):
        pod = built.agent_job(found, built.PLAIN_SETTINGS)["spec"]["template"]["spec"]
        ours = {
            each["name"]: json.loads(configuration(each))
            for each in [*pod["initContainers"], *pod["containers"]]
            if program(each) is not None
        }
        for name in ("checkout", "pusher"):
            assert ours[name]["remote"].get("work_url") == told
