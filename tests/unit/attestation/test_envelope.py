"""DSSE envelopes: what is signed, and what is believed."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from securesystemslib.dsse import Envelope

from bernstein.attestation import envelope
from bernstein.attestation.envelope import KeyInvalid, Refused
from bernstein.attestation.statement import PAYLOAD

SECRET = bytes(range(32))
KEY = ed25519.Ed25519PrivateKey.from_private_bytes(SECRET)
STATEMENT = b'{"says":"something"}'


def private(key: Any = KEY, password: bytes | None = None) -> bytes:
    how: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if password is not None:
        how = serialization.BestAvailableEncryption(password)
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    pem: bytes = key.private_bytes(encoding, form, how)
    return pem


def public(key: Any = KEY) -> bytes:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    pem: bytes = key.public_key().public_bytes(serialization.Encoding.PEM, form)
    return pem


def opened(content: bytes, key: Any = KEY) -> bytes:
    return envelope.opened(content, envelope.public_key(public(key)))


def reason(content: bytes, key: Any = KEY) -> str:
    with pytest.raises(Refused) as raised:
        opened(content, key)
    return raised.value.reason


SIGNED = envelope.signed(STATEMENT, envelope.private_key(private()))


def test_what_is_signed_has_the_encoding_of_the_specification() -> None:
    """The example of the protocol (DSSE v1.0.2)."""
    example = Envelope(b"hello world", "http://example.com/HelloWorld", {})

    assert example.pae() == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_a_signature_is_that_of_the_encoded_type_and_payload() -> None:
    (signature,) = json.loads(SIGNED)["signatures"]
    encoded = b"DSSEv1 28 application/vnd.in-toto+json 20 " + STATEMENT

    KEY.public_key().verify(base64.b64decode(signature["sig"]), encoded)


def test_the_same_payload_and_key_give_the_same_line() -> None:
    again = envelope.signed(STATEMENT, envelope.private_key(private()))

    assert again == SIGNED
    assert SIGNED.count(b"\n") == 1
    assert SIGNED.isascii()


def test_what_was_signed_is_opened_by_the_public_key() -> None:
    assert opened(SIGNED) == STATEMENT
    assert json.loads(SIGNED)["payloadType"] == PAYLOAD


def test_another_signature_beside_the_right_one_does_no_harm() -> None:
    found = json.loads(SIGNED)
    found["signatures"].insert(0, {"keyid": "another", "sig": "AAAA"})

    assert opened(json.dumps(found).encode()) == STATEMENT


def test_an_envelope_that_proves_nothing_has_its_reason() -> None:
    other = ed25519.Ed25519PrivateKey.generate()
    nothing = envelope.unsigned(STATEMENT)

    assert reason(nothing) == "Unsigned"
    assert reason(SIGNED, other) == "WrongKey"
    assert reason(SIGNED.replace(b"in-toto", b"in-t0to")) == "Tampered"


def test_a_signature_under_the_name_of_another_key_is_not_believed() -> None:
    """The name of a key is whoever's who writes the envelope."""
    other = ed25519.Ed25519PrivateKey.generate()
    forged = json.loads(envelope.signed(STATEMENT, envelope.private_key(private(other))))
    forged["signatures"][0]["keyid"] = json.loads(SIGNED)["signatures"][0]["keyid"]

    assert reason(json.dumps(forged).encode()) == "Tampered"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"null",
        b"[]",
        b"\xff",
        b'{"signatures":1}',
        b'{"payload":1,"payloadType":"a","signatures":[{"keyid":"a","sig":"AAAA"}]}',
        b'{"payload":"AAAA","payloadType":"a","signatures":[1]}',
        b'{"payload":"AAAA","payloadType":"a","signatures":[{"sig":"AAAA"}]}',
        b'{"payload":"AAAA","payloadType":"a","signatures":[{"keyid":[],"sig":"AAAA"}]}',
    ],
)
def test_what_is_no_envelope_is_refused(content: bytes) -> None:
    assert reason(content) == "Tampered"


@pytest.mark.parametrize(
    ("pem", "says"),
    [
        (b"", "no private key"),
        (b"nonsense", "no private key"),
        (public(), "a public key"),
        (private(password=b"a"), "a password"),
        (private(ec.generate_private_key(ec.SECP256R1())), "no Ed25519"),
    ],
    ids=["empty", "nonsense", "public", "password", "curve"],
)
def test_what_cannot_sign_says_what_it_is(pem: bytes, says: str) -> None:
    with pytest.raises(KeyInvalid, match=says):
        envelope.private_key(pem)


@pytest.mark.parametrize(
    ("pem", "says"),
    [
        (b"", "no public key"),
        (private(), "a private key"),
        (public(ec.generate_private_key(ec.SECP256R1())), "no Ed25519"),
    ],
    ids=["empty", "private", "curve"],
)
def test_what_is_nothing_to_compare_with_says_what_it_is(pem: bytes, says: str) -> None:
    with pytest.raises(KeyInvalid, match=says):
        envelope.public_key(pem)
