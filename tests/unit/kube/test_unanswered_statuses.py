"""A status that had no answer may still be applied: nothing else is done before it has one.

One of the process before nobody can ask for again: a status of our own comes before it.
"""

import orjson
import pytest

from bernstein.kube.client import Client
from bernstein.kube.clock import Clock
from bernstein.kube.errors import ApiError, Conflict, Requeue, TransportError
from bernstein.kube.guard import LATE_SECONDS, Guard
from bernstein.kube.informer import Informer
from bernstein.kube.resource import JOBS, Key, Object, resource_version_of, uid_of
from bernstein.kube.writes import (
    REFUSED_RETRY,
    SETTLED_RETRY,
    Create,
    Delete,
    Executor,
    MergePatch,
    Ownership,
    RemoveFinalizer,
    StatusPatch,
)
from tests.background import Background, eventually
from tests.fence import Unfenced
from tests.unit.kube.apiserver import WIDGETS, ApiServer, Fault

OWNER = Key("default", "owner")
WIDGET, OTHER = Key("default", "w"), Key("default", "other")
OWNERSHIP = Ownership(("app", "engine"), "example.com/spec-hash")
NEXT = Create(JOBS, {"metadata": {"name": "j", "namespace": "default"}, "spec": {}})


class Life:
    """A process with its cache and a clock that stands still."""

    def __init__(self, api: ApiServer, client: Client, widgets: Informer) -> None:
        self.now = 0.0
        self.api = api
        self.widgets = widgets
        clock = Clock(monotonic=lambda: self.now)
        self.guard = Guard([widgets], clock=clock)
        self.executor = Executor(
            client, fence=Unfenced(), guard=self.guard, ownership=OWNERSHIP, leader="this one"
        )

    def status(self, state: str) -> StatusPatch:
        return StatusPatch(WIDGETS, self.cached(), {"state": state})

    def cached(self) -> Object:
        found = self.widgets.get(WIDGET)
        assert found is not None
        return found

    async def unanswered(self, state: str, fault: Fault = "drop-before") -> None:
        """That status is sent, and what became of it is read live, as before each reconcile."""
        self.api.fault = lambda call: fault if call.verb == "PATCH" else None
        with pytest.raises((TransportError, ApiError)):
            await self.executor.execute(OWNER, self.status(state))
        self.api.fault = lambda _: None
        assert await self.guard.settle(OWNER) == 0

    def begin(self) -> None:
        """It leads from now on."""
        self.guard.begin(lambda _: [(WIDGETS, WIDGET)])

    def patches(self) -> list[object]:
        """What was sent to the widget, in order."""
        return [call.body for call in self.api.calls if call.verb == "PATCH"]

    def state(self) -> object:
        return self.api.get(WIDGETS, "w").get("status", {}).get("state")


@pytest.fixture
async def life(api: ApiServer, client: Client, background: Background) -> Life:
    api.put(WIDGETS, "w", spec={"a": 1})
    informer = Informer(client, WIDGETS)
    background.start(informer.run())
    await informer.synced()
    return Life(api, client, informer)


async def test_it_is_sent_again_in_place_of_what_comes_next(life: Life) -> None:
    await life.unanswered("Dead")
    with pytest.raises(Requeue, match="no answer") as raised:
        await life.executor.execute(OWNER, NEXT)
    assert raised.value.after == SETTLED_RETRY
    assert life.state() == "Dead"
    assert life.api.names(JOBS) == []

    await eventually(lambda: life.guard.caught_up(OWNER))
    await life.executor.execute(OWNER, NEXT)
    assert life.api.names(JOBS) == ["j"]


async def test_what_comes_next_waits_while_it_is_not_answered(life: Life) -> None:
    await life.unanswered("Dead")
    for _ in range(2):
        life.api.fault = lambda call: "drop-before" if call.verb == "PATCH" else None
        with pytest.raises(TransportError):
            await life.executor.execute(OWNER, NEXT)
        assert await life.guard.settle(OWNER) == 0
    assert life.api.names(JOBS) == []


async def test_nothing_waits_once_a_live_read_shows_that_it_was_applied(life: Life) -> None:
    life.api.stall()
    await life.unanswered("Dead", "drop-after")
    assert life.cached()["status"] == {"state": "Dead"}
    await life.executor.execute(OWNER, NEXT)
    assert life.api.names(JOBS) == ["j"]


async def test_where_it_comes_after_all_that_is_read_before_anything_is_done(life: Life) -> None:
    """The first request is applied late, and no watch tells of it."""
    await life.unanswered("Dead")
    life.api.stall()
    life.api.put(WIDGETS, "w", status={"state": "Dead"})
    with pytest.raises(Requeue):
        await life.executor.execute(OWNER, NEXT)
    assert life.api.names(JOBS) == []

    assert await life.guard.settle(OWNER) == 0
    assert life.cached()["status"] == {"state": "Dead"}
    await life.executor.execute(OWNER, NEXT)


async def test_another_status_of_the_same_revision_takes_its_place(life: Life) -> None:
    await life.unanswered("Dead")
    await life.executor.execute(OWNER, life.status("Starting"))
    assert life.state() == "Starting"
    await eventually(lambda: life.guard.caught_up(OWNER))
    await life.executor.execute(OWNER, NEXT)
    assert (life.state(), life.api.names(JOBS)) == ("Starting", ["j"])


async def test_one_that_rests_on_no_other_does_not_wait_for_it(life: Life) -> None:
    life.api.put(WIDGETS, "other")
    await eventually(lambda: life.widgets.get(OTHER) is not None)
    await life.unanswered("Dead")
    obj = life.widgets.get(OTHER)
    assert obj is not None
    with pytest.raises(Requeue):
        await life.executor.execute(OWNER, StatusPatch(WIDGETS, obj, {"state": "Alive"}))
    assert "status" not in life.api.get(WIDGETS, "other")
    await life.unanswered("Gone")

    await life.executor.execute(OWNER, StatusPatch(WIDGETS, obj, {"state": "Alive"}, alone=True))
    assert life.api.get(WIDGETS, "other")["status"] == {"state": "Alive"}


async def test_it_is_of_its_reconciled_key_alone(life: Life) -> None:
    await life.unanswered("Dead")
    await life.executor.execute(Key("default", "other"), NEXT)
    assert (life.state(), life.api.names(JOBS)) == (None, ["j"])


async def test_one_that_is_refused_now_is_read_and_tried_again_later(life: Life) -> None:
    """The refusal is of the status, and says nothing of what was to be done."""
    await life.unanswered("Dead")
    life.api.fault = lambda call: 403 if call.verb == "PATCH" else None
    with pytest.raises(Requeue) as raised:
        await life.executor.execute(OWNER, NEXT)
    assert raised.value.after == REFUSED_RETRY
    assert not life.guard.caught_up(OWNER)

    assert await life.guard.settle(OWNER) == 0


@pytest.mark.parametrize("status", [429, 500, 503, 504])
async def test_what_says_nothing_of_it_leaves_it_open(life: Life, status: int) -> None:
    await life.unanswered("Dead")
    life.api.fault = lambda call: status if call.verb == "PATCH" else None
    for _ in range(2):
        with pytest.raises(ApiError):
            await life.executor.execute(OWNER, NEXT)
    assert life.api.names(JOBS) == []
    assert life.guard.caught_up(OWNER) is (status == 429), "one that was turned away leaves nothing"


async def test_after_so_long_it_comes_no_more(life: Life) -> None:
    await life.unanswered("Dead")
    life.now = LATE_SECONDS
    await life.executor.execute(OWNER, NEXT)
    assert (life.state(), life.api.names(JOBS)) == (None, ["j"])


async def test_a_write_that_is_no_status_is_not_sent_again(life: Life) -> None:
    life.api.fault = lambda call: "drop-before" if call.verb == "PATCH" else None
    with pytest.raises(TransportError):
        await life.executor.execute(OWNER, MergePatch(WIDGETS, WIDGET, {"spec": {"a": 2}}))
    life.api.fault = lambda _: None
    await life.executor.execute(OWNER, NEXT)
    assert life.api.get(WIDGETS, "w")["spec"] == {"a": 1}


TAKES_OVER = {"status": {"leader": "this one"}}


async def taken_over(life: Life) -> None:
    with pytest.raises(Requeue, match="taken over") as raised:
        await life.executor.execute(OWNER, NEXT)
    assert raised.value.after == SETTLED_RETRY
    assert life.api.names(JOBS) == []


async def test_what_the_process_before_has_said_comes_before_anything_is_done_or_not_at_all(
    life: Life, client: Client
) -> None:
    late = {"metadata": {"resourceVersion": life.cached()["metadata"]["resourceVersion"]}}
    life.begin()

    await taken_over(life)
    with pytest.raises(Conflict):
        await client.patch(
            WIDGETS, "w", "default", {**late, "status": {"state": "Dead"}}, subresource="status"
        )

    await eventually(lambda: life.guard.caught_up(OWNER))
    await life.executor.execute(OWNER, NEXT)
    assert (life.state(), life.api.names(JOBS)) == (None, ["j"])


async def test_what_came_just_before_is_read_before_anything_is_done(life: Life) -> None:
    """No watch tells of it yet."""
    life.begin()
    life.api.stall()
    life.api.put(WIDGETS, "w", status={"state": "Dead"})

    await taken_over(life)
    assert not life.guard.caught_up(OWNER)

    life.api.flow()
    await eventually(lambda: life.guard.caught_up(OWNER))
    assert life.cached()["status"] == {"state": "Dead", "leader": "this one"}


async def test_what_has_changed_since_it_leads_is_not_taken_over(life: Life) -> None:
    life.begin()
    changed = resource_version_of(life.api.put(WIDGETS, "w", spec={"a": 2}))
    await eventually(lambda: life.widgets.has_seen(WIDGET, changed))

    await life.executor.execute(OWNER, NEXT)
    assert (life.patches(), life.api.names(JOBS)) == ([], ["j"])


async def test_its_own_status_needs_nothing_before_it_and_takes_over(life: Life) -> None:
    life.begin()
    await life.executor.execute(OWNER, life.status("Starting"))
    await eventually(lambda: life.guard.caught_up(OWNER))

    await life.executor.execute(OWNER, NEXT)
    assert (len(life.patches()), life.api.names(JOBS)) == (1, ["j"])


async def test_what_is_deleted_as_it_was_read_is_not_taken_over(life: Life) -> None:
    life.begin()
    read = life.cached()
    version = read["metadata"]["resourceVersion"]

    await life.executor.execute(OWNER, Delete(WIDGETS, WIDGET, uid_of(read), version))
    assert (life.patches(), life.api.names(WIDGETS)) == ([], [])


async def test_nothing_is_taken_over_for_a_finalizer_that_is_off_already(life: Life) -> None:
    life.begin()

    await life.executor.execute(OWNER, RemoveFinalizer(WIDGETS, life.cached(), "example.com/ours"))
    assert life.patches() == []


async def test_what_is_gone_is_not_taken_over(life: Life) -> None:
    life.guard.begin(lambda _: [(WIDGETS, Key("default", "gone"))])

    await life.executor.execute(OWNER, NEXT)
    assert (life.patches(), life.api.names(JOBS)) == ([], ["j"])


async def test_what_goes_while_it_is_taken_over_is_looked_at_anew(life: Life) -> None:
    life.begin()
    life.api.fault = lambda call: 404 if call.verb == "PATCH" else None

    await taken_over(life)
    assert not life.guard.caught_up(OWNER)


async def test_nothing_is_done_while_taking_over_is_not_answered(life: Life) -> None:
    life.begin()
    life.api.fault = lambda call: "drop-before" if call.verb == "PATCH" else None
    for _ in range(2):
        with pytest.raises(TransportError):
            await life.executor.execute(OWNER, NEXT)
        assert await life.guard.settle(OWNER) == 0
    assert life.api.names(JOBS) == []

    life.api.fault = lambda _: None
    await taken_over(life)
    assert life.patches()[-1] == TAKES_OVER


async def test_nothing_is_done_while_taking_over_is_refused(life: Life) -> None:
    """A policy of the cluster may refuse that: it says nothing of the Job."""
    life.begin()
    life.api.fault = lambda call: 403 if call.verb == "PATCH" else None
    with pytest.raises(Requeue) as raised:
        await life.executor.execute(OWNER, NEXT)
    assert (raised.value.after, life.api.names(JOBS)) == (REFUSED_RETRY, [])

    life.now = LATE_SECONDS
    await life.executor.execute(OWNER, NEXT)
    assert life.api.names(JOBS) == ["j"]


async def test_a_server_that_does_not_know_the_field_is_asked_once(life: Life) -> None:
    """CRDs of an older release have no `status.leader`."""
    life.begin()
    as_it_is = orjson.dumps(life.api.get(WIDGETS, "w"))
    life.api.instead = lambda call: as_it_is if call.verb == "PATCH" else None

    await taken_over(life)
    await life.executor.execute(OWNER, NEXT)
    assert (life.patches(), life.api.names(JOBS)) == ([TAKES_OVER], ["j"])
