"""Pictures of a dashboard's panels, as SVG: what Prometheus answers, in Grafana's order.

It is no Grafana: axes and legends are plainer, and a legend that is too long is cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from pathlib import Path

from tests import monitoring
from tests.chart.dashboards.board import Board
from tests.chart.dashboards.panels import Kind, Panel
from tests.programs.monitoring.dashboards.prometheus import Prometheus, Result, replaced

FOLDER = Path(__file__).parents[4] / "docs/images"
CELL, ROW = 50, 30
"""Pixels of one of 24 columns, and of a unit of height."""
COLOURS = ("#7eb26d", "#eab839", "#6ed0e0", "#ef843c", "#e24d42", "#1f78c1", "#ba43a9", "#705da0")
NAMED = {"green": "#299c46", "orange": "#d97a1f", "red": "#d44a3a"}
INK, PALE, PAPER, LINE = "#24292e", "#6e7680", "#ffffff", "#d9dce0"
MOST_BARS, MOST_NAMES = 9, 6
_SUFFIX = {"percentunit": "%", "s": " s", "ops": "/s", "d": " days", "bytes": " MiB", "Bps": " B/s"}
_SCALE = {"percentunit": 100.0, "bytes": 1 / 2**20}
Points = list[tuple[float, float]]


def drawn(board: Board, running: Prometheus) -> str:
    """The dashboard as one picture; rows have their titles."""
    parts: list[str] = []
    y = 10
    for title, panels in board.rows.items():
        parts.append(_text(12, y + 18, title, size=15, bold=True))
        y += 28
        x = tallest = 0
        for panel in panels:
            if x + panel.width > 24:
                x, y, tallest = 0, y + tallest, 0
            parts.append(_framed(panel, running, 10 + x * CELL, y))
            x, tallest = x + panel.width, max(tallest, panel.height * ROW)
        y += tallest + 8
    width = 24 * CELL + 20
    body = "\n".join((f'<rect width="{width}" height="{y}" fill="#f4f5f7"/>', *parts))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y}"'
        f' viewBox="0 0 {width} {y}" font-family="sans-serif">\n'
        f"<title>{escape(board.title)}</title>\n{body}\n</svg>\n"
    )


def _framed(panel: Panel, running: Prometheus, x: int, y: int) -> str:
    width, height = panel.width * CELL - 8, panel.height * ROW - 8
    frame = f'<rect width="{width}" height="{height}" rx="3" fill="{PAPER}" stroke="{LINE}"/>'
    title = _text(10, 18, panel.title, bold=True)
    inner = _DRAWN[panel.kind](panel, running, width, height)
    return f'<g transform="translate({x} {y})">{frame}{title}{inner}</g>'


# --- kinds of panels ------------------------------------------------------------------------------


def _figure(panel: Panel, running: Prometheus, width: int, height: int) -> str:
    found = _bars_of(panel, running)
    text = _shown(found[0][1], panel.unit) if found else _nothing(panel)
    colour = _colour(panel, found[0][1]) if found else PALE
    return _text(width / 2, height / 2 + 22, text, size=30, fill=colour, anchor="middle")


def _bars(panel: Panel, running: Prometheus, width: int, height: int) -> str:
    found = sorted(_bars_of(panel, running), key=lambda each: -each[1])[:MOST_BARS]
    if not found:
        return _empty(panel, width, height)
    most = panel.highest or max(value for _, value in found) or 1.0
    step, room = min(24.0, (height - 40) / len(found)), width * 0.42
    parts = []
    for number, (name, value) in enumerate(found):
        top = 34 + number * step
        colour = _colour(panel, value)
        wide = max(1.0, min(1.0, value / most) * (width - room - 80))
        parts += [
            _text(room - 6, top + 11, _cut(name, panel.width), anchor="end"),
            f'<rect x="{room:.0f}" y="{top:.0f}" width="{wide:.1f}" height="13" fill="{colour}"/>',
            _text(room + wide + 6, top + 11, _shown(value, panel.unit), fill=PALE),
        ]
    return "".join(parts)


def _table(panel: Panel, running: Prometheus, width: int, height: int) -> str:
    rows = running.at_the_end(replaced(panel.queries[0].expr))[:MOST_BARS]
    if not rows:
        return _empty(panel, width, height)
    columns = [*rows[0]["metric"], "Value"]
    lines = [columns, *([*row["metric"].values(), row["value"][1]] for row in rows)]
    wide = (width - 20) / len(columns)
    return "".join(
        _text(10 + n * wide, 40 + line * 18, cell, bold=line == 0)
        for line, cells in enumerate(lines)
        for n, cell in enumerate(cells)
    )


def _lines(panel: Panel, running: Prometheus, width: int, height: int) -> str:
    found = _lines_of(panel, running)
    if not found:
        return _empty(panel, width, height)
    if panel.kind == "stacked":
        found = _stacked(found)
    legend = 16 * ((min(len(found), MOST_NAMES) + 1) // 2)
    left, top, right, bottom = 62, 30, width - 12, height - 24 - legend
    times = [at for _, points in found for at, _ in points]
    highest = panel.highest or max(value for _, points in found for _, value in points) or 1.0
    begin, long = min(times), max(max(times) - min(times), 1.0)

    def place(at: float, value: float) -> str:
        up = min(1.0, value / highest) * (bottom - top)
        return f"{left + (at - begin) / long * (right - left):.1f},{bottom - up:.1f}"

    parts = [_axis(panel, highest, left, top, right, bottom), _minutes(long, left, right, bottom)]
    order = reversed(list(enumerate(found))) if panel.kind == "stacked" else enumerate(found)
    for number, (_, points) in order:
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(place(*point) for point in points)
        if panel.kind == "stacked":
            floor = f"{place(points[-1][0], 0)} {place(points[0][0], 0)}"
            parts.append(f'<polygon points="{path} {floor}" fill="{colour}"/>')
        else:
            line = f'fill="none" stroke="{colour}" stroke-width="1.6"'
            parts.append(f'<polyline points="{path}" {line}/>')
    return "".join(parts) + _legend([name for name, _ in found], width, height - legend)


_DRAWN: dict[Kind, Callable[[Panel, Prometheus, int, int], str]] = {
    "figure": _figure,
    "bars": _bars,
    "table": _table,
    "lines": _lines,
    "stacked": _lines,
}


# --- what Prometheus answers ----------------------------------------------------------------------


def _bars_of(panel: Panel, running: Prometheus) -> list[tuple[str, float]]:
    return [
        (_name(query.legend, each["metric"]), float(each["value"][1]))
        for query in panel.queries
        for each in running.at_the_end(replaced(query.expr))
    ]


def _lines_of(panel: Panel, running: Prometheus) -> list[tuple[str, Points]]:
    found = []
    for query in panel.queries:
        result: Result = running.over_time(_unrecorded(replaced(query.expr)))
        for each in result:
            points = [(float(at), float(value)) for at, value in each["values"]]
            found.append((_name(query.legend, each["metric"]), points))
    return found


def _unrecorded(expr: str) -> str:
    """Rules record from the moment on at which Prometheus runs, and the hour is past."""
    for rule in monitoring.records():
        name = rf"{re.escape(rule['record'])}(\{{[^}}]*\}})?(?![\w:])"
        own = f"({rule['expr']})"
        expr = re.sub(name, own.replace("\\", r"\\"), expr)
    return expr


def _stacked(found: list[tuple[str, Points]]) -> list[tuple[str, Points]]:
    """Each above those before it, at every time that any of them has."""
    times = sorted({at for _, points in found for at, _ in points})
    height, made = dict.fromkeys(times, 0.0), []
    for name, points in found:
        own = dict(points)
        height = {at: height[at] + own.get(at, 0.0) for at in times}
        made.append((name, list(height.items())))
    return made


# --- words ----------------------------------------------------------------------------------------


def _name(legend: str, labels: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: labels.get(found[1], ""), legend)


def _shown(value: float, unit: str) -> str:
    value *= _SCALE.get(unit, 1.0)
    digits = 0 if value >= 100 or value == int(value) else 1 if value >= 10 else 2
    number = f"{value:.{digits}f}" if abs(value) < 10000 else f"{value / 1000:.0f}k"
    if 0 < abs(value) < 0.01:
        number = f"{value:.1g}"
    return f"${number}" if unit == "currencyUSD" else f"{number}{_SUFFIX.get(unit, '')}"


def _colour(panel: Panel, value: float) -> str:
    colour = panel.base
    for at, name in panel.steps:
        colour = name if value >= at else colour
    return NAMED[colour]


def _nothing(panel: Panel) -> str:
    return "0" if panel.unit in ("short", "currencyUSD") else "-"


def _cut(name: str, columns: int) -> str:
    most = columns * 4
    return name if len(name) <= most else f"{name[: most - 1]}…"


# --- marks ----------------------------------------------------------------------------------------


def _empty(panel: Panel, width: int, height: int) -> str:
    return _text(width / 2, height / 2 + 8, "nothing yet", fill=PALE, anchor="middle")


def _axis(panel: Panel, highest: float, left: int, top: int, right: int, bottom: int) -> str:
    parts = []
    for share in (0.0, 0.5, 1.0):
        y = bottom - share * (bottom - top)
        parts.append(f'<path d="M{left} {y:.1f}H{right}" stroke="{LINE}"/>')
        shown = _shown(share * highest, panel.unit)
        parts.append(_text(left - 6, y + 4, shown, fill=PALE, anchor="end", size=10))
    return "".join(parts)


def _minutes(long: float, left: int, right: int, bottom: int) -> str:
    marks = (
        _text(
            left + share * (right - left),
            bottom + 14,
            f"{share * long / 60:.0f} min",
            fill=PALE,
            size=10,
            anchor=anchor,
        )
        for share, anchor in ((0.0, "start"), (0.5, "middle"), (1.0, "end"))
    )
    return "".join(marks)


def _legend(names: list[str], width: int, top: int) -> str:
    parts = []
    for number, name in enumerate(names[:MOST_NAMES]):
        x, y = 12 + (number % 2) * (width / 2 - 6), top + (number // 2) * 16 + 4
        more = len(names) - MOST_NAMES
        text = f"{name}, and {more} more" if more > 0 and number == MOST_NAMES - 1 else name
        most = int(width / 2 - 30) // 6
        text = text if len(text) <= most else f"{text[: most - 1]}…"
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<rect x="{x:.0f}" y="{y - 8:.0f}" width="10" height="3" fill="{colour}"/>')
        parts.append(_text(x + 15, y - 2, text, size=10))
    return "".join(parts)


def _text(
    x: float,
    y: float,
    text: str,
    *,
    size: int = 11,
    bold: bool = False,
    fill: str = INK,
    anchor: str = "start",
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    placed = f'x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="{anchor}"'
    return f'<text {placed} fill="{fill}"{weight}>{escape(text)}</text>'
