"""Certificates themselves: made by an authority that signs one and is forgotten, and read again."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from bernstein.certificates.rotation import Held, Pair, Step, step

CA, CERTIFICATE, KEY = "ca.crt", "tls.crt", "tls.key"
NEXT_CA, NEXT_CERTIFICATE, NEXT_KEY = "next-ca.crt", "next-tls.crt", "next-tls.key"
TOLD, SWITCHED = "told", "switched"
"""Times, as ISO 8601."""

SKEW = timedelta(minutes=5)
"""So much the clocks of nodes may differ."""

Data = Mapping[str, bytes]


@dataclass(frozen=True)
class Issued:
    """In PEM. Nobody has the authority's key: it signed this certificate and no other."""

    ca: bytes
    certificate: bytes
    key: bytes


def issue(names: frozenset[str], now: datetime, valid: timedelta) -> Issued:
    """A certificate for these DNS names and IP addresses, and the authority that signs it."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"bernstein {now:%Y-%m-%d}")])
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bernstein server")])
    usage = {"key_cert_sign": False, "crl_sign": False, "digital_signature": False}
    of_ca = _builder(issuer, issuer, ca_key.public_key(), now, valid)
    of_ca = of_ca.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    of_ca = of_ca.add_extension(_usage(**(usage | {"key_cert_sign": True})), critical=True)
    of_server = _builder(subject, issuer, key.public_key(), now, valid)
    for extension, critical in (
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (_usage(**(usage | {"digital_signature": True})), True),
        (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
        (x509.SubjectAlternativeName([_name(name) for name in sorted(names)]), False),
        (x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), False),
    ):
        of_server = of_server.add_extension(extension, critical=critical)
    signed = of_server.sign(ca_key, hashes.SHA256())
    return Issued(_pem(of_ca.sign(ca_key, hashes.SHA256())), _pem(signed), _key_pem(key))


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePublicKey,
    now: datetime,
    valid: timedelta,
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder(issuer, subject, key, x509.random_serial_number())
    builder = builder.not_valid_before(now - SKEW).not_valid_after(now + valid)
    return builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)


def _usage(*, digital_signature: bool, key_cert_sign: bool, crl_sign: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=digital_signature,
        key_cert_sign=key_cert_sign,
        crl_sign=crl_sign,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


# --- what a Secret holds --------------------------------------------------------------------------

_UNUSABLE = (
    *(KeyError, ValueError, TypeError, UnsupportedAlgorithm),
    *(x509.DuplicateExtension, x509.ExtensionNotFound, x509.InvalidVersion),
    x509.UnsupportedGeneralNameType,
)
"""What a certificate or key raises that is read: some of it is no ValueError."""


def read(data: Data) -> Held:
    """What can be used of it: a certificate counts with its own key and with its authority."""
    return Held(
        served=_pair(data, CERTIFICATE, KEY, CA),
        next=_pair(data, NEXT_CERTIFICATE, NEXT_KEY, NEXT_CA),
        told=_time(data, TOLD),
        switched=_time(data, SWITCHED),
    )


def _pair(data: Data, certificate: str, key: str, ca: str) -> Pair | None:
    try:
        leaf = x509.load_pem_x509_certificate(data[certificate])
        private = serialization.load_pem_private_key(data[key], None)
        authorities = x509.load_pem_x509_certificates(data[ca])
        alternative = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        fits = leaf.public_key() == private.public_key()
    except _UNUSABLE:
        return None
    if not fits or not _signer(leaf, authorities):
        return None
    addresses = map(str, alternative.get_values_for_type(x509.IPAddress))
    names = frozenset([*alternative.get_values_for_type(x509.DNSName), *addresses])
    return Pair(leaf.not_valid_before_utc, leaf.not_valid_after_utc, names)


def _signer(leaf: x509.Certificate, among: list[x509.Certificate]) -> x509.Certificate | None:
    for authority in among:
        try:
            leaf.verify_directly_issued_by(authority)
        except Exception:  # noqa: BLE001, S112 - of whatever kind of key: it is not the one
            continue
        return authority
    return None


def _time(data: Data, key: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(data[key].decode("ascii"))
    except (KeyError, ValueError):
        return None
    return found if found.tzinfo is not None else None


def changed(
    data: Data, names: frozenset[str], now: datetime, valid: timedelta
) -> tuple[Step, Data]:
    """The next step, and what the Secret holds after it."""
    due = step(read(data), names, now)
    match due:
        case Step.KEEP:
            return due, data
        case Step.MAKE:
            made = issue(names, now, valid)
            return due, {CA: made.ca, CERTIFICATE: made.certificate, KEY: made.key}
        case Step.TELL:
            made = issue(names, now, valid)
            served = {CERTIFICATE: data[CERTIFICATE], KEY: data[KEY]}
            own = _own_authority(data)
            told = {TOLD: now.isoformat().encode()}
            following = {NEXT_CA: made.ca, NEXT_CERTIFICATE: made.certificate, NEXT_KEY: made.key}
            return due, {CA: own + made.ca, **served, **following, **told}
        case Step.SERVE:
            pair = {CERTIFICATE: data[NEXT_CERTIFICATE], KEY: data[NEXT_KEY]}
            trusted = data[NEXT_CA] + _own_authority(data)
            return due, {CA: trusted, **pair, SWITCHED: now.isoformat().encode()}
        case Step.DROP:
            pair = {CERTIFICATE: data[CERTIFICATE], KEY: data[KEY]}
            return due, {CA: _own_authority(data), **pair}


def _own_authority(data: Data) -> bytes:
    """The one that signed what is served; nothing where there is none."""
    try:
        leaf = x509.load_pem_x509_certificate(data[CERTIFICATE])
        found = _signer(leaf, x509.load_pem_x509_certificates(data[CA]))
    except _UNUSABLE:
        return b""
    return _pem(found) if found is not None else b""
