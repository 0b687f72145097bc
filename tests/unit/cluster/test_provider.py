from __future__ import annotations

import os

import pytest

from tests.cluster import kind
from tests.cluster.errors import ClusterError
from tests.cluster.provider import select


@pytest.mark.parametrize("provider", ["kind", "local", "control-plane"])
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
