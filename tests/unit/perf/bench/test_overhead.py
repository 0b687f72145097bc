"""Phases of a Task between its agent's end and Closed, from the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.cluster.control_plane.audit import Write
from tests.perf.bench.containers import Run
from tests.perf.bench.overhead import (
    PHASES,
    PROGRAMS,
    NoTrailError,
    Size,
    Trail,
    phases,
    programs,
    table,
)

START = datetime(2025, 1, 1, tzinfo=UTC)
OPERATOR, KUBELET, SCHEDULER = "operator", "system:node:node-1", "system:kube-scheduler"


def write(
    second: float, resource: str, name: str, user: str = OPERATOR, code: int = 200, **more: Any
) -> Write:
    state = more.pop("state", None)
    return Write(
        id=f"{second}",
        verb=more.pop("verb", "patch"),
        group="",
        resource=resource,
        subresource=more.pop("subresource", "status"),
        namespace="team",
        name=name,
        user=user,
        code=code,
        body={"status": {"state": state}} if state else None,
        at=START + timedelta(seconds=second),
    )


def made(second: float, name: str) -> Write:
    return write(second, "jobs", name, verb="create", subresource="", code=201)


def pod(second: float, job: str, **more: Any) -> Write:
    return write(second, "pods", f"{job}-x1y2z", more.pop("user", KUBELET), **more)


LIFE = [
    write(0, "tasks", "one", state="InProgress"),
    made(0, "one-s1"),
    pod(1, "one-s1"),
    pod(4, "one-s1"),
    write(5, "tasks", "one", state="Done"),
    made(6, "one-s1-inspect-0"),
    made(6.5, "one-s1-lint-0"),
    pod(6.8, "one-s1-lint-0", user=SCHEDULER, subresource="binding"),
    pod(9, "one-s1-lint-0"),
    pod(8, "one-s1-inspect-0"),
    write(9.5, "jobs", "one-s1-land-1", verb="create", subresource="", code=500),
    made(10, "one-s1-land-1"),
    pod(13, "one-s1-land-1"),
    write(13.25, "tasks", "one", code=409, state="Closed"),
    write(13.5, "tasks", "one", state="Closed"),
    pod(20, "one-s1-land-1"),
    made(1, "one-s10-lint-0"),
]


def told(writes: Sequence[Write] = LIFE) -> dict[str, float]:
    return phases(Trail(writes), "one", "one-s1", START + timedelta(seconds=2))


def test_each_phase_ends_with_what_was_written_last_of_it() -> None:
    assert list(told().values()) == [2, 1, 1, 3, 1, 3, 0.5]
    assert tuple(told()) == PHASES


@pytest.mark.parametrize("missing", [4, 3, 11, 14])
def test_a_step_that_nobody_has_written_is_an_error(missing: int) -> None:
    lacks = [w for n, w in enumerate(LIFE) if n != missing and not (missing == 3 and n == 2)]

    with pytest.raises(NoTrailError):
        told(lacks)


def test_what_the_operator_takes_is_summed_for_each_task() -> None:
    slower = {phase: 2 * seconds for phase, seconds in told().items()}

    rows = {row.what: row.cells for row in table(Size(3, 2), [[told()] * 3, [slower]]).rows}

    assert rows["all of the operator's"]["p50"] == (3.5, 7)
    assert rows["all"] == {"p50": (11.5, 23), "p95": (11.5, 23), "most": (11.5, 23)}


def ran(begun: float, ended: float) -> Run:
    return Run(START + timedelta(seconds=begun), START + timedelta(seconds=ended))


OF_PODS = {
    "one-s1": {"agent": ran(1, 2), "recorder": ran(0.5, 2.5), "pusher": ran(0.5, 2.75)},
    "one-s1-inspect-0": {"checkout": ran(6.5, 7), "inspect": ran(7, 7.5)},
    "one-s1-lint-0": {"checkout": ran(7, 7.25), "check": ran(7.5, 8.5)},
    "one-s1-land-1": {"land": ran(11, 12.5)},
}


def test_our_programs_take_what_is_neither_the_kubelets_nor_a_commands() -> None:
    assert [*programs(Trail(LIFE), "one-s1", OF_PODS).values()] == [0.75, 0.25, 1.5]


def test_what_is_ours_is_the_operators_and_that_of_our_programs() -> None:
    whole = told() | programs(Trail(LIFE), "one-s1", OF_PODS)

    shown = table(Size(1, 1), [[whole]])

    rows = {row.what: row.cells["p50"] for row in shown.rows}
    assert [what for what in rows if what.startswith("of it")] == [*PROGRAMS.values()]
    assert rows["all of the operator's"] == (3.5,)
    assert rows["all of ours"] == (6,)
    assert rows["all"] == (11.5,)


def test_what_is_as_slow_as_one_of_twenty_is_in_the_most_and_not_in_the_p95() -> None:
    slower = {phase: 2 * seconds for phase, seconds in told().items()}
    runs = [[slower] + [told()] * 19, [slower] * 2 + [told()] * 18]

    (everything,) = (row for row in table(Size(20, 2), runs).rows if row.what == "all")

    assert everything.cells == {"p50": (11.5, 11.5), "p95": (11.5, 23), "most": (23, 23)}


def test_a_table_with_other_gates_names_them() -> None:
    default, other = (table(Size(1, 1, gates), [[told()]]).title for gates in ((), ("lint", "x")))

    assert other == f"{default}, with the gates lint, x alone"
