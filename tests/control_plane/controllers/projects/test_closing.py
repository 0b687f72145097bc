"""The pull request of what is cancelled is closed, with the real controllers."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.programs.forge import ProposeResult
from bernstein.kube.resource import JOBS
from tests.control_plane.controllers.crash.stories import is_open, on_forge, withdrawn
from tests.control_plane.controllers.world import World, stage
from tests.control_plane.objects import PLANS


async def test_a_plan_that_is_cancelled_leaves_no_open_pull_request(world: World) -> None:
    await world.start()

    await withdrawn(world)

    status = (await world.get(PLANS, "shop"))["status"]
    assert (status["delivery"]["state"], status["delivery"]["pullRequest"]["state"]) == (
        "Withdrawn",
        "Closed",
    )
    (ended,) = [each for each in status["conditions"] if each["type"] == "Succeeded"]
    assert ended["message"].endswith("/pulls/1 is closed")
    jobs = await world.all(JOBS)
    assert len([name for name in jobs if "-propose-" in name]) == 2


async def test_one_that_people_merge_just_before_is_called_merged_once_a_job_has_seen_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.start()
    await on_forge(world)
    await world.plan("shop", [stage("a", "one")])
    await world.until(PLANS, "shop", is_open)
    remote = world.kubelet.remote
    asked = remote.asked

    def late(config: Any) -> ProposeResult:
        remote.merge(remote.pulls[0])
        return asked(config)

    monkeypatch.setattr(remote, "asked", late)
    before = {name for name in await world.all(JOBS) if "-land-" in name}
    await world.change(PLANS, "shop", cancel={"reason": "not needed any more"})
    await world.until(PLANS, "shop", lambda p: p["status"]["phase"] == "Cancelled")

    status = (await world.get(PLANS, "shop"))["status"]
    assert (status["delivery"]["state"], status["delivery"]["pullRequest"]["state"]) == (
        "Merged",
        "Merged",
    )
    (ended,) = [each for each in status["conditions"] if each["type"] == "Succeeded"]
    assert ended["message"].endswith("/pulls/1 was merged")
    looked = {name for name in await world.all(JOBS) if "-land-" in name} - before
    assert len(looked) == 1
