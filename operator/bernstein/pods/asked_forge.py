"""What the programs that ask a forge have in common."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from bernstein.api.programs.forge import ForgeAddress, SeenPullRequest
from bernstein.core import sanitise
from bernstein.forges.client import Client
from bernstein.forges.errors import ForgeError
from bernstein.forges.forge import PullRequest
from bernstein.forges.registry import BY_NAME
from bernstein.pods.errors import PodError

_SAID = 300
"""Characters of a forge's own words."""


def client(address: ForgeAddress, transport: httpx.AsyncBaseTransport | None) -> Client:
    """A client of that repository. Raises ForgeError for an address that can be no forge's."""
    return Client(
        BY_NAME[address.type],
        address.url,
        address.token_file,
        api=address.api,
        ca_file=address.ca_file,
        transport=transport,
    )


def seen(pull: PullRequest) -> SeenPullRequest:
    return SeenPullRequest(pull.number, pull.state, pull.sha, pull.branches.base)


@contextmanager
def understood() -> Iterator[None]:
    """Raises PodError for what a forge does not do."""
    try:
        yield
    except ForgeError as error:
        message = error.message
        if error.said:
            message = sanitise.quoting(f"{message}; it says", error.said, _SAID)
        raise PodError(error.reason, message) from error
