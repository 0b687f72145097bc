"""Why a model gave no answer that can be used: the error that the client raises."""

from __future__ import annotations

from bernstein.core.judging.model_reasons import POLICIES, ModelReason


class ModelError(Exception):
    """No answer that can be used. Neither text nor attributes hold anything secret."""

    def __init__(
        self,
        reason: ModelReason,
        message: str,
        *,
        said: str = "",
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        """`message`: plain words of ours on one line. `said`: the provider's own, which may be
        those of the question. `status`: of HTTP, where there was one. `retry_after`: seconds that
        the provider asks to wait."""
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
