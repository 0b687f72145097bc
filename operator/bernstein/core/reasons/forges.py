"""What follows from each failure of a forge: when it says so, a back-off where it passes by
itself, else a probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bernstein.api.programs import forge_reasons
from bernstein.api.programs.forge_reasons import ForgeReason
from bernstein.core.reasons.row import Policy, Retry


def _retry(reason: ForgeReason, again: bool) -> Retry:
    if reason is ForgeReason.RATE_LIMITED:
        return Retry.LATER
    return Retry.BACK_OFF if again else Retry.PROBE


OF_FORGES: Final[Mapping[str, Policy]] = {
    str(reason): Policy(_retry(reason, row.again), False, row.remedy)
    for reason, row in forge_reasons.POLICIES.items()
}
