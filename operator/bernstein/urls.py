"""Addresses in texts, and through which proxy one is asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import SplitResult, urlsplit

PROXY, NO_PROXY = "BERNSTEIN_PROXY", "BERNSTEIN_NO_PROXY"
"""Variables of our programs, which nothing else reads or sets: those that a cluster gives to every
container say nothing about where a credential may go."""
MORE_CA = "BERNSTEIN_CA"
"""The same, of a file with authorities that are trusted beside a server's own."""
_USER = re.compile(r"(?<=://)(?!(?<=ssh://)git@)[^/\s@]*@")
"""Of SSH `git` is everybody's user, and a part of the address."""


def without_users(text: str, instead: str = "") -> str:
    """`text` with `instead` in the place of user and password of every URL in it, and of their @.

    In linear time: no character belongs to the search of two URLs.
    """
    return _USER.sub(instead, text) if "://" in text else text


def split(url: str) -> SplitResult | None:
    """The parts of an address; None: it is none. An object that is stored may have any."""
    try:
        return urlsplit(url)
    except ValueError:
        return None


def host_of(url: str) -> str:
    """In lower case; "": it has none."""
    parts = split(url)
    return (parts.hostname or "") if parts is not None else ""


def is_direct(url: str, hosts: Iterable[str]) -> bool:
    """Whether no proxy is asked for it: it is not of https, or its host is one of `hosts`, or below
    one. Of http a proxy would see all that is sent; of https it is told the host alone."""
    if not url.startswith("https://"):
        return True
    host = host_of(url).rstrip(".")
    named = [each.lower().strip(".") for each in hosts]
    return any(host == each or host.endswith(f".{each}") for each in named)


def proxy_of(url: str, environment: Mapping[str, str]) -> str | None:
    """The proxy through which a program asks for this address; None: it asks the server itself."""
    proxy = environment.get(PROXY)
    hosts = filter(None, environment.get(NO_PROXY, "").split(","))
    return proxy if proxy and not is_direct(url, hosts) else None
