"""The container in which a Project's setup runs: where, with what, and for how long."""

from __future__ import annotations

import json

import pytest

from tests.unit.controllers.jobs.built import JOBS, Object, containers, environment

WITH = {"agent-full": "agent", "setup": "check", "setup-full": "check"}
BOTH = ("setup-both", "setup-both-full")


def by_name(job: str) -> dict[str, Object]:
    return {each["name"]: each for each in containers(job)}


@pytest.mark.parametrize(("job", "follows"), WITH.items())
def test_it_has_the_image_the_limits_and_the_folders_of_what_follows(
    job: str, follows: str
) -> None:
    found = by_name(job)
    setup, after = found["setup"], found[follows]

    assert setup["image"] == after["image"]
    assert setup["resources"] == after["resources"]
    for name in ("HOME", "TMPDIR", "GIT_CONFIG_VALUE_0"):
        assert environment(setup)[name] == environment(after)[name]
    own, theirs = ({m["mountPath"]: m for m in c["volumeMounts"]} for c in (setup, after))
    for path in ("/workspace", "/tmp", environment(after)["HOME"]):
        assert own[path] == theirs[path]
    assert own["/session"]["readOnly"] is True
    assert len(own) == 4
    assert not [e for e in setup["env"] if "valueFrom" in e]


@pytest.mark.parametrize("job", [*WITH, *BOTH])
def test_no_volume_that_it_sees_holds_a_secret(job: str) -> None:
    volumes = {v["name"]: v for v in JOBS[job]["spec"]["template"]["spec"]["volumes"]}
    setups = [c for c in containers(job) if c["name"].startswith("setup")]

    assert setups
    for setup in setups:
        for mount in setup["volumeMounts"]:
            assert "emptyDir" in volumes[mount["name"]]
            assert mount["name"] != "base", "the repository of programs of ours"


def test_it_is_over_before_anything_with_a_credential_stands_beside_it() -> None:
    order = [c["name"] for c in JOBS["agent-full"]["spec"]["template"]["spec"]["initContainers"]]

    assert order[:4] == ["checkout", "setup", "pusher", "recorder"]


@pytest.mark.parametrize("job", BOTH)
def test_of_both_trees_each_is_made_ready_before_its_tool_runs(job: str) -> None:
    found = JOBS[job]["spec"]["template"]["spec"]["initContainers"]

    names = [c["name"] for c in found]
    assert names == ["checkout", "setup-before", "list-before", "setup", "list-head"]
    trees = [c["volumeMounts"][0]["name"] for c in found[1:]]
    assert trees == ["before", "before", "workspace", "workspace"]


@pytest.mark.parametrize(
    ("job", "without", "seconds"),
    [("setup", "check-own-image", 300), ("setup-both", "tool", 600)],
)
def test_what_follows_keeps_its_time(job: str, without: str, seconds: int) -> None:
    with_it, usual = (
        JOBS[name]["spec"]["template"]["spec"]["activeDeadlineSeconds"] for name in (job, without)
    )

    assert with_it - usual == seconds


def test_the_launcher_ends_it() -> None:
    command = by_name("setup")["setup"]["command"]

    assert command[:3] == ["/session/launcher", "--seconds", "300"]
    assert command[-4:] == ["--", "sh", "-c", "npm ci"]
    assert "--session" not in command, "it waits for nobody"


@pytest.mark.parametrize(
    "job", ["inspect-full", "judge-full", "format-full", "land-full", "prepare-full", "both-full"]
)
def test_where_nothing_of_the_work_runs_it_does_not_run_either(job: str) -> None:
    assert not [c for c in containers(job) if c["name"].startswith("setup")]


@pytest.mark.parametrize("job", BOTH)
def test_a_comparison_leaves_what_the_kubelet_takes(job: str) -> None:
    """It gives each container the same part, also to one that somebody else puts in."""
    share = 12 * 1024 // (len(containers(job)) + 1)
    (comparer,) = (c for c in containers(job) if c["name"] == "check")

    assert json.loads(comparer["command"][4])["share"] <= share
