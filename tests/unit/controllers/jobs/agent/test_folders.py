"""Agents get the folders that a Project names; who judges and merges gets all of the tree."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bernstein.api.encoding import load
from bernstein.api.pod import CheckoutConfig, RecorderConfig
from bernstein.api.projects.repository import Checkout
from bernstein.api.projects.workplace import Workplace
from bernstein.core.prompts import parts
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


def test_an_agent_is_told_which_folders_it_has() -> None:
    texts = parts.partial({parts.NOTES: "a note"}, FOLDERS)
    assert texts[parts.NOTES].startswith("a note\n\nOf the repository only these folders")
    assert "`services/billing`, `.github`" in texts[parts.NOTES]


def test_who_has_all_of_it_is_told_nothing() -> None:
    assert parts.partial({parts.NOTES: "a note"}, ()) == {parts.NOTES: "a note"}
