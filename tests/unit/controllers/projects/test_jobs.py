"""How often a Project's Jobs are put together for one look."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from bernstein.api.meta import Metadata
from bernstein.controllers.job_views import JobViews
from bernstein.core.jobs import JobView
from bernstein.kube.client import Client
from bernstein.resources import PROJECTS
from tests.background import Background
from tests.unit.controllers.projects.test_controller import Projects
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, sha
from tests.unit.kube.apiserver import ApiServer

REPOSITORIES = ("app", "api", "web")


async def test_they_are_put_together_once_whatever_looks_at_them(
    api: ApiServer,
    client: Client,
    background: Background,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Projects(api, client, background)
    account = objects.project().spec.repository.credentials.dump()
    cache = {"claim": "caches"}
    rows = [
        {"name": n, "url": f"https://git.example/{n}.git", "credentials": account, "cache": cache}
        for n in REPOSITORIES
    ]
    row = {
        "ref": f"refs/bernstein/{'1' * 16}/a/s1",
        "sha": sha(1),
        "due": objects.at(0).isoformat(),
    }
    status = {
        "refs": [{"repository": n, "batch": [row], "waiting": [row]} for n in REPOSITORIES],
        "watches": [{"repository": n, "number": 3} for n in REPOSITORIES],
    }
    spec = objects.project(repositories=rows).whole.spec.dump()
    api.put(PROJECTS, "default", NAMESPACE, metadata={"generation": 1}, spec=spec, status=status)
    await rig.start()
    looks: list[tuple[str | None, ...]] = []
    plain = JobViews.of

    async def counted(
        self: JobViews, owner: Metadata, now: datetime, *expected: str | None
    ) -> dict[str, JobView]:
        looks.append(expected)
        return await plain(self, owner, now, *expected)

    monkeypatch.setattr(JobViews, "of", counted)
    before = api.count("GET", "jobs")

    told: dict[str, Any] = await rig.look()

    assert {*told["refs"][0]["batch"][0]} == {"ref", "sha", "due"}
    (expected,) = looks
    assert len({each for each in expected if each and "--prune-" in each}) == 3
    assert api.count("GET", "jobs") <= before + 1
