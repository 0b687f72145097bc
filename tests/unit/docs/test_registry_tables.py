"""Every signal, gate and adapter is on its page with what the code says of it, and no other."""

from __future__ import annotations

from tests.unit.docs.registry_tables import adapter_problems, gate_problems, signal_problems


def test_every_signal_has_its_row() -> None:
    assert signal_problems() == []


def test_every_gate_has_its_row() -> None:
    assert gate_problems() == []


def test_every_adapter_has_its_row() -> None:
    assert adapter_problems() == []
