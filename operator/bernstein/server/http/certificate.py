"""Loads a renewed TLS certificate without a restart."""

from __future__ import annotations

import asyncio
import hashlib
import ssl
from collections.abc import Callable
from pathlib import Path

from bernstein.observe.logging import logger
from bernstein.server.http import validity

log = logger("bernstein.server.tls")

CHECK_SECONDS = 30.0


class Certificate:
    """A certificate with its chain, and its key, in PEM files, as a mounted Secret holds them.

    New connections get the certificate that was loaded last; open ones keep theirs.
    """

    def __init__(
        self, cert: Path, key: Path, *, ends: Callable[[float], None] | None = None
    ) -> None:
        """`ends` is told when each certificate that was loaded ends, in seconds since 1970."""
        self._cert = cert
        self._key = key
        self._ends = ends
        self._seen = b""

    def load_into(self, context: ssl.SSLContext) -> bool:
        """Load the files if they changed; returns whether they were. An unusable pair is not."""
        try:
            seen = self._fingerprint()
            if seen == self._seen:
                return False
            # Into a spare context first: a key that does not fit would leave the new certificate
            # with the old key.
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self._cert, self._key)
            context.load_cert_chain(self._cert, self._key)
        except (OSError, ssl.SSLError) as error:
            log.warning(
                "the renewed certificate cannot be used, the old one stays",
                certificate=str(self._cert),
                problem=str(error),
            )
            return False
        self._seen = seen
        self._tell_end()
        return True

    async def follow(self, context: ssl.SSLContext, *, every: float = CHECK_SECONDS) -> None:
        """Looks at the files until cancelled."""
        while True:
            await asyncio.sleep(every)
            # Not in a thread: a handshake at that moment would get the new certificate with the
            # old key.
            if self.load_into(context):
                log.info("took up a renewed certificate", certificate=str(self._cert))

    def _tell_end(self) -> None:
        at = validity.ends(self._cert.read_bytes())
        if at is None:
            log.warning("nobody can tell when the certificate ends", certificate=str(self._cert))
        elif self._ends is not None:
            self._ends(at)

    def _fingerprint(self) -> bytes:
        return hashlib.sha256(self._cert.read_bytes() + b"\0" + self._key.read_bytes()).digest()
