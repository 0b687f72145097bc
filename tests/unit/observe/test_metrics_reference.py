"""The reference page lists every series, exactly as the code has it, and nothing else."""

import re
from pathlib import Path

from bernstein.observe import series
from bernstein.observe.allowances import Allowances
from bernstein.observe.budgets import Budgets
from bernstein.observe.metrics import Metrics, ServerMetrics
from bernstein.observe.population import Census
from bernstein.observe.series import Series
from bernstein.observe.silence import Heard

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "metrics.md"
NOT_OURS = ("process_", "python_")


def row(entry: Series) -> str:
    labels = ", ".join(f"`{label}`" for label in entry.labels)
    return f"| `{entry.name}` | {entry.kind} | {labels} | {entry.meaning} |"


def section(title: str) -> list[str]:
    text = PAGE.read_text()
    part = text.partition(f"## {title}\n")[2].partition("\n## ")[0]
    return [line for line in part.splitlines() if line.startswith("| `")]


def test_every_series_of_the_operator_is_on_the_page() -> None:
    assert section("Work of the operator") == [row(entry) for entry in series.OPERATOR]


def test_every_series_of_the_server_is_on_the_page() -> None:
    assert section("Server") == [row(entry) for entry in series.SERVER]


def test_every_series_of_the_engine_is_on_the_page() -> None:
    assert section("Engine (operator and server)") == [row(entry) for entry in series.ENGINE]


def test_the_page_names_no_series_that_does_not_exist() -> None:
    listed = re.findall(r"^\| `([a-z_]+)`", PAGE.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(entry.name for entry in series.ALL)


def test_the_processes_expose_exactly_the_listed_series() -> None:
    operator, server, none = Metrics(), ServerMetrics(), Census("state")
    server.certificate_ends(0.0)
    nothing = dict.fromkeys(("tasks", "sessions", "plans", "approvals", "projects"), none)
    with operator.population(**nothing, allowances=Allowances(), budgets=Budgets(), heard=Heard()):
        exposed = {
            f"{family.name}_total" if family.type == "counter" else family.name
            for metrics in (operator, server)
            for family in metrics.registry.collect()
            if not family.name.startswith(NOT_OURS)
        }
    assert exposed == {entry.name for entry in series.ALL}


def test_buckets_ascend_and_names_follow_the_conventions() -> None:
    for entry in series.ALL:
        assert list(entry.buckets) == sorted(set(entry.buckets)), entry.name
        assert bool(entry.buckets) == (entry.kind == "histogram"), entry.name
        assert entry.name.endswith("_total") == (entry.kind == "counter"), entry.name
        if entry.kind == "histogram":
            assert entry.name.endswith(("_seconds", "_ratio")), entry.name


OF_ADR_003 = """
task_duration_seconds task_success_rate task_rework_rate task_token_usage task_cost_usd
files_modified lines_added_deleted agent_lifetime_seconds agent_tasks_completed
agent_heartbeat_failures agent_sleep_incidents agent_context_tokens cost_per_provider cost_per_role
cost_per_task free_tier_utilization budget_remaining janitor_pass_rate human_approval_rate
rollback_rate test_pass_rate provider_status provider_latency_ms provider_error_rate quota_remaining
"""


def test_it_is_said_where_each_metric_of_self_evolution_is() -> None:
    part = PAGE.read_text().partition("## Figures of self-evolution\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in part.splitlines() if line.startswith("| ")][1:]
    named = [name for row in rows for name in row[0].removeprefix("| ").split(", ")]
    assert sorted(named) == sorted(OF_ADR_003.split())
    known = {entry.name for entry in series.ALL}
    for name in re.findall(r"`(bernstein_[a-z_]+)", part):
        assert name in known or name.removesuffix("_count") in known, name
