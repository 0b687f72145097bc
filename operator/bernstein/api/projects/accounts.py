"""The accounts of a Project's repositories."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bernstein.api.project import ProjectSpec
from bernstein.api.projects.credentials import SecretRef
from bernstein.api.projects.repository import Repository

READ, WORK, DELIVER = "read", "work", "deliver"
ACCOUNTS = (READ, WORK, DELIVER)


class Account(NamedTuple):
    repository: Repository
    place: int
    """The repository's index in what was asked."""
    name: str
    subject: str
    """As messages have it: with the repository, where there are several."""

    @property
    def secret(self) -> SecretRef:
        found: SecretRef = getattr(self.repository.credentials, self.name)
        return found


def accounts(spec: ProjectSpec) -> Iterator[Account]:
    """All of them, one repository after the other."""
    for place, repository in enumerate(spec.repositories):
        for name in ACCOUNTS:
            yield Account(repository, place, name, subject(spec, repository.name, name))


def subject(spec: ProjectSpec, repository: str, account: str) -> str:
    """What messages call the account of the repository of this name."""
    return account if len(spec.repositories) == 1 else f"{account} of '{repository}'"


def parted(subject: str) -> tuple[str, str]:
    """The account, and its repository where the subject names it."""
    account, _, repository = subject.partition(" of '")
    return account, repository.removesuffix("'")
