"""What a Project may call its gates."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bernstein.api.projects.gates import GateSettings


def test_names_of_gates_stay_apart_as_names_of_jobs() -> None:
    # '_' becomes '-' there; a name that had a '-' of its own could meet another one.
    assert GateSettings(name="my_gate").name == "my_gate"
    with pytest.raises(ValidationError, match="pattern"):
        GateSettings(name="my-gate")
