"""Why a model gave no answer that can be used: the error that the client raises."""

from __future__ import annotations

from bernstein.core.judging.model_reasons import POLICIES, ModelReason
from bernstein.web.errors import RemoteError


class ModelError(RemoteError[ModelReason]):
    """No answer that can be used."""

    policies = POLICIES
