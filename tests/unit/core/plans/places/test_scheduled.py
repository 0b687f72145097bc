"""Of two repositories of a Project each has its own files, and what is wrong with one holds that
one's Tasks alone."""

from __future__ import annotations

from typing import Any

from bernstein.api.states import TaskState
from bernstein.api.task import TaskStatus
from bernstein.core.scheduling import peer as peers
from bernstein.core.scheduling.peer import Peer
from tests.unit.core import objects
from tests.unit.core.objects import NOW
from tests.unit.core.plans.places.plans import project
from tests.unit.core.scheduling.overlap import overlap


def peer(name: str, repo: str | None, **spec: Any) -> Peer:
    status = TaskStatus(state=TaskState.IN_PROGRESS)
    task = objects.task(name, status=status, repo=repo, files=["src/*.py"], **spec)
    found = peers.of(task, project(), NOW, ready=False, probes=False)
    assert found is not None
    return found


def test_files_of_the_same_name_are_others_in_another_repository() -> None:
    first, same, other = peer("a", "api"), peer("b", None), peer("c", "web")

    assert overlap(first.files, same.files)
    assert overlap(other.files, peer("d", "web").files)
    assert not overlap(first.files, other.files)


def test_a_task_is_held_by_what_is_wrong_with_its_own_repository_alone() -> None:
    assert [peer("a", repo).repository for repo in ("api", None, "web")] == ["api", "api", "web"]
