"""Addresses that a secret of ours may be sent to."""

from __future__ import annotations

import ipaddress
import ssl

import httpx

from bernstein.web.authorities import with_more


class AddressError(Exception):
    """It may not be sent there; the text ends a sentence that begins with whose address it is."""


def below(base: str, path: str, *, plain_http: bool = False) -> httpx.URL:
    """The address with the path below it, which is percent-encoded already. Raises AddressError.

    `plain_http`: let all travel in clear text to other machines, too.
    """
    try:
        url = httpx.URL(base)
        if url.scheme not in {"http", "https"} or not url.host:
            raise AddressError("must start with https://")
        if url.userinfo or url.query or url.fragment:
            raise AddressError("may hold no user, query or fragment")
        if url.scheme == "http" and not plain_http and not _is_loopback(url.host):
            raise AddressError("would send the key in clear text: use https")
        return url.copy_with(raw_path=url.raw_path.rstrip(b"/") + path.encode("ascii"))
    except (httpx.InvalidURL, ValueError):
        raise AddressError("is no URL") from None


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def trusted(ca_file: str | None) -> ssl.SSLContext:
    """Whose certificates count: one authority's, or those that everybody trusts; and those that
    our program is told of besides. Raises OSError."""
    if ca_file is not None:
        context = ssl.create_default_context(cafile=ca_file)
    else:
        context = httpx.create_ssl_context(trust_env=False)
    return with_more(context)
