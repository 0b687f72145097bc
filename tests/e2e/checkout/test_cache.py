"""A cache of the repository on a real volume: filled by its Job, copied by checkouts, and no more
than a hint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.checkout.volume import Volume, a_volume
from tests.e2e.conftest import EXISTS, MakeWorld, World, condition, does, writing
from tests.stack import Stack

Object = dict[str, Any]


@pytest.fixture
def volume(stack: Stack) -> Iterator[Volume]:
    with a_volume(stack) as made:
        yield made


def _cached(spec: Object) -> None:
    spec["repositories"][0]["cache"] = {"claim": "caches", "refreshSeconds": 3600}


def _known(project: Object) -> Object:
    found: Object
    (found,) = project["status"]["caches"]
    return found


def _checkout(here: World, task: str) -> str:
    """What the checkout of its agent has logged."""
    here.closed(task)
    return here.kubectl("logs", f"job/{task}-s1", "-c", "checkout")


def test_checkouts_copy_what_the_cache_has_and_fetch_it_where_it_is_missing_or_spoilt(
    world: MakeWorld, volume: Volume
) -> None:
    names = ("first", "second", "third")
    here = world([does(n, writing(f"{n}.py", f"NAME = {n!r}\n")) for n in names], _cached)
    name = here.project["metadata"]["name"]

    def task(which: str) -> str:
        return here.task(which, completionSignals=[{**EXISTS, "path": f"{which}.py"}])

    # There is no claim: work goes on, and the Project says what is missing.
    assert '"cache-' not in _checkout(here, task("first"))
    lacking = here.await_("project", name, lambda p: bool(condition(p, "CacheNotFilled")))
    told = condition(lacking, "CacheNotFilled")
    assert told["reason"] == "ClaimNotFound"
    assert "'caches' is not in the namespace" in told["message"]

    volume.claim(here)
    filled = here.await_("project", name, lambda p: "content" in _known(p))
    known = _known(filled)
    assert known["content"]["commit"] in here.on_server("rev-list", "main").split()
    assert not condition(filled, "CacheNotFilled")
    log = _checkout(here, task("second"))
    assert '"cache-used"' in log
    assert known["content"]["commit"] in log
    (agent,) = [
        each
        for each in here.all("pods")
        if each["metadata"]["labels"].get("bernstein.dev/session") == "second-s1"
        and each["metadata"]["labels"]["bernstein.dev/job"] == "agent"
    ]
    mounting = [
        each["name"]
        for each in (*agent["spec"]["initContainers"], *agent["spec"]["containers"])
        if any(mount["name"] == "cache" for mount in each["volumeMounts"])
    ]
    assert mounting == ["checkout"]

    # Whoever may write there changes one byte.
    pack = f"{volume.folder}/{known['folder']}/{known['content']['pack']['name']}"
    volume.does(f"printf x | dd of={pack} bs=1 seek=40 conv=notrunc")
    log = _checkout(here, task("third"))
    assert '"cache-not-used"' in log
    assert "is another one than was put there" in log
    assert {f"{each}.py" for each in names} <= {*here.files()}
