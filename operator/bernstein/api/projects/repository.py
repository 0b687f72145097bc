"""What a Project says of a repository, and of the forge that has it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bernstein.api.meta import Model, Name, cel
from bernstein.api.projects.credentials import ConfigMapKey, Credentials, SecretKey
from bernstein.api.vocabulary import ForgeType


class Forge(Model):
    """The forge on which people merge the repository's pull requests."""

    type: ForgeType = Field(description="Which one it is. gitea: Forgejo, too.")
    api: Annotated[str, Field(pattern=r"^https://[^\s@]+$", max_length=2048)] | None = Field(
        default=None,
        description="https address of its API; absent: where the repository's url has it.",
    )
    token: SecretKey = Field(
        description="Token that may read the repository, and write pull requests. The Jobs that "
        "open and watch these mount it, and no other."
    )


class Repository(Model):
    name: Name
    """What it is called in columns and messages."""
    url: Annotated[str, Field(pattern=r"^https://[^\s@]+$", max_length=2048)] = Field(
        description="https address without credentials."
    )
    branch: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9][-A-Za-z0-9._/]*$",
            max_length=200,
            json_schema_extra=cel(
                (
                    "!self.contains('..') && !self.contains('//') && !self.contains('/.') && "
                    "!self.contains('.lock/') && !self.endsWith('.lock') && "
                    "!self.endsWith('.') && !self.endsWith('/')",
                    "git takes no branch with '..', '//', '/.' or '.lock/' in its name, or with "
                    "'.', '/' or '.lock' at its end",
                )
            ),
        ),
    ] = "main"
    credentials: Credentials
    ca: ConfigMapKey | None = Field(
        default=None,
        description="Certificate authority of the git server, and of the forge, when it is a "
        "private one.",
    )
    forge: Forge | None = Field(
        default=None, description="Where its pull requests are. merge.strategy pr needs it."
    )
