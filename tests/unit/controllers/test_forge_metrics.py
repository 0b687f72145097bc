"""What Jobs that end say of the requests that they made is counted, once, by the forge's type."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import Failure
from bernstein.api.programs.forge import ListenResult, ProposeResult, SeenPullRequest
from bernstein.api.programs.forge_jobs import LISTEN, PROPOSE, AskedForge
from bernstein.api.project import Project
from bernstein.controllers.metrics import forge
from bernstein.core import diagnosis, labels
from bernstein.kube.resource import Key, Object
from bernstein.observe.metrics import Metrics
from tests.unit.core import objects
from tests.unit.core.objects import ended

HEARD = ListenResult("1" * 40, "d1", requests=7, unchanged=2)
PROPOSED = ProposeResult(SeenPullRequest(1, "Open", "1" * 40), "https://forge/1", 3, 0)
AT_WORK: Object = {"state": {"running": {}}}
TOKEN = {"name": "t", "key": "token"}
ACCOUNTS = {each: {"secretName": "a"} for each in ("read", "work", "deliver")}
REPOSITORIES = [
    {"name": name, "url": f"https://git.example/{name}.git", "credentials": ACCOUNTS}
    | {"forge": {"type": forge, "token": TOKEN}}
    for name, forge in (("one", "gitea"), ("two", "gitlab"))
]
PROJECT = Project.model_validate(
    {
        "metadata": objects.metadata("default", "uid-default"),
        "spec": objects.project().spec.dump() | {"repositories": REPOSITORIES},
    }
)


def pod(kind: str, container: Object, **own: str) -> Object:
    own = {labels.JOB: kind, labels.PROJECT: "default", **own}
    meta = {"name": "p", "namespace": "team", "labels": own}
    return {"metadata": meta, "status": {"containerStatuses": [{"name": kind} | container]}}


def counted(*seen: tuple[Object | None, Object | None]) -> dict[tuple[str, str], float]:
    """Requests by forge and answer."""
    metrics = Metrics(process=False)
    handle = forge.observer(metrics, lambda key: PROJECT if key == Key("team", "default") else None)
    for old, new in seen:
        handle(old, new)
    return {
        (sample.labels["forge"], sample.labels["answer"]): sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == "bernstein_forge_requests_total"
    }


def end(kind: str, said: Any, *, code: int = 0, **own: str) -> Object:
    return pod(kind, ended(kind, code, said=said), **own)


@pytest.mark.parametrize(
    ("kind", "said", "full", "unchanged"), [(LISTEN, HEARD, 5, 2), (PROPOSE, PROPOSED, 3, None)]
)
def test_a_job_that_ends_is_counted_once(kind: str, said: Any, full: int, unchanged: Any) -> None:
    over = end(kind, said)

    found = counted((pod(kind, AT_WORK), over), (over, over), (over, None))

    assert found.get(("gitea", "full")) == full
    assert found.get(("gitea", "unchanged")) == unchanged


def test_what_a_job_has_asked_that_failed_is_counted_too() -> None:
    said = Failure("ForgeRateLimited", "x", AskedForge(60, requests=4, unchanged=1))

    found = counted((pod(LISTEN, AT_WORK), end(LISTEN, said, code=1)))

    assert found == {("gitea", "full"): 3, ("gitea", "unchanged"): 1}


def test_it_is_the_forge_of_the_repository_that_the_job_is_of() -> None:
    own: dict[str, Any] = {labels.REPOSITORY: "two"}

    found = counted((pod(LISTEN, AT_WORK, **own), end(LISTEN, HEARD, **own)))

    assert found == {("gitlab", "full"): 5, ("gitlab", "unchanged"): 2}


def test_of_a_project_that_is_gone_the_forge_is_another() -> None:
    own: dict[str, Any] = {labels.PROJECT: "gone"}

    found = counted((pod(LISTEN, AT_WORK, **own), end(LISTEN, HEARD, **own)))

    assert found == {("other", "full"): 5, ("other", "unchanged"): 2}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, end(LISTEN, HEARD)),
        (pod(LISTEN, AT_WORK), end(LISTEN, Failure("ForgeUnreachable", "x"), code=1)),
        (pod(LISTEN, AT_WORK), end(LISTEN, "no JSON")),
        (pod(LISTEN, AT_WORK), pod(LISTEN, AT_WORK)),
        (pod("watch", AT_WORK), end("watch", HEARD)),
        (pod("check", AT_WORK), end("check", HEARD)),
        (pod(LISTEN, AT_WORK), end(LISTEN, ListenResult("1" * 40, "d1", requests=-3))),
    ],
)
def test_whatever_else_ends_is_not_counted(old: Object | None, new: Object) -> None:
    assert counted((old, new)) == {}


def test_what_no_program_of_ours_says_is_bounded() -> None:
    said = ListenResult("1" * 40, "d1", requests=10**12, unchanged=10**13)

    found = counted((pod(LISTEN, AT_WORK), end(LISTEN, said)))

    assert found == {("gitea", "unchanged"): diagnosis.MOST_REQUESTS}
