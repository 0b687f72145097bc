"""What is made of the counters: figures for one piece of work."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.control_plane.objects import job
from tests.perf.bench.moments import Moment, Span
from tests.perf.bench.throughput import (
    BARE,
    COLUMNS,
    MINIMAL,
    TASKS,
    Found,
    Run,
    asked,
    copies,
    costs,
)

PARTS = ("kube-apiserver", "etcd", "kube-controller-manager", "kube-scheduler", "kwok", "bench")


def run(seconds: float, **cpu: float) -> Run:
    """Of ten pieces of work; every process has used one second unless it is told otherwise."""
    used = dict.fromkeys((*PARTS, "operator"), 1.0)
    span = Span(
        seconds=seconds + 2,
        cpu=used | {name.replace("_", "-"): value for name, value in cpu.items()},
        others=0.25,
        api=Counter({("POST", "pods"): 40, ("GET", "nodes"): 10}),
        operator=Counter(
            {
                ("PATCH", "tasks"): 80,
                ("GET", "pods"): 10,
                ("POST", "events"): 60,
                ("PATCH", "leases"): 30,
            }
        ),
        reconciles=200,
        lost=0,
    )
    return Run(seconds, span)


def found() -> Found:
    made = Found(pods=4)
    made.runs[TASKS] = [run(5, kube_apiserver=3, operator=1.2), run(4)]
    made.runs[BARE] = [run(2.5, kube_apiserver=2), run(2)]
    made.runs[MINIMAL] = [run(1), run(1)]
    return made


def test_rates_and_cpu_are_those_of_one_piece() -> None:
    rows = {row.what: row.cells for row in costs("Tasks", 10, found()).rows}

    assert rows["rate"] == {
        TASKS: (2, 2.5),
        BARE: (4, 5),
        MINIMAL: (10, 10),
        "of bare": (0.5, 0.5),
        "of minimal": (0.2, 0.25),
    }
    assert rows["API server's CPU"][TASKS] == (300, 100)
    assert rows["API server's CPU"]["of bare"] == (1.5, 1)
    assert rows["operator's CPU a pod"] == {TASKS: (30, 25)}
    assert rows["requests to the API server"][TASKS] == (5, 5)
    assert rows["writes to the API server"][TASKS] == (4, 4)
    assert rows["operator's writes"] == {TASKS: (8, 8)}
    assert rows["operator's reads"] == {TASKS: (1, 1)}
    assert rows["operator's Events"] == {TASKS: (6, 6)}
    assert rows["reconciles"] == {TASKS: (20, 20)}
    assert rows["others' part of the CPU"][BARE] == (25, 25)


def test_requests_are_told_by_verb_and_resource_the_most_frequent_first() -> None:
    everybody, own = asked("Tasks", 10, found())

    assert [row.what for row in everybody.rows] == ["POST pods", "GET nodes"]
    assert everybody.rows[0].cells == dict.fromkeys(COLUMNS, (4, 4))
    assert [(row.what, row.cells) for row in own.rows] == [
        ("PATCH tasks", {TASKS: (8, 8)}),
        ("POST events", {TASKS: (6, 6)}),
        ("PATCH leases", {TASKS: (3, 3)}),
        ("GET pods", {TASKS: (1, 1)}),
    ]


def test_a_chain_keeps_its_groups_and_gets_names_of_its_own() -> None:
    chain = [[job("team", "a")], [job("team", "b"), job("team", "c")]]

    for kind in (BARE, MINIMAL):
        made = copies(chain, "x", kind)
        names = [[one["metadata"]["name"] for one in group] for group in made]
        assert names == [["x-0-0"], ["x-1-0", "x-1-1"]]
    assert made[0][0]["spec"]["template"]["spec"]["containers"][0]["name"] == "main"


def moment(at: float, busy: float, **cpu: float) -> Moment:
    return Moment(at, busy, cpu, Counter(a=int(at)), Counter(), 0, int(at) // 110)  # type: ignore[arg-type]


def test_what_nobody_of_the_cluster_has_used_was_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    before, after = moment(100, 50, etcd=1, operator=2), moment(110, 65, etcd=2, operator=6)

    span = before.until(after)

    assert span.seconds == 10
    assert span.cpu == {"etcd": 1, "operator": 4}
    assert span.others == pytest.approx(0.5)
    assert span.api == {"a": 10}
    assert span.lost == 1
