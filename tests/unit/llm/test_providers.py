"""Providers: what a Project may name is what the client knows."""

from __future__ import annotations

from typing import get_args
from urllib.parse import urlsplit

from bernstein.api.vocabulary import ModelProvider
from bernstein.llm.providers import PROVIDERS


def test_a_project_may_name_each_and_no_other() -> None:
    assert get_args(ModelProvider) == tuple(provider.name for provider in PROVIDERS)


def test_their_own_addresses_are_what_the_network_policy_lets_through() -> None:
    for provider in PROVIDERS:
        address = urlsplit(provider.base_url)
        assert (address.scheme, address.port or 443) == ("https", 443)


def test_each_has_a_variable_that_people_keep_their_key_in() -> None:
    for provider in PROVIDERS:
        assert provider.key_variables
        assert all(name.endswith("_API_KEY") for name in provider.key_variables)
