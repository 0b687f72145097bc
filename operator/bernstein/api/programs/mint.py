"""What an administrator tells the program `mint`, and what it leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One token."""

    account: str
    """read, work, deliver or forge: what it may do goes by that."""
    secret: str
    """The Secret that it is written into, which is there already."""


@dataclass(frozen=True, slots=True)
class MintConfig:
    app: str
    """Client id or id of the GitHub App."""
    installation: int
    """Its number, which the address of its settings ends with."""
    url: str
    """Of the repository."""
    tokens: tuple[Wanted, ...]
    key_file: str = "/app-key/private-key.pem"
    api: str | None = None
    """Address of the forge's API; None: where the url has it."""
    ca_file: str | None = None
    """Certificate authority of the forge."""
    workflows: bool = False
    """Whether work and deliver may change files of workflows, too."""
    cluster: str = "https://kubernetes.default.svc"
    """Address of the API server."""
    account_folder: str = ACCOUNT_FOLDER
    """Where the token of the pod's own account is, with the API server's authority and the
    namespace."""


@dataclass(frozen=True, slots=True)
class Minted:
    secret: str
    expires: str
    """As the forge says it."""


@dataclass(frozen=True, slots=True)
class MintResult:
    minted: tuple[Minted, ...]


class MintReason(StrEnum):
    KEY_INVALID = "AppKeyInvalid"
    """The file of the app's key is not there, or holds no RSA key without a password."""
    KEY_REFUSED = "AppKeyRefused"
    """The forge does not know the app, or the key is none of the app's."""
    NOT_INSTALLED = "AppNotInstalled"
    """The app has no such installation, or it is suspended."""
    LACKS_RIGHTS = "AppLacksRights"
    """The installation has no such repository, or not the rights that the account needs."""
    TOO_STRONG = "AppTokenTooStrong"
    """The forge gave a token that may do more than it was asked for, or elsewhere."""
    SECRET_REFUSED = "SecretWriteRefused"  # noqa: S105
    """The API server does not let the pod's account write the Secret, or there is none."""
    CLUSTER_UNREACHABLE = "ClusterUnreachable"
    """The API server cannot be reached, or not trusted."""


REMEDIES: Final[Mapping[MintReason, str]] = {
    MintReason.KEY_INVALID: "Put the PEM that GitHub made for the app into the Secret.",
    MintReason.KEY_REFUSED: "Compare the app's id, and make a new key in the app's settings. A "
    "clock that is minutes off is refused, too.",
    MintReason.NOT_INSTALLED: "Install the app for the owner of the repository, and name the "
    "number at the end of the installation's address.",
    MintReason.LACKS_RIGHTS: "Let the installation have the repository, give the app the "
    "permissions of the account, and have its owner accept them.",
    MintReason.TOO_STRONG: "Nothing was written. Ask who runs the forge which version it is.",
    MintReason.SECRET_REFUSED: "Apply the Secrets, and the Role that names each of them for the "
    "minter's account.",
    MintReason.CLUSTER_UNREACHABLE: "Let the minter's pod reach the API server.",
}
