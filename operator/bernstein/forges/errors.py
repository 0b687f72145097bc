"""The error that asking a forge raises."""

from __future__ import annotations

from bernstein.api.programs.forge_reasons import POLICIES, ForgeReason
from bernstein.web.errors import RemoteError


class ForgeError(RemoteError[ForgeReason]):
    """The forge did not do it."""

    policies = POLICIES
