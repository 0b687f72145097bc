"""`python -m tests.programs.monitoring.dashboards` draws the dashboards for the docs, of the hour
that the tests play, as its Prometheus answers."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.chart.dashboards import BOARDS
from tests.programs.monitoring.dashboards import played
from tests.programs.monitoring.dashboards.drawing import FOLDER, drawn
from tests.programs.monitoring.dashboards.prometheus import prometheus


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        prometheus(Path(folder), played.operator(), played.server()) as running,
    ):
        for board in BOARDS:
            (FOLDER / f"dashboard-{board.name}.svg").write_text(drawn(board, running))


if __name__ == "__main__":
    main()
