"""What follows from each failure of a forge: a back-off where it passes by itself, else a probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bernstein.api.programs import forge_reasons
from bernstein.core.reasons.row import Policy, Retry

OF_FORGES: Final[Mapping[str, Policy]] = {
    str(reason): Policy(Retry.BACK_OFF if row.again else Retry.PROBE, False, row.remedy)
    for reason, row in forge_reasons.POLICIES.items()
}
