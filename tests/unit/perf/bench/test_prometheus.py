"""Counters are read out of /metrics."""

from __future__ import annotations

from tests.perf.bench.prometheus import parse

TEXT = """\
# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{code="200",resource="tasks",verb="GET"} 3
requests_total{code="500",resource="tasks",verb="GET"} 1.5e+01
requests_total{code="200",verb="POST"} 4 1700000000
requests_total_more{code="200"} 9
depth 2
odd{what="a \\"b\\", c=\\"d\\"}"} 1
"""


def test_only_the_metrics_that_are_asked_for_are_read() -> None:
    found = parse(TEXT, {"requests_total", "depth"})

    assert {sample.name for sample in found.found} == {"requests_total", "depth"}
    assert found.total("depth") == 2
    assert found.total("missing") == 0


def test_series_are_summed_by_the_labels_that_are_asked_for() -> None:
    found = parse(TEXT, {"requests_total"})

    assert found.total("requests_total") == 22
    assert found.total("requests_total", code="200") == 7
    assert found.total("requests_total", code="200", verb="GET") == 3
    assert found.by("requests_total", "verb", "resource") == {
        ("GET", "tasks"): 18,
        ("POST", ""): 4,
    }


def test_quotes_in_a_label_do_not_end_it() -> None:
    assert parse(TEXT, {"odd"}).total("odd", what='a \\"b\\", c=\\"d\\"}') == 1
