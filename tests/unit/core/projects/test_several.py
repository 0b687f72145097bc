"""A Project with several repositories: each is probed and watched, and messages name it."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from bernstein.api.programs.forge import SeenPullRequest
from bernstein.api.project import Probe, ProbeFinding, Project
from bernstein.api.projects import workplace
from bernstein.api.projects.watching import PullRequestWatch
from bernstein.api.task import Task
from bernstein.controllers import network_policies
from bernstein.core.plans.judgement import problems_of
from bernstein.core.projects import probing, readiness, repositories, watching
from bernstein.core.projects.actions import RunWatch
from bernstein.core.projects.proofs import against, proofs
from bernstein.core.projects.watching import WatchSnapshot
from bernstein.core.scheduling import landing_turns
from tests.unit.controllers.jobs.built import PLAIN_SETTINGS
from tests.unit.core import objects
from tests.unit.core.objects import NOW
from tests.unit.core.projects.test_repositories import row

TOKEN = {"name": "forge", "key": "token"}
FORGE = {"type": "gitea", "token": TOKEN}
ONE = SeenPullRequest(7, "Open", objects.HEAD, "main")


def project(**status: Any) -> Project:
    rows = [
        row("app", forge=FORGE),
        row("web", url="https://git.example:8443/web.git", forge=FORGE),
    ]
    found = objects.project(repositories=rows, merge={"strategy": "pr"}).whole
    return found.model_copy(update={"status": found.status.model_copy(update=status)})


def test_each_account_is_called_with_its_repository() -> None:
    told = [each.subject for each in probing.tries(project().spec).values()]

    assert told == [
        *("read of 'app'", "work of 'app'", "deliver of 'app'"),
        *("read of 'web'", "work of 'web'", "deliver of 'web'"),
    ]


def test_the_condition_names_the_repository_and_the_field_of_its_secret() -> None:
    found = ProbeFinding(
        subject="work of 'web'", reason="RepositoryAuthFailed", message="it is refused"
    )
    probe = Probe(generation=1, number=0, settled=True, findings=(found,))
    (ready, *_) = readiness.status(project(), 0, None, probe, NOW).conditions

    assert ready.reason == "RepositoryAuthFailed"
    assert "work of 'web': it is refused" in ready.message
    assert "'web-work' (spec.repositories[1].credentials.work.secretName)" in ready.message
    assert "app-work" not in ready.message


def test_a_work_account_that_is_too_strong_is_that_of_one_repository() -> None:
    probe = Probe(generation=1, number=0, settled=True, too_strong=True, too_strong_in=("web",))
    told = readiness.status(project(), 0, None, probe, NOW).conditions

    (strong,) = [each for each in told if each.type == "WorkCredentialTooStrong"]
    assert "push to 'main' or below 'bernstein/' of repository 'web'" in strong.message


@pytest.mark.parametrize(
    ("subject", "disproved"), [("read of 'web'", True), ("read of 'app'", False)]
)
def test_what_goes_well_in_one_repository_says_nothing_of_another(
    subject: str, disproved: bool
) -> None:
    plan = objects.plan()
    assert plan.status.integration is not None
    begun = plan.status.integration.model_copy(update={"repository": "web", "since": NOW})
    plan = plan.model_copy(update={"status": plan.status.model_copy(update={"integration": begun})})
    seen = proofs(project(), (plan,), ())

    assert seen == {"work of 'web'": NOW}
    found = ProbeFinding(subject=subject, reason="RepositoryUnreachable", message="x")
    assert (against((found,), seen) is not None) is disproved


def test_each_repository_has_a_watch_of_its_own() -> None:
    app = PullRequestWatch(repository="app", number=3)
    whole = project(watches=(app,))
    decided = {
        name: watching.decide(WatchSnapshot(workplace.at(whole, name), {}, (ONE,)), NOW)
        for name in ("app", "web")
    }

    jobs = {name: step.actions[0] for name, step in decided.items()}
    assert all(isinstance(job, RunWatch) for job in jobs.values())
    assert {name: job.job for name, job in jobs.items() if isinstance(job, RunWatch)} == {
        "app": "default--watch-3",
        "web": "default--watch-web-0",
    }
    kept = [step.status for step in decided.values() if step.status is not None]
    assert [each.repository for each in kept] == ["app", "web"]


def test_what_an_older_release_has_watched_is_that_of_the_first_repository() -> None:
    older = objects.project(repositories=[row("app", forge=FORGE)], merge={"strategy": "pr"})
    status = older.status.model_copy(update={"watch": PullRequestWatch(number=5)})
    older = older.model_copy(update={"status": status})

    step = watching.decide(WatchSnapshot(older, {}, (ONE,)), NOW)

    (run,) = step.actions
    assert isinstance(run, RunWatch)
    assert run.job == "default--watch-5"


def lands(name: str, repo: str | None) -> Task:
    asks = objects.done(
        delivery={"state": "Pending", "onto": "refs/heads/main"},
        waiting=objects.waits("MergeQueue"),
    )
    return objects.task(name, plan=None, status=asks, repo=repo)


def test_who_lands_in_the_same_branch_of_another_repository_has_a_turn_of_his_own() -> None:
    tasks = [lands("a", None), lands("b", "web"), lands("c", "https://git.example/app.git")]
    board = turns(tasks)

    assert board == {"a": "Next", "b": "Next", "c": "'a' lands first"}


def turns(tasks: list[Task]) -> dict[str, str]:
    called = partial(repositories.called, project().spec)
    told = {}
    for task, status in landing_turns.turns(tasks, NOW, called):
        step = status.delivery.step if status.delivery is not None else None
        waits = status.waiting.message if status.waiting is not None else ""
        told[task.metadata.name] = step or waits
    return told


def test_the_ports_of_all_repositories_are_open() -> None:
    policies = network_policies.build(project(), PLAIN_SETTINGS)

    (git,) = [each for each in policies if each["metadata"]["name"].endswith("-git")]
    ports = [port["port"] for port in git["spec"]["egress"][-1]["ports"]]
    assert ports == [443, 8443]


@pytest.mark.parametrize(
    ("repos", "problem"),
    [
        ([{"path": "web"}], ""),
        ([{"path": "https://git.example/app"}], ""),
        ([{"path": "web", "branch": "main", "name": "front"}], ""),
        ([{"path": "wep"}], "repos[0].path: the Project has no repository 'wep', did you mean"),
        ([{"path": "https://evil.example/x"}], "it has: app, web"),
        ([{"path": "web", "branch": "production"}], "work in it goes to main"),
        ([{"path": "ext::sh"}], "it has: app, web"),
    ],
)
def test_a_plan_names_a_repository_that_the_project_offers(
    repos: list[dict[str, str]], problem: str
) -> None:
    told = problems_of(objects.plan(repos=repos).spec, project().spec)

    assert problem in told
    assert bool(told) is bool(problem)


def of_secrets(app: str, web: str, forge: tuple[str, str] | None = None) -> Project:
    """The Secret of `app`'s work, that of `web`'s delivery, and the token of `web`'s forge."""
    rows = [row("app"), row("web", url="https://git.example:8443/web.git")]
    rows[0]["credentials"]["work"] = {"secretName": app}
    rows[1]["credentials"]["deliver"] = {"secretName": web}
    if forge is not None:
        rows[1]["forge"] = {"type": "gitea", "token": {"name": forge[0], "key": forge[1]}}
    return objects.project(repositories=rows).whole


@pytest.mark.parametrize(
    ("subject", "words"),
    [
        (of_secrets("one", "two"), None),
        (of_secrets("one", "one"), "work in repository 'app' and deliver in repository 'web' name"),
        (
            of_secrets("one", "two", ("one", "password")),
            "work in repository 'app' and the forge's token in repository 'web' are the same key",
        ),
        (of_secrets("one", "two", ("one", "token")), None),
    ],
    ids=["each its own", "deliver of another", "token of another", "a key that no pod mounts"],
)
def test_an_account_for_work_that_delivers_in_another_repository_is_told(
    subject: Project, words: str | None
) -> None:
    told = readiness.status(subject, 0, None, Probe(generation=1, number=0, settled=True), NOW)

    found = [each for each in told.conditions if each.type == "WorkCredentialTooStrong"]
    assert [each.reason for each in found] == ["SameSecret"] * (words is not None)
    assert words is None or words in found[0].message


def test_an_account_that_reads_by_the_token_of_the_forge_is_told() -> None:
    one = row("app", forge={"type": "gitea", "token": {"name": "reads", "key": "password"}})
    one["credentials"]["read"] = {"secretName": "reads"}
    subject = objects.project(repositories=[one]).whole

    told = readiness.status(subject, 0, None, Probe(generation=1, number=0, settled=True), NOW)

    (found,) = [each for each in told.conditions if each.type == "ReadCredentialTooStrong"]
    assert found.message.startswith("read and the forge's token are the same key of a Secret")


def two_branches() -> Project:
    """Two entries for one repository."""
    address = "https://git.example:8443/app"
    rows = [
        row("app", url=f"{address}.git"),
        row("old", url=address, branch="release", forge=FORGE),
    ]
    return objects.project(repositories=rows).whole


def test_one_that_may_push_to_a_branch_of_another_entry_is_told_with_both() -> None:
    probe = Probe(generation=1, number=0, settled=True, too_strong=True, too_strong_in=("app",))
    told = readiness.status(two_branches(), 0, None, probe, NOW).conditions

    (strong,) = [each for each in told if each.type == "WorkCredentialTooStrong"]
    assert (
        "push to 'main' or below 'bernstein/' of repository 'app', or to 'release', as 'old' has it"
    ) in strong.message
