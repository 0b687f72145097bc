"""Every signal, gate and adapter is on its page with what the code says of it, and no other."""

from __future__ import annotations

import re

from bernstein.api.vocabulary import ROLES
from tests.unit.docs.pages import REFERENCE
from tests.unit.docs.registry_tables import (
    adapter_problems,
    gate_problems,
    role_problems,
    signal_problems,
)


def test_every_signal_has_its_row() -> None:
    assert signal_problems() == []


def test_every_gate_has_its_row() -> None:
    assert gate_problems() == []


def test_every_adapter_has_its_row() -> None:
    assert adapter_problems() == []


def test_every_role_has_its_row_and_no_other_has() -> None:
    assert role_problems() == []


def test_the_page_of_plans_names_every_role() -> None:
    text = (REFERENCE / "plan.md").read_text()
    known = re.search(r"^Known roles \([^:]*\): ([^.]*)\.$", text, re.MULTILINE)

    assert known is not None
    assert tuple(known[1].replace("\n", " ").split(", ")) == ROLES
