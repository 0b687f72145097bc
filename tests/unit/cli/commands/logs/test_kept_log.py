"""What was kept of an agent's log is taken for its own only where its session owns it."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from bernstein.cli.cluster import Cluster
from bernstein.cli.commands.logs import kept_log
from bernstein.controllers.logs.agents import config_map
from bernstein.core.logs.packed import pack
from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.unit.core.objects import session

SAID = "I cannot do it\n"


class Holds:
    """A cluster with one object."""

    def __init__(self, obj: Object) -> None:
        self._obj = obj

    async def get(self, *_: Any, **__: Any) -> Object:
        return self._obj


def shown(**owner: Any) -> str | None:
    """What is read of a log that was kept, where these fields of its owner are others."""
    subject = session()
    obj = config_map(subject, pack(SAID.encode()))
    obj["metadata"]["ownerReferences"][0] |= owner
    cluster = Cluster(cast("Client", Holds(obj)), "team")
    found = asyncio.run(kept_log.of_agent(cluster, subject))
    return None if found is None else found.text


def test_what_the_operator_kept_is_shown() -> None:
    assert shown() == SAID


OTHERS: list[Object] = [
    {"uid": "another"},
    {"kind": "Pod", "apiVersion": "v1"},
    {"kind": "Task"},
    {"controller": False},
]


@pytest.mark.parametrize("owner", OTHERS)
def test_what_anybody_may_have_made_under_that_name_is_not(owner: Object) -> None:
    assert shown(**owner) is None
