"""The list of Plans."""

from __future__ import annotations

import pytest

from bernstein.cli.output import tables
from tests.unit.cli.scenes import plan, terminal


def test_the_list_of_plans_fits_80_columns() -> None:
    shown, console = terminal()

    shown.show(tables.plan_table([plan()], console))

    head, _, row = console.export_text().splitlines()
    assert head.split() == ["PLAN", "PHASE", "REASON", "STAGE", "CLOSED", "COST", "AGE"]
    assert row.split() == ["rate-limit-api", "Running", "implement", "2/7", "$0.42", "5m"]


@pytest.mark.parametrize("width", [80, 72])
@pytest.mark.parametrize("reason", ["PlanInvalid", "AwaitingApproval", "NotificationOfTwentyFour"])
def test_the_list_of_plans_cuts_no_reason_but_names(width: int, reason: str) -> None:
    shown, console = terminal(width=width)
    waiting = {"reason": reason, "since": "2030-01-01T12:00:00Z"}
    long_name = {"name": "a-plan-with-as-long-a-name-as-plans-have"}
    waits = plan(waiting=waiting)
    waits = waits.model_copy(update={"metadata": waits.metadata.model_copy(update=long_name)})

    shown.show(tables.plan_table([plan(), waits], console))

    head, _, _, row = rows = console.export_text().splitlines()
    assert reason in row
    assert row.split()[0].startswith("a-plan-with")
    assert row.split()[-3:] == ["2/7", "$0.42", "5m"]
    assert max(len(each.rstrip()) for each in rows) <= width
    assert "STAGE" not in head


@pytest.mark.parametrize(("width", "costs"), [(80, ["$0.42"]), (72, ["$0.42"]), (64, [])])
def test_with_namespaces_names_are_cut_and_no_age(width: int, costs: list[str]) -> None:
    shown, console = terminal(width=width)
    waits = plan(waiting={"reason": "NotificationOfTwentyFour", "since": "2030-01-01T12:00:00Z"})
    long = {"name": "a-plan-with-as-long-a-name-as-plans-have", "namespace": "a-team-of-many-words"}
    waits = waits.model_copy(update={"metadata": waits.metadata.model_copy(update=long)})

    shown.show(tables.plan_table([plan(), waits], console, namespaces=True))

    head, _, _, row = rows = console.export_text().splitlines()
    assert head.split()[-2 - len(costs) :: 1 + len(costs)] == ["CLOSED", "AGE"]
    assert row.split()[2:] == ["Running", "NotificationOfTwentyFour", "2/7", *costs, "5m"]
    assert max(len(each.rstrip()) for each in rows) <= width
