"""A check in a real pod finds what Git LFS stores on the forge; its agent finds the pointer."""

from __future__ import annotations

import hashlib

from tests.e2e.conftest import Object, does, writing
from tests.e2e.forges.conftest import OWNER, MakeTeam
from tests.programs.forges.test_lfs import stored

DATA = bytes(range(256)) * 2000
ELSEWHERE = "[lfs]\n\turl = https://lfs.invalid/\n"
FINDS = (
    f"echo '{hashlib.sha256(DATA).hexdigest()}  art.bin' | sha256sum -c && git status --porcelain "
    "> /tmp/changed && ! test -s /tmp/changed"
)


def fetches(spec: Object) -> None:
    (repository,) = spec["repositories"]
    repository["checkout"] = {"lfs": True}
    gate = {"name": "art", "command": FINDS, "image": "bernstein-toolchain:dev"}
    spec["gates"] = {"extends": None, "pipeline": [gate]}


def test_a_gate_finds_the_content_whatever_the_work_says_of_where_it_is(team: MakeTeam) -> None:
    here = team([does("new", writing(".lfsconfig", ELSEWHERE))], fetches)
    pointer = stored(here.forge, here.repository, DATA)
    here.forge.commit(OWNER, here.repository, "art.bin", pointer, branch="main")
    here.task("new", maxRetries=0)

    task = here.await_("task", "new", lambda t: t["status"]["verification"]["passed"], 240)

    (art,) = [c for c in task["status"]["verification"]["checks"] if c["name"] == "art"]
    assert art["verdict"] == "Passed"
    work = task["status"]["verification"]["sha"]
    assert here.on_server("show", f"{work}:art.bin") == pointer
    pods = [
        p for p in here.all("pod") if p["metadata"]["labels"].get("bernstein.dev/check") == "art"
    ]
    said = here.kubectl("logs", pods[0]["metadata"]["name"], "-c", "checkout")
    assert '"event":"lfs","fetched":1,"left":0' in said
