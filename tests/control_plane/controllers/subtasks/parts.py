"""A step that says its subtasks, and the subtasks of a Task in a cluster."""

from __future__ import annotations

from bernstein.kube.resource import Object
from tests.control_plane.controllers.world import World
from tests.control_plane.objects import TASKS


def said(*titles: str, **more: object) -> Object:
    return {"title": "big", **more, "subtasks": [{"title": title} for title in titles]}


def parts(parent: Object) -> list[str]:
    return [row["name"] for row in parent["status"].get("subtasks", ())]


async def split(world: World, name: str) -> list[str]:
    """Names of its subtasks, once all are there."""
    parent = await world.until(
        TASKS,
        name,
        lambda t: parts(t) and all(row.get("uid") for row in t["status"]["subtasks"]),
    )
    return parts(parent)
