"""Which addresses of a repository the API server takes."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.kube.client import Client
from bernstein.kube.errors import Invalid
from tests.control_plane.objects import KINDS, valid
from tests.unit.api.addresses import REFUSED, TAKEN


async def test_an_address_has_no_part_that_could_be_read_otherwise(
    admin: Client, namespace: str
) -> None:
    for number, url in enumerate(TAKEN):
        await admin.create(KINDS["Project"], _project(namespace, f"taken{number}", url))
    for url in REFUSED:
        with pytest.raises(Invalid, match=r"spec\.repositories\[0\]\.url"):
            await admin.create(KINDS["Project"], _project(namespace, "refused", url))


def _project(namespace: str, name: str, url: str) -> dict[str, Any]:
    project: dict[str, Any] = valid("Project", namespace, name)
    for each in project["spec"]["repositories"]:
        each["url"] = url
        each.pop("ca", None)
    return project
