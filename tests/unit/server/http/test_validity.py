"""When a certificate ends, read from its own bytes."""

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given
from hypothesis import strategies as st

from bernstein.observe.metrics import ServerMetrics
from bernstein.server.http.certificate import Certificate
from bernstein.server.http.validity import ends
from tests.unit.server.conftest import make_certificate

KEY = ec.generate_private_key(ec.SECP256R1())


def certificate(until: datetime) -> bytes:
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "server")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(KEY.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(until - timedelta(days=400))
        .not_valid_after(until)
        .sign(KEY, hashes.SHA256())
    )
    return made.public_bytes(Encoding.PEM)


@pytest.mark.parametrize(
    "until",
    [
        datetime(2026, 3, 1, 12, 30, 5, tzinfo=UTC),
        datetime(2049, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(2051, 1, 1, tzinfo=UTC),  # written in another form from 2050 on
    ],
)
def test_the_end_is_the_certificates_own(until: datetime) -> None:
    assert ends(certificate(until)) == until.timestamp()


def test_of_a_chain_the_first_counts() -> None:
    until = datetime(2030, 1, 1, tzinfo=UTC)
    chain = certificate(until) + certificate(until + timedelta(days=900))
    assert ends(b"Subject: somebody\n" + chain) == until.timestamp()


@pytest.mark.parametrize("text", [b"", b"\xff", b"-----END CERTIFICATE-----"])
def test_what_is_none_has_no_end(text: bytes) -> None:
    assert ends(text) is None


@given(st.integers(0, 200), st.binary(max_size=8))
def test_a_broken_one_has_no_end_or_one_and_raises_nothing(at: int, noise: bytes) -> None:
    der = ssl.PEM_cert_to_DER_cert(certificate(datetime(2030, 1, 1, tzinfo=UTC)).decode())
    broken = der[:at] + noise + der[at + len(noise) :]
    found = ends(ssl.DER_cert_to_PEM_cert(broken[: at + 100]).encode())
    assert found is None or isinstance(found, float)


def test_the_server_tells_when_its_certificate_ends(tmp_path: Path) -> None:
    metrics = ServerMetrics(process=False)
    name = "bernstein_certificate_expiry_timestamp_seconds"
    assert metrics.registry.get_sample_value(name) is None

    pair = make_certificate(tmp_path, "new")
    served = Certificate(*pair, ends=metrics.certificate_ends)
    served.load_into(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))

    end = metrics.registry.get_sample_value(name)
    assert end is not None
    left = timedelta(seconds=end - datetime.now(UTC).timestamp())
    assert timedelta(days=1) < left <= timedelta(days=2)
