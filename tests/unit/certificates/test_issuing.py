"""Certificates that real TLS takes, through years of rotation."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from itertools import cycle, islice
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from bernstein.certificates import issuing
from bernstein.certificates.issuing import CA, CERTIFICATE, KEY, Data, changed, issue, read
from bernstein.certificates.rotation import TOLD, Step

NAMES = frozenset(["server.ns.svc", "*.example.com", "127.0.0.1"])
VALID = timedelta(days=60)
UNREADABLE = b"""\
-----BEGIN CERTIFICATE-----
MIIBSzCCAQigAwIBAgIUERCsN36BgDlRIxg/JiOqP4Nmw+owCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBYTAeFw0yNjExMjkxNTE3MjJaFw0yNjEyMjkxNTE3MjJaMAwx
CjAIBgNVBAMMAWEwQDAQBgcqhkjOPQIBBgUrgQQAAQMsAAQE7MnX0jiW4mkVM3om
Ch09bt/+tKIC+KRB7f262I4kq6wUhLRuJipZX3qjYTBfMB0GA1UdDgQWBBRLdUW7
4qLBBTzrzJJP8KdhDsbfgDAfBgNVHSMEGDAWgBRLdUW74qLBBTzrzJJP8KdhDsbf
gDAPBgNVHRMBAf8EBTADAQH/MAwGA1UdEQQFMAOCAWEwCgYIKoZIzj0EAwIDMQAw
LgIVAbNMBMjQygxCCKcj1wjp/wUSYiUdAhUCgiKEMtOfe75XURQF67U9qQwZv/o=
-----END CERTIFICATE-----
"""
"""A certificate of a curve that nothing here knows."""
NOW = datetime.now(UTC)


def shakes_hands(data: Data, trusted: bytes, host: str, folder: Path) -> bool:
    """Whether a client that trusts these authorities takes what is served."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    trusting = ssl.create_default_context(cadata=trusted.decode())
    client = trusting.wrap_bio(to_client, to_server, server_hostname=host)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    for name in (CERTIFICATE, KEY):
        (folder / name).write_bytes(data[name])
    serving.load_cert_chain(folder / CERTIFICATE, folder / KEY)
    server = serving.wrap_bio(to_server, to_client, server_side=True)
    waiting = [client, server]
    while waiting:
        for side in tuple(waiting):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
            except ssl.SSLCertVerificationError:
                return False
            waiting.remove(side)
    return True


def made() -> Data:
    taken, data = changed({}, NAMES, NOW, VALID)
    assert taken is Step.MAKE
    return data


@pytest.mark.parametrize("host", ["server.ns.svc", "any.example.com", "127.0.0.1"])
def test_a_client_that_trusts_its_authority_takes_it_for_its_names(
    host: str, tmp_path: Path
) -> None:
    data = made()

    assert shakes_hands(data, data[CA], host, tmp_path)
    assert not shakes_hands(data, data[CA], "elsewhere.example.org", tmp_path)
    assert not shakes_hands(data, issue(NAMES, NOW, VALID).ca, host, tmp_path)


def test_nobody_keeps_the_key_of_an_authority() -> None:
    data = made()

    assert set(data) == {CA, CERTIFICATE, KEY}
    assert data[CA].count(b"BEGIN") == 1
    assert b"PRIVATE" not in data[CA] + data[CERTIFICATE]


def test_a_session_takes_what_is_served_from_its_first_hour_to_its_last() -> None:
    """Of 200 days: one begins on each, and lasts for a week."""
    data = made()
    steps: list[Step] = []
    begun: list[tuple[int, bytes]] = []
    for hour in range(0, 24 * 200, 6):
        now = NOW + timedelta(hours=hour)
        taken, data = changed(data, NAMES, now, VALID)
        steps += [taken] if taken is not Step.KEEP else []
        if hour % 24 == 0:
            begun.append((hour, data[CA]))
        of_week = [trusted for since, trusted in begun if hour - since <= 24 * 7]
        assert all(_is_trusted(data, trusted) for trusted in of_week)
    assert len(steps) >= 9
    assert steps == [*islice(cycle([Step.TELL, Step.SERVE, Step.DROP]), len(steps))]


def _is_trusted(data: Data, trusted: bytes) -> bool:
    return read({**data, CA: trusted}).served is not None


def test_the_secret_holds_two_authorities_at_most() -> None:
    data = made()
    for day in range(200):
        _, data = changed(data, NAMES, NOW + timedelta(days=day), VALID)
        assert data[CA].count(b"BEGIN CERTIFICATE") <= 2


@pytest.mark.parametrize("broken", [CA, CERTIFICATE, KEY])
def test_what_cannot_be_used_is_made_anew(broken: str) -> None:
    other = issue(NAMES, NOW, VALID)
    strange = {CA: other.ca, CERTIFICATE: other.certificate, KEY: other.key}[broken]

    for value in (b"", b"no PEM", UNREADABLE, strange):
        assert read({**made(), broken: value}).served is None
        assert changed({**made(), broken: value}, NAMES, NOW, VALID)[0] is Step.MAKE


def test_what_an_older_chart_made_is_kept(tmp_path: Path) -> None:
    """Its authority has signed with RSA, and so has its server."""
    data = _of_an_older_chart()

    taken, kept = changed(data, NAMES, NOW, VALID)

    assert (taken, kept) == (Step.KEEP, data)
    taken, told = changed(data, NAMES | {"new.example.com"}, NOW, VALID)
    assert taken is Step.TELL
    assert told[CERTIFICATE] == data[CERTIFICATE]
    assert shakes_hands(told, told[CA], "server.ns.svc", tmp_path)
    taken, served = changed(told, NAMES | {"new.example.com"}, NOW + TOLD, VALID)
    assert taken is Step.SERVE
    assert served[CA].count(b"BEGIN") == 2


def _of_an_older_chart() -> Data:
    """As Helm's own functions make it."""
    ca_key, key = (rsa.generate_private_key(65537, 2048) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server-ca")])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    made = []
    for name, public in ((issuer, ca_key.public_key()), (subject, key.public_key())):
        builder = x509.CertificateBuilder(issuer, name, public, x509.random_serial_number())
        builder = builder.not_valid_before(NOW).not_valid_after(NOW + timedelta(days=3650))
        of_ca = x509.BasicConstraints(ca=name is issuer, path_length=None)
        names = x509.SubjectAlternativeName(
            [
                x509.IPAddress(ip_address("127.0.0.1")),
                *map(x509.DNSName, NAMES - {"127.0.0.1"}),
            ]
        )
        builder = builder.add_extension(of_ca, critical=True)
        signed = builder.add_extension(names, critical=False).sign(ca_key, hashes.SHA256())
        made.append(signed.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.TraditionalOpenSSL
    secret = key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())
    return {CA: made[0], CERTIFICATE: made[1], KEY: secret}


def test_times_that_are_none_are_as_if_they_were_not_there() -> None:
    for value in (b"", b"soon", b"2030-01-01T00:00:00", b"\xff"):
        assert read({**made(), issuing.TOLD: value}).told is None
