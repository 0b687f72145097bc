"""A Board that is kept says what a new one would, whatever has happened in between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.controllers.scheduler.boards import Boards
from bernstein.controllers.snapshots import project_snapshot
from bernstein.core.scheduling import schedule as schedule_module
from bernstein.core.scheduling.schedule import Schedule
from bernstein.kube.clock import REAL
from bernstein.kube.resource import Key
from tests.unit.controllers.scheduler.changing import PROJECTS, Changing
from tests.unit.core.objects import NAMESPACE
from tests.unit.core.scheduling.schedules import schedule


def fresh(cluster: Changing, key: Key) -> Schedule | None:
    """The schedule by a look at everything."""
    snapshot = project_snapshot(cluster.caches, key)
    return schedule(snapshot, cluster.now) if snapshot is not None else None


@pytest.mark.parametrize("at_once", [2, 200])
@given(data=st.data())
def test_a_kept_schedule_is_that_of_a_look_at_everything(at_once: int, data: st.DataObject) -> None:
    def pick(options: Sequence[Any]) -> Any:
        return data.draw(st.sampled_from(options))

    cluster = Changing(pick)
    boards = Boards(cluster.caches, REAL)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(schedule_module, "WAITS_AT_ONCE", at_once)
        for _ in range(data.draw(st.integers(1, 40))):
            cluster.anything()
            if pick((True, False)):
                continue
            for name in PROJECTS:
                found = boards.look(Key(NAMESPACE, name), cluster.now)
                assert found == fresh(cluster, Key(NAMESPACE, name))
                if found is not None and pick((True, False)):
                    cluster.write((*found.moves, *found.waits))
