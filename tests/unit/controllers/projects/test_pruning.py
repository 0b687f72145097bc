"""What one look at a Project's refs reads, by counts of the objects that it asks the caches for."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.projects import workplace
from bernstein.api.projects.refs import MOST_WAITING, RefPruning, RefToDelete
from bernstein.api.projects.workplace import Workplace
from bernstein.api.states import SessionState
from bernstein.controllers.caches import Caches
from bernstein.controllers.caches.folders import READ_AT_ONCE
from bernstein.controllers.caches.kept_refs import Departed
from bernstein.controllers.caches.parsed import Parsed
from bernstein.controllers.projects import pruning
from bernstein.core import names
from bernstein.core.retention.pruning import PruneSnapshot, decide
from bernstein.core.retention.refs import Ref, of_session, of_task
from bernstein.kube.client import Client
from bernstein.kube.resource import Object
from tests.unit.core import objects
from tests.unit.core.objects import NAMESPACE, NOW, PLAN_UID, at, sha

KEPT = 30 * 86400
TASKS = 4 * READ_AT_ONCE
REPOSITORIES = ("app", "api", "web")


class Looks:
    """At a Project of three repositories, one Plan of which succeeded long ago."""

    def __init__(self, client: Client) -> None:
        self.caches = Caches(client)
        self.read: Counter[str] = Counter()
        for informer in self.caches.informers:
            informer._synced.set()
        self._revision = 0
        account = objects.project().spec.repository.credentials.dump()
        rows = [
            {"name": name, "url": f"https://git.example/{name}.git", "credentials": account}
            for name in REPOSITORIES
        ]
        self.project = objects.project(repositories=rows, retention={"refsSeconds": KEPT})

    def at(self, repository: str, *known: RefPruning) -> Workplace:
        status = self.project.status.model_copy(update={"refs": known})
        whole = self.project.whole.model_copy(update={"status": status})
        return workplace.at(whole, repository)

    def put(self, parsed: Parsed[Any], model: Any, *, deleted: bool = False) -> None:
        self._revision += 1
        meta = {**model.metadata.dump(), "namespace": NAMESPACE}
        obj: Object = {
            "metadata": {**meta, "resourceVersion": str(self._revision)},
            "spec": model.spec.dump(),
            "status": model.status.dump(),
        }
        cache = parsed.informer._cache
        (cache.delete if deleted else cache.update)(obj)

    def ended(self) -> Sequence[Ref]:
        """The Plan, with its Tasks and sessions; returns the refs of these."""
        refs: list[Ref] = []
        over = PlanStatus(phase="Succeeded", project="default", ended_at=at(-KEPT - 3600))
        self.put(self.caches.plans, objects.plan(status=over))
        for number in range(TASKS):
            name, repo = f"t{number}", REPOSITORIES[number % 3]
            ref = f"refs/bernstein/{PLAN_UID.replace('-', '')[:16]}/{name}/candidate"
            judged = objects.verification(sha=sha(number), ref=ref)
            done = objects.closed(number, ended_at=at(-KEPT)).model_copy(
                update={"verification": judged}
            )
            task = objects.task(name, status=done, repo=repo)
            pushed = names.work_ref(names.refs_of(PLAN_UID), name, 1)
            work = objects.work(ref=pushed)
            session = objects.session(task=name, state=SessionState.DEAD, work=work)
            self.put(self.caches.tasks, task)
            self.put(self.caches.sessions, session)
            refs += [*of_task(task), *of_session(session)]
        return refs

    async def look(self, *known: RefPruning) -> list[PruneSnapshot]:
        kept = self.caches.kept_refs
        return [await pruning.snapshot(self.at(r, *known), kept, NOW) for r in REPOSITORIES]


@pytest.fixture
def looks(client: Client, monkeypatch: pytest.MonkeyPatch) -> Looks:
    made, plain = Looks(client), Parsed.of

    def counted(self: Parsed[Any], obj: Object) -> Any:
        made.read[self.informer.resource.kind] += 1
        return plain(self, obj)

    monkeypatch.setattr(Parsed, "of", counted)
    return made


async def test_a_plan_is_read_once_for_all_repositories_and_batches(looks: Looks) -> None:
    refs = looks.ended()
    assert len(refs) == 2 * TASKS
    looks.read.clear()

    first = await looks.look()
    assert {ref for each in first for end in each.ended for ref in end.refs} >= {*refs}
    assert looks.read["Task"] == looks.read["AgentSession"] == TASKS

    batch = decide(first[0], NOW).status
    assert batch is not None
    assert batch.batch
    through = batch.model_copy(update={"batch": (), "through": batch.next, "next": None})
    second = await looks.look(through)
    assert second[0].ended[0].refs
    assert looks.read["Task"] == looks.read["AgentSession"] == TASKS


async def test_what_changes_in_its_folder_is_read_again(looks: Looks) -> None:
    looks.ended()
    await looks.look()
    another = "refs/bernstein/1111222233334444/t0/another"
    judged = objects.verification(sha=sha(7), ref=another)
    status = objects.closed(0, ended_at=at(-KEPT)).model_copy(update={"verification": judged})

    looks.put(looks.caches.tasks, objects.task("t0", status=status, repo="app"))

    (its,) = (await looks.look())[0].ended
    assert Ref(another, sha(7)) in its.refs


async def test_while_it_is_read_others_run(looks: Looks) -> None:
    looks.ended()
    steps = 0

    async def beside() -> None:
        nonlocal steps
        while True:
            steps += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(beside())
    await looks.look()
    task.cancel()

    assert steps >= 2 * TASKS / READ_AT_ONCE


async def test_what_changes_meanwhile_is_not_kept(looks: Looks) -> None:
    looks.ended()
    status = objects.closed(0, ended_at=at(-KEPT))

    async def beside() -> None:
        looks.put(looks.caches.tasks, objects.task("t0", status=status, repo="app"))

    task = asyncio.create_task(beside())
    await pruning.snapshot(looks.at("app"), looks.caches.kept_refs, NOW)
    await task
    looks.read.clear()
    await looks.look()

    assert looks.read["Task"] == TASKS


async def test_where_somebody_goes_on_nothing_is_read(looks: Looks) -> None:
    looks.ended()
    looks.put(looks.caches.sessions, objects.session(2, task="t0"))
    looks.read.clear()

    seen = await looks.look()

    (its,) = seen[0].ended
    assert not its.refs
    assert seen[0].is_held(its.folder)
    assert decide(seen[0], NOW).requeue_after is not None
    assert looks.read["Task"] == looks.read["AgentSession"] == 0


async def test_of_a_deleted_plan_one_task_says_that_it_is_held(looks: Looks) -> None:
    looks.ended()
    looks.put(looks.caches.plans, objects.plan(), deleted=True)
    looks.read.clear()

    assert looks.caches.kept_refs.is_held(NAMESPACE, "refs/bernstein/1111222233334444", KEPT, NOW)

    assert looks.read["Task"] <= 1


def departed(looks: Looks, count: int) -> None:
    known = looks.caches.kept_refs._departed["team/default"]
    for number in range(count):
        known[Ref(f"refs/bernstein/{number:016x}/mine/s1", sha(number))] = Departed(
            at(number), True, None
        )


def waiting(**more: Any) -> RefPruning:
    most = MOST_WAITING // len(REPOSITORIES)
    rows = [
        RefToDelete(ref=f"refs/bernstein/{'f' * 16}/w/s{n:03}", sha=sha(n), due=NOW)
        for n in range(most)
    ]
    return RefPruning(repository="app", waiting=tuple(rows), **more)


async def test_of_thousands_that_were_deleted_as_many_are_looked_at_as_there_is_room_for(
    looks: Looks,
) -> None:
    departed(looks, 1000)

    (first, *_) = await looks.look()

    most = MOST_WAITING // len(REPOSITORIES)
    assert [row.sha for row in first.departed] == [sha(number) for number in range(most)]
    status = decide(first, NOW).status
    assert status is not None
    assert (len(status.waiting), status.unwritten) == (most, 1000 - most)
    (again, *_) = await looks.look(status.model_copy(update={"batch": ()}))
    told = decide(again, NOW).status
    assert told is not None
    assert (len(told.waiting), told.unwritten) == (most, 1000 - most)


@pytest.mark.parametrize("busy", [{"until": at(60)}, {"batch": waiting().waiting[:1]}])
async def test_without_room_none_are_looked_at_until_the_next_batch(
    looks: Looks, busy: dict[str, Any]
) -> None:
    departed(looks, 1000)
    known = waiting(unwritten=17, **busy)

    (first, *_) = await looks.look(known)

    assert first.departed == ()
    status = decide(first, NOW).status
    assert status is not None
    assert (status.waiting, status.unwritten) == (known.waiting, 17)


async def test_where_there_is_room_they_are_written_down_at_once(looks: Looks) -> None:
    departed(looks, 1)

    (first, *_) = await looks.look(RefPruning(repository="app", until=at(60)))

    status = decide(first, NOW).status
    assert status is not None
    assert [row.sha for row in status.waiting] == [sha(0)]
