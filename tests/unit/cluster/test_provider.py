from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.cluster import kind
from tests.cluster.control_plane import cluster as control_plane
from tests.cluster.errors import ClusterError
from tests.cluster.layout import SOCKET_PATH_LIMIT
from tests.cluster.provider import select


@pytest.mark.parametrize("provider", ["kind", "local", "control-plane", "kwok"])
def test_provider_is_chosen_by_name_and_lends_its_name(provider: str) -> None:
    cluster = select(provider)
    assert (cluster.provider, cluster.name) == (provider, provider)
    assert select(provider, "demo").name == "demo"


def test_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ClusterError) as caught:
        select("minikube")
    assert caught.value.reason == "UnknownProvider"
    assert "control-plane" in caught.value.remedy


@pytest.mark.parametrize(("usable", "provider"), [(True, "kind"), (False, "local")])
def test_auto_is_kind_where_it_can_run_else_local(
    monkeypatch: pytest.MonkeyPatch, usable: bool, provider: str
) -> None:
    monkeypatch.setattr(kind, "usable", lambda: usable)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert select().provider == provider


def test_auto_without_kind_and_root_says_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind, "usable", lambda: False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ClusterError, match="NoProvider"):
        select()


def test_local_cluster_needs_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ClusterError, match="NotRoot"):
        select("local").up()


@pytest.fixture
def short_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """pytest's own folders are too deep for the kubelet's socket."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with TemporaryDirectory(dir="/tmp") as folder:
        yield folder


def _cache_for_a_socket_of(length: int, folder: str) -> str:
    """A cache below the folder, for which the kubelet's socket has a path of that many bytes."""
    below = "/bernstein/clusters/local/state/kubelet/pod-resources/0123456789"
    return f"{folder}/{'x' * (length - len(f'{folder}/{below}'))}"


def test_cache_too_deep_for_the_kubelets_socket_is_refused_before_anything_starts(
    short_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = _cache_for_a_socket_of(SOCKET_PATH_LIMIT + 1, short_folder)
    monkeypatch.setenv("XDG_CACHE_HOME", cache)
    with pytest.raises(ClusterError) as caught:
        select("local").up()
    assert caught.value.reason == "PathTooLong"
    assert "108 bytes" in caught.value.message
    assert "XDG_CACHE_HOME" in caught.value.remedy
    assert not Path(cache).exists()


def test_cache_with_the_longest_path_that_a_socket_may_have_is_accepted(
    short_folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class StoppedError(Exception):
        """Instead of the start."""

    def stop(_: object) -> None:
        raise StoppedError

    monkeypatch.setenv("XDG_CACHE_HOME", _cache_for_a_socket_of(SOCKET_PATH_LIMIT, short_folder))
    monkeypatch.setattr(control_plane, "ensure_packages", stop)
    with pytest.raises(StoppedError):
        select("local").up()
