"""What has a tree that is judged, for tests that hold for both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from bernstein.api.plan import PlanStatus
from bernstein.api.verification import Verification
from bernstein.core import names
from tests.unit.core import objects


@dataclass(frozen=True)
class Kind:
    status: Callable[[Verification], Any]
    job: names.JobNaming


TASK = Kind(lambda judged: objects.done(verification=judged), partial(names.session_job, "work-s1"))
PLAN = Kind(
    lambda judged: PlanStatus(observed_generation=1, verification=judged),
    partial(names.plan_job, "web"),
)
BOTH = pytest.mark.parametrize("kind", [TASK, PLAN], ids=["Task", "Plan"])
