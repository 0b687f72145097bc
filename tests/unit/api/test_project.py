"""What a Project may be called and call its parts."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from bernstein.api.project import GateSettings


def test_names_of_gates_stay_apart_as_names_of_jobs() -> None:
    # '_' becomes '-' there; a name that had a '-' of its own could meet another one.
    assert GateSettings(name="my_gate").name == "my_gate"
    with pytest.raises(ValidationError, match="pattern"):
        GateSettings(name="my-gate")
