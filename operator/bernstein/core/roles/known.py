"""The roles that a namespace has: those that are built in, and its AgentRoles."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from bernstein import roles
from bernstein.api.roles.role import AgentRoleSpec
from bernstein.api.signals import Assignment
from bernstein.api.vocabulary import ROLES
from bernstein.core.roles import judged

A = TypeVar("A", bound=Assignment)
AUTO = "auto"


@dataclass(frozen=True)
class Roles(Collection[str]):
    """Their names, and what is known of each."""

    own: Mapping[str, AgentRoleSpec] = field(default_factory=dict)
    """The AgentRoles of the namespace by name, those with problems among them. One stands for the
    built-in role of its name, also where it cannot be used: nobody means that one then."""

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in ROLES

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*ROLES, *self.own}))

    def __len__(self) -> int:
        return len({*ROLES, *self.own})

    @cached_property
    def digest(self) -> bytes:
        """Of the names, and of what each chooses."""
        told = sorted((n, s.model or "", s.effort or "") for n, s in self.own.items())
        return hashlib.sha256(repr(told).encode()).digest() if told else b""

    def problem(self, name: str) -> str:
        """Why the AgentRole of this name cannot be used; "": it can, or there is none."""
        spec = self.own.get(name)
        found = judged.problems(name, spec) if spec is not None else ()
        if not found:
            return ""
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        return f"AgentRole '{name}' cannot be used: {found[0]}{more}"

    def text(self, name: str) -> str | None:
        """The template of what an agent of this role is told first; None: nothing."""
        spec = self.own.get(name)
        own = spec.prompt if spec is not None else None
        return own if own is not None else roles.text(name)

    def task_text(self, name: str) -> str | None:
        """The template of how a Task is put to it; None: in the words of its description."""
        spec = self.own.get(name)
        return spec.task_prompt if spec is not None else None

    def with_defaults(self, work: A) -> A:
        """The work with model and effort of its role, where it names none itself."""
        spec = self.own.get(work.role)
        if spec is None:
            return work
        update: dict[str, str] = {}
        if work.model in (None, AUTO) and spec.model not in (None, AUTO):
            update["model"] = spec.model
        if work.effort is None and spec.effort is not None:
            update["effort"] = spec.effort
        return work.model_copy(update=update) if update else work


BUILT_IN = Roles()
"""Where a namespace has no AgentRole, or nobody has asked."""
