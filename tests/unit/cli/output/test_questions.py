"""What people must decide, as a table for terminals of any width."""

from __future__ import annotations

import pytest

from bernstein.cli.output import tables
from tests.unit.cli.output.test_tables import asks_about
from tests.unit.cli.scenes import terminal


@pytest.mark.parametrize("width", [60, 80, 100, 120, 200])
def test_the_name_that_is_decided_about_is_whole_and_the_rest_left_out_before(width: int) -> None:
    name = "report-generator-for-invoices-1a2b3c4d5e"
    because = ["all work is asked about", "it changes a protected path"]
    asked = asks_about(name, title="x", cost_usd="1.2", files_changed=3, because=because)
    shown, console = terminal(width=width)

    shown.show(tables.approval_table([asked], shown.people))

    heading, *_, row = console.export_text().splitlines()
    assert name in row
    assert "all work is" in row if width >= 80 else "BECAUSE" in heading
    assert "…" not in heading
    assert ("COMMIT" in heading) is (width >= 100)
