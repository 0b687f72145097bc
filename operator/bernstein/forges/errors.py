"""The error that asking a forge raises."""

from __future__ import annotations

from bernstein.core.delivery.forge_reasons import POLICIES, ForgeReason


class ForgeError(Exception):
    """The forge did not do it. Neither text nor attributes hold anything secret."""

    def __init__(
        self,
        reason: ForgeReason,
        message: str,
        *,
        said: str = "",
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        """`message`: plain words of ours on one line. `said`: the forge's own. `status`: of HTTP,
        where there was one. `retry_after`: seconds that the forge asks to wait."""
        super().__init__(f"{reason}: {message}")
        self.reason = reason
        self.message = message
        self.said = said
        self.status = status
        self.retry_after = retry_after

    @property
    def again(self) -> bool:
        """Whether the same request may succeed a little later."""
        return POLICIES[self.reason].again

    @property
    def remedy(self) -> str:
        """What a person can do about it."""
        return POLICIES[self.reason].remedy
