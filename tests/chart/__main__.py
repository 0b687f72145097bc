"""`python -m tests.chart` writes the chart's values onto its page, and its dashboards; `--check`
looks only."""

from __future__ import annotations

import sys

from tests.chart import dashboards
from tests.chart.values_table import README, VALUES, page_with, table


def main(arguments: list[str]) -> str | None:
    """What is wrong, if anything is."""
    wanted = {README: page_with(README.read_text(), table(VALUES.read_text()))}
    wanted |= dashboards.files()
    stale = {p: t for p, t in wanted.items() if not p.exists() or p.read_text() != t}
    left = [path for path in dashboards.FOLDER.glob("*") if path not in wanted]
    if "--check" in arguments:
        names = ", ".join(path.name for path in (*stale, *left))
        return f"{names}: not current: run make generate" if names else None
    for path in left:
        path.unlink()
    for path, text in stale.items():
        path.write_text(text)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
