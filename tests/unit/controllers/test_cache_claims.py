"""Who sees the claim of a cache: who fills it, and each checkout, which only reads it."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.pod import CHECKOUT, CheckoutConfig
from bernstein.api.programs.cached import CACHE, CachedFile, CachedPack, CacheSource
from bernstein.api.projects.cache import CacheState
from bernstein.core.projects import caching
from tests.configuration import told
from tests.unit.controllers.jobs import built
from tests.unit.core import objects

Object = dict[str, Any]

COMMIT, PACK = "c" * 40, "pack-" + "d" * 40
CONTENT = {
    "commit": COMMIT,
    "pack": {"name": f"{PACK}.pack", "size": 600_000_000, "sha256": "1" * 64},
    "index": {"name": f"{PACK}.idx", "size": 1_000_000, "sha256": "2" * 64},
}
_PLAIN = built.JUDGED.spec.dump()
ASKED = objects.project(
    **{
        **_PLAIN,
        "repositories": [{**each, "cache": {"claim": "caches"}} for each in _PLAIN["repositories"]],
    }
)
FOLDER = caching.folder_of(ASKED)


def filled(**more: Any) -> CacheState:
    row = {"repository": "app", "claim": "caches", "folder": FOLDER, "content": CONTENT, **more}
    row["repository"] = ASKED.spec.repository.name
    return CacheState.model_validate(row)


def pods(*known: CacheState) -> dict[str, Object]:
    """The spec of the pod of each Job with a checkout."""
    status = ASKED.status.model_copy(update={"caches": known})
    project = ASKED.model_copy(update={"status": status})
    jobs = {"agent": built.agent_job(project, built.PLAIN_SETTINGS)}
    for name, (wanted, owner) in built.WANTED.items():
        if name not in ("propose", "listen", "watch", "close", "withdraw"):
            jobs[name] = built.follow_up(wanted, owner, project, built.PLAIN_SETTINGS)
    found = {name: job["spec"]["template"]["spec"] for name, job in jobs.items()}
    return {name: pod for name, pod in found.items() if _checkout(pod) is not None}


def _checkout(pod: Object) -> Object | None:
    return next((c for c in pod.get("initContainers", ()) if c["name"] == CHECKOUT), None)


FILLED = pods(filled())


@pytest.mark.parametrize("name", FILLED)
def test_a_filled_cache_is_read_by_the_checkout_and_by_nobody_else(name: str) -> None:
    pod = FILLED[name]
    (volume,) = [v for v in pod["volumes"] if "persistentVolumeClaim" in v]
    assert volume["persistentVolumeClaim"] == {"claimName": "caches", "readOnly": True}
    mounts = {
        each["name"]: mount
        for each in (*pod["initContainers"], *pod["containers"])
        for mount in each.get("volumeMounts", ())
        if mount["name"] == volume["name"]
    }
    assert mounts == {CHECKOUT: {"name": "cache", "mountPath": "/cache", "readOnly": True}}
    checkout = _checkout(pod)
    assert checkout is not None
    config = told(checkout)
    assert CheckoutConfig(**config).cache is not None
    expected = CacheSource(
        FOLDER,
        CachedPack(
            COMMIT,
            CachedFile(f"{PACK}.pack", 600_000_000, "1" * 64),
            CachedFile(f"{PACK}.idx", 1_000_000, "2" * 64),
        ),
    )
    assert built.program(checkout) == CHECKOUT
    assert filled().content is not None
    assert caching.usable(_with(filled())) == ("caches", expected)


def _with(state: CacheState) -> Any:
    status = ASKED.status.model_copy(update={"caches": (state,)})
    return ASKED.model_copy(update={"status": status})


@pytest.mark.parametrize(
    "state",
    [
        filled(content=None),
        filled(claim="another"),
        filled(folder="uid-of-another-address"),
    ],
    ids=["not filled", "another claim", "another address"],
)
def test_what_is_not_filled_or_of_something_else_is_no_pods_to_wait_for(state: CacheState) -> None:
    for pod in pods(state).values():
        assert not [v for v in pod["volumes"] if "persistentVolumeClaim" in v]
        assert "/cache" not in str(_checkout(pod))


def test_who_fills_it_writes_to_it_and_runs_alone() -> None:
    job = built.JOBS[CACHE]
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert "initContainers" not in pod
    assert {"name": "cache", "mountPath": "/cache"} in container["volumeMounts"]
    volume = {"name": "cache", "persistentVolumeClaim": {"claimName": "caches"}}
    assert volume in pod["volumes"]


def test_the_folder_is_of_nothing_that_somebody_may_choose() -> None:
    assert FOLDER.startswith(f"{ASKED.metadata.uid}-")
    spec = ASKED.spec.dump()
    other = [{**each, "branch": "../../x"[6:]} for each in spec["repositories"]]
    assert caching.folder_of(objects.project(**{**spec, "repositories": other})) != FOLDER
