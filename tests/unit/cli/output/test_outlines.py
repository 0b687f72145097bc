"""What a plan holds, on a terminal of 80 columns."""

from __future__ import annotations

from rich.cells import cell_len

from bernstein.api.plan import PlanSpec
from bernstein.cli.output import outlines
from bernstein.core.outlines.outline import of_file
from tests.unit.cli.scenes import HOSTILE, terminal

LONG = "a sentence of some words. " * 30
SHOWN = """\
p
  row 0
  row 1
  row 2
  row 3
  row 4
  row 5
  row 6
  row 7
  row 8
  row 9
  row 10
  row 11
  …

  estimate       about 30 min, about $0.55 (critical path; tokens by scope and
                 complexity, one attempt per step, list prices)
  budget         no limit
"""


def told(tty: bool = True, **step: object) -> list[str]:
    rows = "\n".join(f"row {number}" for number in range(20))
    stages = [{"name": "s", "steps": [{"title": "Do it"} | step]}]
    spec = PlanSpec.model_validate({"name": "p", "description": rows, "stages": stages})
    found, console = terminal(tty=tty)
    outlines.tell(found, of_file(spec))
    return [row.rstrip() for row in console.export_text().splitlines()]


def test_values_stand_beside_their_labels_and_a_long_description_is_begun() -> None:
    assert "".join(f"{row}\n" for row in told()).startswith(SHOWN)


def test_a_pipe_gets_all_of_a_description() -> None:
    assert {f"  row {number}" for number in range(20)} <= set(told(tty=False))


def test_no_row_is_wider_than_the_terminal_and_nothing_of_a_plan_moves_the_cursor() -> None:
    signal = {"type": "test_passes", "command": f"{LONG}{HOSTILE}"}

    rows = told(description=f"{LONG}{HOSTILE}", files=["x" * 250], completionSignals=[signal])

    assert max(map(cell_len, rows)) <= 80
    assert "\x1b" not in "".join(rows)
    assert "x" * 250 in "".join(row.strip() for row in rows).replace("files", "")
