"""What a Project says of a repository, and of the forge that has it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bernstein.api.meta import (
    HTTPS_PATTERN,
    STORED_HTTPS_PATTERN,
    Model,
    Name,
    cel,
    rule,
)
from bernstein.api.projects.cache import Cache
from bernstein.api.projects.credentials import ConfigMapKey, Credentials, SecretKey
from bernstein.api.vocabulary import ForgeType

_HTTPS_USERS = r"https://[^\s/]+@[^\s/@]+(/[^\s@]*)?"
API_PATTERN = rf"^({HTTPS_PATTERN[1:-1]}|{_HTTPS_USERS})$"
"""As of the repository's address, a rule refuses one with a user in words."""
NO_USER_OF_API = (
    "an address holds no user and no password: the token is in the Secret that 'token' names"
)


class Forge(Model):
    """The forge on which people merge the repository's pull requests."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "!has(self.api) || !self.api.matches('^https://[^/]*@')",
                NO_USER_OF_API,
                fieldPath=".api",
            )
        ),
    }

    type: ForgeType = Field(description="Which one it is. gitea: Forgejo, too.")
    api: (
        Annotated[
            str,
            Field(
                pattern=STORED_HTTPS_PATTERN,
                max_length=2048,
                json_schema_extra={"pattern": API_PATTERN},
            ),
        ]
        | None
    ) = Field(
        default=None,
        description="https address of its API; absent: where the repository's url has it, which "
        "must be one of https then.",
    )
    token: SecretKey = Field(
        description="Token that may read the repository, and write pull requests. The Jobs that "
        "open and watch these mount it, and no other."
    )


_PORT = "([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_SSH = (
    r"ssh://([A-Za-z0-9_][A-Za-z0-9._-]*@)?"
    rf"([A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9A-Fa-f:.]+\])(:{_PORT})?"
    r"(/[A-Za-z0-9._~+][A-Za-z0-9._~+-]*)+/?"
    r"|([A-Za-z0-9][A-Za-z0-9._-]*@)?[A-Za-z0-9][A-Za-z0-9.-]*:[A-Za-z0-9._~+][A-Za-z0-9._~/+-]*"
)
"""No part of one for SSH can be read as an option, and none is encoded: programs take it apart by
the same rule. The last form is HOST:PATH, which a rule refuses in words that help."""
_USERS = rf"{_HTTPS_USERS}|ssh://[^\s/@:]*:[^\s/]*@[^\s/@]+(/[^\s@]*)?"
"""With a user, or with a password: a rule refuses these in words, and nothing that is stored has
one. The API server would show a value, and what is secret in it, that its pattern refuses."""
ADDRESS_PATTERN = rf"^({HTTPS_PATTERN[1:-1]}|{_SSH})$"
URL_PATTERN = rf"^({HTTPS_PATTERN[1:-1]}|{_SSH}|{_USERS})$"
STORED_URL_PATTERN = rf"^({STORED_HTTPS_PATTERN[1:-1]}|{_SSH})$"
NO_USER = (
    "an address holds no password, and with https no user: both are in the Secrets that "
    "'credentials' names"
)

MOST_REPOSITORIES = 16
RepositoryPath = Annotated[str, Field(pattern=r"^\S+$", min_length=1, max_length=2048)]
"""By what Plans and Tasks name a repository of their Project: its name, or its url."""


FOLDER_PATTERN = r"^\.?[A-Za-z0-9_@+][A-Za-z0-9._@+-]*(/\.?[A-Za-z0-9_@+][A-Za-z0-9._@+-]*)*$"
Folder = Annotated[str, Field(pattern=FOLDER_PATTERN, min_length=1, max_length=200)]


class Checkout(Model):
    """What of the repository agents and checks get."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "has(self.folders) || has(self.lfs)",
                "it says nothing: name folders, or say what of Git LFS is fetched",
                reason="FieldValueRequired",
            )
        ),
    }

    folders: Annotated[tuple[Folder, ...], Field(min_length=1, max_length=32)] | None = None
    """Paths of folders, from the root, that are checked out for agents, with all below them and
    the files directly in each folder above. What is elsewhere stays as it is. Absent: all."""
    lfs: bool | None = None
    """Whether contents that Git LFS stores are fetched for checks that run a command, from the git
    server itself, with the account read. Absent or false: files stay pointers, as agents get them.
    """


class WorkRepository(Model):
    """Where work is kept until it may land."""

    url: Annotated[
        str,
        Field(
            pattern=STORED_URL_PATTERN, max_length=2048, json_schema_extra={"pattern": URL_PATTERN}
        ),
    ]
    """Another repository on the same git server."""


class Repository(Model):
    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "!self.url.startsWith('ssh:') || !has(self.forge) || has(self.forge.api)",
                "an address for SSH does not say where the forge's API is: say it in forge.api",
                fieldPath=".forge.api",
                reason="FieldValueRequired",
            ),
            rule(
                "!self.url.startsWith('ssh:') || !has(self.ca) || has(self.forge)",
                "SSH knows no certificates: known_hosts in the accounts' Secrets has the server's "
                "keys. With a forge 'ca' is the authority of its API",
                fieldPath=".ca",
                reason="FieldValueForbidden",
            ),
            rule(
                "!self.url.startsWith('ssh:') || !has(self.checkout) || !has(self.checkout.lfs) || "
                "!self.checkout.lfs",
                "contents of Git LFS are fetched by https: give the repository such an address",
                fieldPath=".checkout.lfs",
                reason="FieldValueForbidden",
            ),
            rule(
                "!has(self.workRepository) || "
                "self.workRepository.url.startsWith(self.url.find('^[a-z]+://[^/]+/'))",
                "it is another repository on the git server of 'url': the same accounts are used "
                "for both",
                fieldPath=".workRepository.url",
            ),
            rule(
                "!has(self.workRepository) || self.url != self.workRepository.url",
                "it is the repository itself: leave it out",
                fieldPath=".workRepository.url",
            ),
        ),
    }

    name: Name
    """What it is called in columns and messages."""
    url: Annotated[
        str,
        Field(
            pattern=STORED_URL_PATTERN,
            max_length=2048,
            json_schema_extra=cel(
                (
                    "self.startsWith('https://') || self.startsWith('ssh://')",
                    "an address begins with https:// or ssh://; what git also takes as "
                    "HOST:PATH is ssh://HOST/PATH",
                ),
                ("!self.matches('^(https://[^/]*@|ssh://[^/@]*:[^/]*@)')", NO_USER),
            )
            | {"pattern": URL_PATTERN},
        ),
    ] = Field(
        description="https address without credentials, or ssh://USER@HOST:PORT/PATH; absent user: "
        "git, absent port: 22."
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
    work_repository: WorkRepository | None = Field(
        default=None,
        description="Has the refs below refs/bernstein/, but for attestations, so that the account "
        "work needs to push nowhere else. Absent: they are here.",
    )
    checkout: Checkout | None = None
    """For a large repository. Absent: agents get all of it, and nothing of Git LFS is fetched."""
    cache: Cache | None = None
    """For a large repository. Absent: each checkout fetches all that it needs."""

    @property
    def work_url(self) -> str:
        """Where the refs below refs/bernstein/ are, but for attestations."""
        return self.work_repository.url if self.work_repository is not None else self.url

    @property
    def folders(self) -> tuple[str, ...]:
        """Those that are checked out for agents; none: all."""
        return (self.checkout.folders or ()) if self.checkout is not None else ()

    @property
    def lfs(self) -> bool:
        """Contents of Git LFS are fetched for checks."""
        return self.checkout is not None and self.checkout.lfs is True
