"""`bernstein diff`, with a git that finds the Project's repository on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bernstein.core import labels
from bernstein.resources import PROJECTS, SESSIONS, TASKS
from tests.unit.cli.conftest import Bernstein
from tests.unit.cli.local.repositories import REF, Repository
from tests.unit.core import objects
from tests.unit.kube.apiserver import ApiServer

URL = objects.project().spec.repository.url
HIDDEN = "@decorator\nx = 1  # \u202e\x1b[2J\r\n".encode()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "server.git")
    config = tmp_path / "gitconfig"
    config.write_text(f'[url "{made.url}"]\n insteadOf = {URL}\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    return made


def put(api: ApiServer, **status: Any) -> None:
    """The Project, and a Task of it."""
    api.put(PROJECTS, "default", "team", **objects.project().dump())
    task = objects.task(status=objects.status(project="default", **status)).dump()
    api.put(TASKS, "work", "team", **task)


def changed(repository: Repository, after: bytes = b"x = 1\n") -> dict[str, Any]:
    base = repository.commit("refs/heads/main", {"a.py": b"x = 0\n"})
    sha = repository.commit(REF, {"a.py": after}, base)
    return {"base": base, "sha": sha, "tree": "0" * 40, "ref": REF}


async def test_what_is_judged_is_shown_and_nothing_else_is_on_standard_output(
    api: ApiServer, bernstein: Bernstein, repository: Repository
) -> None:
    judged = changed(repository)
    put(api, verification=judged)

    answer = await bernstein("diff", "task/work")
    scripted = await bernstein("diff", "work", "--json")
    counted = await bernstein("diff", "work", "--stat")

    assert answer.code == 0, answer.err
    assert answer.out.startswith("diff --git a/a.py b/a.py\n")
    assert {"-x = 0", "+x = 1"} <= set(answer.out.splitlines())
    assert answer.err == f"Task 'work': {judged['sha'][:12]} on {judged['base'][:12]}\n"
    assert scripted.json | {"diff": ""} == {
        "task_id": "work",
        "repository": URL,
        "ref": REF,
        "base": judged["base"],
        "sha": judged["sha"],
        "diff": "",
        "cut": False,
        "approval_name": None,
    }
    assert scripted.json["diff"] == answer.out
    assert "1 file changed" in counted.out


async def test_what_nobody_would_see_is_spelled_out_and_words_of_files_stay(
    api: ApiServer, bernstein: Bernstein, repository: Repository
) -> None:
    put(api, verification=changed(repository, HIDDEN))

    rows = (await bernstein("diff", "work")).out.split("\n")

    assert "+@decorator" in rows
    assert "+x = 1  # <U+202E><U+001B>[2J<U+000D>" in rows


async def test_before_it_is_judged_what_the_last_session_left_is_shown(
    api: ApiServer, bernstein: Bernstein, repository: Repository
) -> None:
    put(api)
    ended = objects.dead("Succeeded", work=objects.work(**changed(repository))).dump()
    ended["metadata"]["labels"] = {labels.TASK: "work"}
    api.put(SESSIONS, "work-s1", "team", **ended)

    assert "+x = 1" in (await bernstein("diff", "work")).out


async def test_work_without_a_change_says_so(
    api: ApiServer, bernstein: Bernstein, repository: Repository
) -> None:
    judged = changed(repository)
    put(api, verification=judged | {"sha": judged["base"]})

    answer = await bernstein("diff", "work")

    assert (answer.code, answer.out) == (0, "")
    assert answer.err.endswith("changes nothing\n")


async def test_a_task_that_has_left_nothing_says_so(api: ApiServer, bernstein: Bernstein) -> None:
    put(api)

    answer = await bernstein("diff", "work", "--json")

    assert (answer.code, answer.json["error"]["reason"]) == (1, "NothingLeft")


@pytest.mark.parametrize("why", ["moved", "unreadable", "no project", "no task"])
async def test_what_cannot_be_shown_says_why(
    api: ApiServer, bernstein: Bernstein, repository: Repository, why: str
) -> None:
    judged = changed(repository)
    put(api, verification=judged | ({"sha": "b" * 40} if why == "moved" else {}))
    reasons = {"moved": "WorkMoved", "unreadable": "RepositoryUnreadable"}
    reasons |= {"no project": "ProjectUnknown", "no task": "NotFound"}
    if why == "unreadable":
        repository.folder.rename(repository.folder.with_name("gone"))
    if why == "no project":
        api.remove(PROJECTS, "default", "team")

    answer = await bernstein("diff", "wrok" if why == "no task" else "work", "--json")

    assert answer.code == 1
    assert answer.json["error"]["reason"] == reasons[why]
    assert answer.json["error"]["remedy"]


@pytest.mark.parametrize(
    ("more", "asks"),
    [
        ({}, True),
        ({"state": "Done"}, False),
        ({"decision": "Approve", "by": "ann"}, False),
        ({"sha": "c" * 40}, False),
    ],
    ids=["it is asked about", "not any more", "decided", "of another commit"],
)
async def test_what_a_person_decides_about_says_how_to_decide_about_exactly_this(
    api: ApiServer,
    bernstein: Bernstein,
    repository: Repository,
    more: dict[str, Any],
    asks: bool,
) -> None:
    judged = changed(repository)
    about = {"digest": "d" * 64, "attempt": 0, "sha": more.pop("sha", judged["sha"])}
    state = more.pop("state", "PendingApproval")
    asked = {"name": "work-approval-1", "asks": about, "since": objects.NOW, **more}
    put(api, verification=judged, state=state, approval=asked)

    answer = await bernstein("diff", "work")
    scripted = await bernstein("diff", "work", "--json")

    told = "`bernstein approve work --approval work-approval-1 --kubeconfig " in answer.err
    assert told is asks
    assert scripted.json["approval_name"] == ("work-approval-1" if asks else None)
