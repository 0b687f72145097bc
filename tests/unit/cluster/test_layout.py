from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cluster.errors import ClusterError
from tests.cluster.layout import SLOTS, Layout, checked_name, cluster_id


@pytest.mark.parametrize("name", ["local", "a", "control-plane", "x" * 20])
def test_name_fit_for_folder_and_cgroup_is_accepted(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a/b", "..", "x" * 21])
def test_other_name_is_refused_with_a_remedy(name: str) -> None:
    with pytest.raises(ClusterError) as caught:
        checked_name(name)
    assert caught.value.reason == "BadName"
    assert "20 lower-case letters" in caught.value.remedy


def test_same_name_in_two_caches_is_two_clusters() -> None:
    assert cluster_id("local", Path("/a/local")) != cluster_id("local", Path("/b/local"))


def test_slots_share_no_address(layout: Layout) -> None:
    slots = [replace(layout, slot=slot) for slot in range(SLOTS)]
    networks = [network for slot in slots for network in (slot.pods, slot.services)]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(networks, 2))


def test_bridge_name_fits_the_kernels_limit(layout: Layout) -> None:
    assert len(layout.bridge) <= 15


def test_sockets_fit_the_kernels_limit_wherever_the_cache_is(layout: Layout) -> None:
    deep = replace(layout, folder=Path("/" + "x" * 200))
    assert len(str(deep.containerd_socket)) < 100


def test_kubelets_socket_counts_with_the_name_that_it_has_at_first(layout: Layout) -> None:
    relative = layout.kubelet_socket.relative_to(layout.folder)
    assert len(str(relative)) == len("kubelet/pod-resources/") + 10
