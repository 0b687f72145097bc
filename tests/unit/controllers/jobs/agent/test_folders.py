"""Agents get the folders that a Project names; who judges and merges gets all of the tree."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bernstein.api.encoding import load
from bernstein.api.pod import CheckoutConfig, RecorderConfig
from bernstein.api.projects.repository import Checkout
from bernstein.api.projects.workplace import Workplace
from bernstein.core.prompts import parts
from bernstein.core.sessions.prompt import of_snapshot
from bernstein.core.snapshot import TaskSnapshot
from tests.unit.controllers.jobs import built
from tests.unit.controllers.jobs.test_repositories import KINDS, row
from tests.unit.core import objects

FOLDERS = ("services/billing", ".github")


def with_folders() -> Workplace:
    models = built.JUDGED.spec.dump()["models"]
    large = {**row("first"), "checkout": {"folders": FOLDERS}}
    return objects.project(repositories=[large], models=models)


def test_checkout_and_recorder_of_an_agent_are_told_the_same_folders() -> None:
    job = built.agent_job(with_folders(), built.PLAIN_SETTINGS)
    started = {c["name"]: c for c in job["spec"]["template"]["spec"]["initContainers"]}

    fetched = load(CheckoutConfig, built.configuration(started["checkout"]))
    recorded = load(RecorderConfig, built.configuration(started["recorder"]))
    assert fetched.folders == recorded.folders == FOLDERS


def test_without_them_pods_are_told_of_none() -> None:
    project = objects.project(repositories=[row("first")])
    job = built.agent_job(project, built.PLAIN_SETTINGS)
    assert "folders" not in str(job)


@pytest.mark.parametrize("kind", KINDS)
def test_every_other_job_is_as_it_is_without_them(kind: str) -> None:
    wanted, owner = built.WANTED[kind]
    models = built.JUDGED.spec.dump()["models"]
    plain = objects.project(repositories=[row("first")], models=models)

    job = built.follow_up(wanted, owner, with_folders(), built.PLAIN_SETTINGS)
    assert job == built.follow_up(wanted, owner, plain, built.PLAIN_SETTINGS)


@pytest.mark.parametrize(
    "folder", ["", "/a", "a/", "a//b", "..", "a/..", "./a", "-a", "a/*", "a\nb", "!a", "a b", "[a]"]
)
def test_what_is_no_plain_path_of_a_folder_is_refused(folder: str) -> None:
    with pytest.raises(ValidationError):
        Checkout(folders=(folder,))


def told(project: Workplace, *, goes_on: bool = False) -> str:
    """What holds for the attempt of a Task of this Project that is to change nothing."""
    snapshot = TaskSnapshot(task=objects.task(changes="none"), project=project)
    texts = of_snapshot(snapshot, 1, "refs/bernstein/1/work/s1" if goes_on else None)
    return parts.begun(texts, resumed=goes_on)[parts.NOTES]


def test_an_agent_is_told_which_folders_it_has() -> None:
    note = told(objects.project(repositories=[row("first")]))

    with_them = told(with_folders())
    assert with_them.startswith(f"{note}\n\nOf the repository only these folders")
    assert "`services/billing`, `.github`" in with_them


def test_who_goes_on_from_a_checkpoint_is_told_so_too() -> None:
    note = told(with_folders(), goes_on=True)

    assert "Of the repository only these folders" in note
    assert note.endswith("look at it (`git status`, `git diff`) and go on from there.")


def test_who_has_all_of_it_is_told_nothing() -> None:
    assert "folders" not in told(objects.project(repositories=[row("first")]))
