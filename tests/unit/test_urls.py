"""Users in URLs, and proxies of them."""

from __future__ import annotations

import pytest

from bernstein.urls import NO_PROXY, PROXY, is_direct, proxy_of, without_users


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://bot:secret@git.example/a.git", "https://<>git.example/a.git"),
        ("from https://a@x/ to ssh://b@y/", "from https://<>x/ to ssh://<>y/"),
        ("git fetch ssh://git@x:22/a.git", "git fetch ssh://git@x:22/a.git"),
        ("ssh://git:secret@x/ https://git@x/", "ssh://<>x/ https://<>x/"),
        ("https://git.example/a@b", "https://git.example/a@b"),
        ("mail bot@git.example", "mail bot@git.example"),
        ("https://git.example and bot@host", "https://git.example and bot@host"),
    ],
)
def test_users_go_out_of_urls_and_of_nothing_else(text: str, shown: str) -> None:
    assert without_users(text, "<>") == shown


@pytest.mark.parametrize(
    ("url", "direct"),
    [
        ("https://git.example.com/a.git", True),
        ("https://GIT.Example.com.:8443/a.git", True),
        ("https://a.git.example.com/", True),
        ("https://mygit.example.com/", False),
        ("https://example.com/", False),
        ("https://git.example.com.evil.org/", False),
        ("http://example.org/", True),
        ("https://10.0.0.1/", False),
    ],
)
def test_a_host_that_is_named_or_below_it_is_asked_without_a_proxy(url: str, direct: bool) -> None:
    """And all that is no https: a proxy would read that."""
    assert is_direct(url, ["Git.example.com"]) == direct


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://proxy:1"}, None),
        ({PROXY: "http://proxy:1"}, "http://proxy:1"),
        ({PROXY: "http://proxy:1", NO_PROXY: ""}, "http://proxy:1"),
        ({PROXY: "http://proxy:1", NO_PROXY: "b,example"}, None),
    ],
)
def test_a_program_asks_through_the_proxy_that_it_is_told(
    environment: dict[str, str], proxy: str | None
) -> None:
    assert proxy_of("https://git.example/a.git", environment) == proxy
