"""Signed Statements: DSSE envelopes with one Ed25519 signature.

Signing is deterministic: the same payload and key give the same bytes. Libraries for it are
imported where they are needed, since without a key nothing of them is.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bernstein.attestation.statement import PAYLOAD, dump

if TYPE_CHECKING:
    from securesystemslib.signer import CryptoSigner, Key

LARGEST = 1 << 20
"""Bytes of an envelope that are read."""


class KeyInvalid(ValueError):  # noqa: N818 - it says what is so
    """A file holds no key that can be used here; the text says what it holds."""


class Refused(Exception):  # noqa: N818 - named like the reasons
    """An envelope proves nothing under this key: Unsigned, WrongKey or Tampered."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def private_key(pem: bytes) -> CryptoSigner:
    """What signs with this key. Raises KeyInvalid, whose text quotes nothing of it."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from securesystemslib.signer import CryptoSigner

    try:
        key = serialization.load_pem_private_key(pem, password=None)
    except TypeError:
        raise KeyInvalid("it has a password, and nobody is there to type it") from None
    except (ValueError, UnsupportedAlgorithm):
        what = "a public key" if b"PUBLIC KEY" in pem else "no private key as PEM (PKCS #8)"
        raise KeyInvalid(f"it holds {what}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyInvalid("it holds a private key, but no Ed25519 one")
    return CryptoSigner(key)


def public_key(pem: bytes) -> Key:
    """The key that signatures are compared with. Raises KeyInvalid."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from securesystemslib.signer import SSlibKey

    try:
        key = serialization.load_pem_public_key(pem)
    except (ValueError, UnsupportedAlgorithm):
        what = "a private key" if b"PRIVATE KEY" in pem else "no public key as PEM"
        raise KeyInvalid(f"it holds {what}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise KeyInvalid("it holds a public key, but no Ed25519 one")
    return SSlibKey.from_crypto(key)


def unsigned(payload: bytes) -> bytes:
    """An envelope that nobody answers for: every verifier refuses it."""
    encoded = base64.b64encode(payload).decode("ascii")
    return _line({"payload": encoded, "payloadType": PAYLOAD, "signatures": []})


def signed(payload: bytes, signer: CryptoSigner) -> bytes:
    from securesystemslib.dsse import Envelope

    envelope = Envelope(payload, PAYLOAD, {})
    envelope.sign(signer)
    return _line(envelope.to_dict())


def _line(envelope: dict[str, Any]) -> bytes:
    return dump(envelope).encode("ascii") + b"\n"


@dataclass(frozen=True)
class Parts:
    """What an envelope holds, whoever has made it: no signature was compared."""

    payload: str
    """In base64."""
    signers: frozenset[str]
    """Ids of the keys that it says it is signed with."""


def parts(content: bytes) -> Parts | None:
    """None: it is no envelope."""
    try:
        parsed = json.loads(content)
        signers = frozenset(str(signature["keyid"]) for signature in parsed["signatures"])
        return Parts(str(parsed["payload"]), signers)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def opened(content: bytes, key: Key) -> bytes:
    """The payload, if it was signed with this key. Raises Refused."""
    from securesystemslib.dsse import Envelope
    from securesystemslib.exceptions import VerificationError

    try:
        parsed = json.loads(content)
        if parsed["signatures"] == []:
            raise Refused("Unsigned", "it is not signed: nobody answers for what it says")
        envelope = Envelope.from_dict(parsed)
        if envelope.payload_type != PAYLOAD:
            raise Refused("Tampered", f"what it holds is not of the type {PAYLOAD}")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Refused("Tampered", "it is no DSSE envelope") from None
    try:
        envelope.verify([key], 1)
    except VerificationError:
        raise _why(envelope.signatures.keys(), key) from None
    return envelope.payload


def _why(signers: Any, key: Key) -> Refused:
    if key.keyid in signers:
        return Refused("Tampered", "what it says is not what was signed with this key")
    return Refused("WrongKey", f"no signature of it is of the key {key.keyid[:16]}")
