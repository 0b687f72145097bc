"""Where the operator's CPU goes, by functions of ours, without what plays the cluster."""

from __future__ import annotations

import pytest

from tests.perf.bench.profile import Stats
from tests.perf.bench.simulated import dearest

OURS = "/somewhere/operator/bernstein"
READ = (f"{OURS}/core/pods.py", 20, "has_ended")
LOOK = (f"{OURS}/core/runs.py", 40, "state")
CLUSTER = ("/somewhere/tests/model/cluster/store.py", 9, "put")
STATS: Stats = {
    LOOK: (40, 40, 0.2, 2.0, {}),
    READ: (40, 40, 0.4, 0.5, {LOOK: (30, 30, 0.3, 0.4), CLUSTER: (10, 10, 0.1, 0.1)}),
    CLUSTER: (10, 10, 9.0, 9.0, {}),
    ("~", 0, "<method 'get' of 'dict' objects>"): (
        *(100, 100, 5.0, 5.0),
        {READ: (60, 60, 0.4, 0.4), CLUSTER: (40, 40, 4.6, 4.6)},
    ),
}


def test_functions_are_told_with_what_they_call_in_c_and_without_what_the_cluster_calls() -> None:
    told = dearest(STATS, 10).rows

    assert [row.what for row in told] == ["core/pods:has_ended", "core/runs:state", "all of them"]
    assert told[0].cells["own"] == pytest.approx((1000 * (0.4 + 0.4) * 0.75 / 10,))
    assert told[1].cells["own"] == pytest.approx((20.0,))
    assert told[2].cells["own"] == pytest.approx((80.0,))
