"""Jobs like ours, of which neither the operator nor an admission policy knows anything."""

from __future__ import annotations

import copy

from tests.control_plane.objects import job
from tests.perf.bench.bare_jobs import bare, minimal


def stored() -> dict[str, object]:
    """One of ours as the API server shows it."""
    made = job("team", "one-s1", ownerReferences=[{"kind": "AgentSession", "uid": "u"}])
    made["metadata"] |= {"uid": "1", "resourceVersion": "2"}
    made["spec"]["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": "1"}}
    made["spec"]["template"]["metadata"]["labels"] = {
        **made["metadata"]["labels"],
        "batch.kubernetes.io/controller-uid": "1",
        "batch.kubernetes.io/job-name": "one-s1",
        "controller-uid": "1",
        "job-name": "one-s1",
    }
    return made


def test_the_pod_is_the_very_same_and_nothing_of_ours_is_left() -> None:
    before = copy.deepcopy(stored())

    made = bare(stored(), "bare-1", 2)

    assert made["spec"]["template"]["spec"] == before["spec"]["template"]["spec"]  # type: ignore[index]
    assert made["spec"]["backoffLimit"] == 0
    assert "selector" not in made["spec"]
    assert set(made["metadata"]) == {"name", "labels"}
    assert made["metadata"]["labels"] == {
        "bench/task": "task",
        "bench/kind": "bare",
        "bench/position": "2",
    }
    assert made["spec"]["template"]["metadata"] == {
        "labels": {"bench/task": "task", "bench/kind": "bare"}
    }


def test_what_it_was_made_of_stays_as_it_was() -> None:
    original = stored()

    made = bare(original, "bare-1", 0)
    made["spec"]["template"]["spec"]["containers"].clear()

    assert original == stored()


def test_a_minimal_one_has_one_container_that_a_restricted_namespace_takes() -> None:
    made = minimal("least-1", 1)

    (container,) = made["spec"]["template"]["spec"]["containers"]
    assert container["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert made["metadata"]["labels"]["bench/kind"] == "bare"
