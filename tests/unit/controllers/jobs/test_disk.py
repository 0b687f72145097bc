"""What pods request of a node's disk, by which a kubelet chooses whom it evicts."""

from __future__ import annotations

import pytest

from tests.unit.controllers.jobs.built import JOBS, containers

FEW_FILES = 1_000
"""So many a harmless pod has, and one that makes them without end has soon."""
UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def number(quantity: str) -> int:
    digits, unit = quantity.rstrip("KMGi"), quantity.lstrip("0123456789")
    return int(digits) * UNITS.get(unit, 1)


@pytest.mark.parametrize("name", JOBS)
def test_a_pod_requests_fewer_bytes_of_disk_than_a_few_files_are(name: str) -> None:
    """A node without free inodes evicts first whose inodes less these bytes are the most. What is
    left out is what the limit is, and so no less."""
    requests = [c["resources"]["requests"]["ephemeral-storage"] for c in containers(name)]

    assert 0 < sum(map(number, requests)) < FEW_FILES, requests
