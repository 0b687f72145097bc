"""What a Project names of Secrets and ConfigMaps; the page of security says who reads which."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from bernstein.api.meta import (
    DataKey,
    HttpsAddress,
    Line,
    Model,
    ObjectName,
    cel,
    rule,
)
from bernstein.api.vocabulary import ModelProvider


class SecretRef(Model):
    """A Secret: for https of type kubernetes.io/basic-auth (keys `username`, `password`), for SSH
    of type kubernetes.io/ssh-auth (keys `ssh-privatekey`, `known_hosts`)."""

    secret_name: ObjectName
    """Secret of this namespace."""


class ConfigMapKey(Model):
    name: ObjectName
    """ConfigMap of this namespace."""
    key: DataKey = "ca.crt"
    """Key in it."""


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


def told_apart(key: str) -> dict[str, Any]:
    """The rule that `publicKey` names another key of the Secret than the private `key`."""
    return cel(
        rule(
            "!has(self.publicKey) || self.publicKey != self.key.key",
            f"'publicKey' is another key of the Secret than the private {key}",
            fieldPath=".publicKey",
        )
    )


class Attestation(Model):
    """How what is said of landed commits is signed."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": told_apart("one"),
    }

    key: SecretKey = Field(
        description="Private Ed25519 key as PEM (PKCS #8, without a password). No Job but the one "
        "that lands work mounts it."
    )
    public_key: DataKey | None = Field(
        default=None,
        description="Key of the same Secret with the public half as PEM, which is tried at once; "
        "nothing is signed that it does not prove. Absent: what is wrong shows when work lands.",
    )


class JudgingModel(Model):
    """A language model that answers checks."""

    name: Line
    """The provider's name of the model."""
    provider: ModelProvider
    """Whose API it is asked by."""
    base_url: HttpsAddress | None = Field(
        default=None, description="https address of that API; absent: the provider's own."
    )
    key: SecretKey = Field(description="Key of that API. The Jobs that ask the model mount it.")
    ca: ConfigMapKey | None = Field(
        default=None, description="Certificate authority of the address, when it is a private one."
    )
