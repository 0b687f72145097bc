"""What a Project names of Secrets and ConfigMaps; the page of security says who reads which."""

from __future__ import annotations

from pydantic import Field

from bernstein.api.meta import DataKey, Model, ObjectName


class SecretRef(Model):
    """A Secret of type kubernetes.io/basic-auth (keys `username`, `password`)."""

    secret_name: ObjectName
    """Secret of this namespace."""


class ConfigMapKey(Model):
    name: ObjectName
    """ConfigMap of this namespace."""
    key: DataKey = "ca.crt"


class SecretKey(Model):
    name: ObjectName
    """Secret of this namespace."""
    key: DataKey
    """Key whose value is used."""


class Credentials(Model):
    """Three accounts, so that a leak of one is not a leak of all."""

    read: SecretRef = Field(description="Fetches; used by every checkout.")
    work: SecretRef = Field(description="Pushes to refs/bernstein/ only; used by the pusher.")
    deliver: SecretRef = Field(description="Pushes verified work; used by merge Jobs only.")


class Attestation(Model):
    """How what is said of landed commits is signed."""

    key: SecretKey = Field(
        description="Private Ed25519 key as PEM (PKCS #8, without a password). The Jobs that land "
        "work mount it."
    )
