"""What the operator and the program `probe` say to each other; see `bernstein.api.pod`."""

from __future__ import annotations

from dataclasses import dataclass

from bernstein.api.pod import Remote
from bernstein.places import OWN_GIT

KEY_VARIABLE = "BERNSTEIN_KEY"
"""Where a container of a probe finds the key that it is for."""


@dataclass(frozen=True, slots=True)
class ProbeConfig:
    """Try one account of the repository: read, work or deliver. Nothing is left behind there."""

    remote: Remote
    account: str
    branch: str
    secret: str
    config_map: str
    """Names of the account's Secret and of the CA's ConfigMap, for messages."""
    git_dir: str = OWN_GIT
    ref: str | None = None
    """A ref that is not there, and that the account is to be allowed to push; None: it has none."""
    proposed: str | None = None
    """A branch that is not there, and that only `deliver` may push, as the other; None: there is
    no forge."""
    others: tuple[str, ...] = ()
    """Other branches of the same repository that work of the Project is delivered to: only
    `deliver` may push them, too."""


@dataclass(frozen=True, slots=True)
class ProbeKeyConfig:
    """Try the public half of a key of the Project's that signs."""

    called: str
    """For messages: its name in its Secret, and the Secret's."""
    ssh: bool = False
    """It signs commits; else what is said of those that have landed."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The account does what it is for, as far as the server tells."""

    too_strong: bool = False
    """The work account may push to one of the branches: the server only said that it is there
    already."""
