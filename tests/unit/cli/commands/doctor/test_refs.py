"""Which refs `bernstein doctor` lists, and what it says where it cannot look."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from bernstein.api.project import Project
from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.doctor import refs
from bernstein.cli.commands.doctor.finding import Outcome
from bernstein.core import names
from bernstein.kube.client import Client
from bernstein.resources import PLANS, TASKS
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE
from tests.unit.kube.apiserver import ApiServer

PLAN, TASK = "11112222-3333-4444-8555-666677778888", "99990000-3333-4444-8555-666677778888"
GONE = "0f3c5a7e-9b1d-2c4f-8555-666677778888"


def repository(folder: Path, *made: str) -> Project:
    """A Project whose repository has these refs."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b"]
        told = subprocess.run([*command, *arguments], check=True, capture_output=True, text=True)
        return told.stdout.strip()

    git("init", "--quiet", "--bare")
    commit = git("commit-tree", git("mktree", "--missing"), "-m", "one")
    for ref in ("refs/heads/main", *made):
        git("update-ref", ref, commit)
    project = objects.project()
    changed = project.spec.repositories[0].model_copy(update={"url": str(folder)})
    spec = project.spec.model_copy(update={"repositories": (changed,)})
    return project.model_copy(update={"spec": spec})


def left(uid: str) -> tuple[str, ...]:
    folder = names.refs_of(uid)
    return (f"{folder}/integration", f"{folder}/write/s1")


async def test_refs_of_what_is_gone_are_listed_and_no_others(
    api: ApiServer, client: Client, tmp_path: Path
) -> None:
    api.put(PLANS, "web", NAMESPACE, metadata={"uid": PLAN}, spec={})
    api.put(TASKS, "alone", "elsewhere", metadata={"uid": TASK}, spec={})
    old = names.old_integration_ref(PLAN)
    project = repository(tmp_path, *left(PLAN), *left(TASK), *left(GONE), old)

    (found,) = await refs.look(Cluster(client, NAMESPACE), [project, project])

    assert found.outcome is Outcome.WARNING
    assert found.refs == left(GONE)
    assert "2 refs belong to no Plan or Task of this cluster" in found.message
    assert found.details == (f"{names.refs_of(GONE)}/: 2 refs",)


async def test_a_repository_without_such_refs_is_good(
    api: ApiServer, client: Client, tmp_path: Path
) -> None:
    (found,) = await refs.look(Cluster(client, NAMESPACE), [repository(tmp_path)])

    assert found.outcome is Outcome.GOOD


async def test_who_may_not_list_all_namespaces_is_told_that_others_may_have_them(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(*_: object) -> None:
        """A list over all namespaces is forbidden."""

    monkeypatch.setattr(refs, "listed", none)

    (found,) = await refs.look(Cluster(client, NAMESPACE), [repository(tmp_path, *left(GONE))])

    assert found.outcome is Outcome.UNKNOWN
    assert "you may not list the others'" in found.message


async def test_a_repository_that_git_may_not_read_is_unknown(
    api: ApiServer, client: Client, tmp_path: Path
) -> None:
    project = repository(tmp_path)
    missing = project.spec.repositories[0].model_copy(update={"url": str(tmp_path / "missing")})
    spec = project.spec.model_copy(update={"repositories": (missing,)})

    (found,) = await refs.look(
        Cluster(client, NAMESPACE), [project.model_copy(update={"spec": spec})]
    )

    assert found.outcome is Outcome.UNKNOWN
    assert "git cannot list its refs" in found.message
    assert "--no-refs" in found.remedy


async def test_who_may_list_no_plans_or_tasks_is_told_so_of_the_refs(
    api: ApiServer, client: Client, tmp_path: Path
) -> None:
    api.fault = lambda call: 403 if call.plural == "tasks" else None

    (found,) = await refs.look(Cluster(client, NAMESPACE), [repository(tmp_path)])

    assert (found.check, found.outcome) == ("refs", Outcome.UNKNOWN)
    assert found.message == f"you may not read Plans and Tasks in namespace '{NAMESPACE}'"


async def test_without_git_nothing_is_known(
    api: ApiServer, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = repository(tmp_path)
    monkeypatch.setenv("PATH", "")

    (found,) = await refs.look(Cluster(client, NAMESPACE), [project])

    assert found.outcome is Outcome.UNKNOWN
    assert "git cannot be started" in found.message


def test_many_folders_are_counted() -> None:
    many: Sequence[str] = [f"refs/bernstein/{number:016x}/write/s1" for number in range(25)]

    found = refs.judge("https://git.example/app.git", many, everywhere=True)

    assert len(found.details) == 21
    assert found.details[-1] == "… and 5 more folders"
    assert len(found.refs) == 25


def test_one_ref_is_one() -> None:
    found = refs.judge("https://git.example/app.git", [left(GONE)[0]], everywhere=True)

    assert "1 ref belongs to no Plan" in found.message


def test_attestations_of_what_has_landed_belong_to_nobody_and_are_kept() -> None:
    ref = names.attestation_ref("a" * 40)

    assert refs.strays([ref, *left(GONE)], [PLAN]) == left(GONE)
