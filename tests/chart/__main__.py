"""`python -m tests.chart` writes the chart's values onto its page; `--check` looks only."""

from __future__ import annotations

import sys

from tests.chart.values_table import README, VALUES, page_with, table

if __name__ == "__main__":
    before = README.read_text()
    after = page_with(before, table(VALUES.read_text()))
    if "--check" in sys.argv:
        sys.exit(0 if before == after else f"{README} is not current: run make generate")
    README.write_text(after)
