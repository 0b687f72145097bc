"""Program `mint`: asks for tokens of a GitHub App, and writes each into its Secret.

It holds the app's private key, and no other pod does. What it may write are the Secrets that its
Role names. It prints no token.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from bernstein.api.programs.account import PASSWORD, USERNAME
from bernstein.api.programs.forge_reasons import POLICIES, ForgeReason
from bernstein.api.programs.mint import (
    REMEDIES,
    MintConfig,
    Minted,
    MintReason,
    MintResult,
    Wanted,
)
from bernstein.core import labels, sanitise
from bernstein.forges import github_app
from bernstein.forges.errors import ForgeError
from bernstein.forges.github_app import AppClient, AppError, AppKey, Token
from bernstein.pods import log
from bernstein.pods.errors import PodError
from bernstein.pods.secret_writer import SecretWriter, told

CONFIG = MintConfig
USER = "x-access-token"
"""The user by whom GitHub takes such a token as a password."""
FORGE, TOKEN_KEY = "forge", "token"
_OF_ONE = frozenset({MintReason.LACKS_RIGHTS, MintReason.TOO_STRONG, MintReason.SECRET_REFUSED})
"""What one account may meet and the others not."""
_OF_APP = {
    ForgeReason.TOKEN_REFUSED: (MintReason.KEY_REFUSED, "the forge does not take the app's key"),
    ForgeReason.NOT_FOUND: (MintReason.NOT_INSTALLED, "the app has no such installation"),
    ForgeReason.RIGHTS_MISSING: (MintReason.NOT_INSTALLED, "the forge refuses the installation"),
    ForgeReason.REFUSED: (MintReason.LACKS_RIGHTS, "the installation does not give this token"),
}
_SAID = 300


def run(
    config: MintConfig,
    transport: httpx.AsyncBaseTransport | None = None,
    cluster: httpx.AsyncBaseTransport | None = None,
) -> MintResult:
    """What was written. Raises PodError, once those accounts that get on have their tokens.

    `transport` and `cluster`, of the forge and the API server: None, over the network.
    """
    unknown = [each.account for each in config.tokens if each.account not in _accounts()]
    if unknown or not config.tokens:
        raise PodError("InvalidConfig", f"tokens are those of {', '.join(_accounts())}")
    return asyncio.run(_mint(config, transport, cluster))


def _accounts() -> tuple[str, ...]:
    return tuple(github_app.PERMISSIONS)


async def _mint(
    config: MintConfig,
    transport: httpx.AsyncBaseTransport | None,
    cluster: httpx.AsyncBaseTransport | None,
) -> MintResult:
    with _understood():
        key = AppKey.read(config.app, config.key_file)
        client = AppClient(
            key, config.url, api=config.api, ca_file=config.ca_file, transport=transport
        )
    writer = SecretWriter(config.cluster, config.account_folder, cluster)
    minted, failures = [], []
    async with client:
        for each in config.tokens:
            try:
                minted.append(await _renew(client, writer, config, each))
            except PodError as error:
                log.event("not-minted", account=each.account, reason=error.reason)
                if error.reason not in _OF_ONE:
                    raise
                failures.append(PodError(error.reason, f"{each.account}: {error.message}"))
    if failures:
        raise failures[0]
    return MintResult(tuple(minted))


async def _renew(
    client: AppClient, writer: SecretWriter, config: MintConfig, wanted: Wanted
) -> Minted:
    least = github_app.permissions(wanted.account, workflows=config.workflows)
    with _understood():
        steps = github_app.token(client.repository, config.installation, least)
        token = await client.run(steps)
    await writer.write(
        wanted.secret, _values(wanted.account, token), {labels.EXPIRES: token.expires}
    )
    log.event("minted", account=wanted.account, secret=wanted.secret, expires=token.expires)
    return Minted(wanted.secret, token.expires)


def _values(account: str, token: Token) -> dict[str, str]:
    """As the containers of this account find it."""
    value = token.secret.reveal()
    return {TOKEN_KEY: value} if account == FORGE else {USERNAME: USER, PASSWORD: value}


@contextmanager
def _understood() -> Iterator[None]:
    """Raises PodError with what helps; the forge's words stand below ours, marked as its own."""
    try:
        yield
    except AppError as error:
        raise told(error.reason, error.message) from None
    except ForgeError as error:
        reason, ours = _OF_APP.get(error.reason, (error.reason, error.message))
        remedy = REMEDIES[reason] if isinstance(reason, MintReason) else POLICIES[reason].remedy
        message = f"{ours}. Remedy: {remedy}"
        if error.said:
            message = sanitise.quoting(f"{message} It says", error.said, _SAID)
        raise PodError(reason, message) from None
