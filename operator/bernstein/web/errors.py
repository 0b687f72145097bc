"""The error that asking somebody raises, with reasons of its own for each kind of them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar

from bernstein.api.programs.remote import Policy

R = TypeVar("R", bound=StrEnum)


class RemoteError(Exception, Generic[R]):
    """It was not done. Neither text nor attributes hold anything secret."""

    policies: ClassVar[Mapping[Any, Policy]]
    """By reason."""

    def __init__(
        self,
        reason: R,
        message: str,
        *,
        said: str = "",
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        """`message`: plain words of ours on one line. `said`: the other side's own, which may be
        those of what it was asked. `status`: of HTTP, where there was one. `retry_after`: seconds
        that it asks to wait."""
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message
        self.said = said
        self.status = status
        self.retry_after = retry_after

    @property
    def again(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.policies[self.reason].again

    @property
    def remedy(self) -> str:
        """What a person can do about it."""
        return self.policies[self.reason].remedy
