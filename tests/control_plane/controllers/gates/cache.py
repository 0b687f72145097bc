"""Where what is known of a Project's gates is kept, and what has to be so that anything is."""

from __future__ import annotations

from bernstein.kube.resource import CONFIG_MAPS, Object
from tests.control_plane.controllers.world import World

NAME = "default-gate-cache"
NETWORK = {"git": [{"to": [{"ipBlock": {"cidr": "192.0.2.7/32"}}]}]}
"""Checks reach nobody: where git is is said."""
IMAGES = {
    image: f"sha256:{digit * 64}"
    for image, digit in (("bernstein:dev", "a"), ("toolchain:dev", "b"), ("own:1", "c"))
}
"""What the node tells of images."""


async def told(world: World) -> Object:
    """Raises NotFound where nothing is kept."""
    data: Object = (await world.get(CONFIG_MAPS, NAME))["data"]
    return data


async def forge(world: World, data: Object) -> None:
    """The same words in an object of somebody else's."""
    forged = {"metadata": {"name": NAME, "namespace": world.namespace}, "data": data}
    await world.admin.create(CONFIG_MAPS, forged)
