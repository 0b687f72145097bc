"""The chart's dashboards for Grafana, as code: it makes the files that the chart brings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from grafana_foundation_sdk.cog.encoder import JSONEncoder

from tests.chart.dashboards.board import Board
from tests.chart.dashboards.cost import COST
from tests.chart.dashboards.internals import INTERNALS
from tests.chart.dashboards.overview import OVERVIEW
from tests.chart.dashboards.verification import VERIFICATION

FOLDER = Path(__file__).parents[3] / "charts/bernstein/files/monitoring/dashboards"
BOARDS: tuple[Board, ...] = (OVERVIEW, VERIFICATION, COST, INTERNALS)


def files() -> dict[Path, str]:
    """What each file has to hold."""
    return {FOLDER / f"{board.name}.json": text(board) for board in BOARDS}


def text(board: Board) -> str:
    encoded = JSONEncoder(sort_keys=True, indent=1, ensure_ascii=False).encode(board.built())
    return encoded + "\n"


def stored() -> dict[str, dict[str, Any]]:
    """The files that there are, by name."""
    return {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
