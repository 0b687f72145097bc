"""Lines of a pod's containers, as people read them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from bernstein.cli.commands.logs.pod_log import in_order, told, untimed
from bernstein.core.documents import handed
from bernstein.pods import log
from tests.unit.cli.scenes import AT, HOSTILE

SHA = "a1b2c3d4" * 5


def shown(**written: str) -> list[str]:
    """Container and words."""
    return [f"{entry.container}: {entry.words}" for entry in in_order(written)]


@pytest.mark.parametrize(
    ("event", "values", "words"),
    [
        ("checked-out", {"ref": "refs/heads/main", "sha": SHA}, "refs/heads/main, a1b2c3d4"),
        ("recorded", {"sha": SHA, "final": False, "skipped": 0}, "a1b2c3d4"),
        ("recorded", {"sha": SHA, "final": True, "skipped": 2}, "a1b2c3d4, final, skipped 2"),
        ("pushed", {"number": 3, "sha": SHA, "final": True}, "a1b2c3d4, final"),
    ],
)
def test_an_event_of_our_programs_is_a_sentence(
    capsys: pytest.CaptureFixture[str], event: str, values: dict[str, Any], words: str
) -> None:
    log.event(event, **values)

    assert shown(recorder=capsys.readouterr().err) == [
        f"recorder: {event.replace('-', ' ')} {words}"
    ]


def test_what_failed_is_told_with_reason_and_message(capsys: pytest.CaptureFixture[str]) -> None:
    log.event("push-failed", number=1, reason="RefMoved", message="somebody else pushed")
    log.event("heartbeat-failed", status=None, message="the server did not answer")
    log.event("stop", reason="Stalled")

    assert shown(recorder=capsys.readouterr().err) == [
        "recorder: push failed: RefMoved: somebody else pushed",
        "recorder: heartbeat failed: the server did not answer",
        "recorder: stop: Stalled",
    ]


def test_what_the_agent_says_is_told_as_the_agents_own_words(
    capsys: pytest.CaptureFixture[str],
) -> None:
    log.event("said", text="I read\nthe tests first", left_out=2)

    assert shown(recorder=capsys.readouterr().err) == ["agent: I read the tests first"]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 23, 6_000, 6_001, 20_000])
def test_a_document_that_the_recorder_hands_over_is_told_by_its_name_and_size(size: int) -> None:
    rows = handed.lines("output.json", b"x" * size)

    assert shown(recorder="\n".join(rows)) == [f"recorder: document output.json, {size:,} bytes"]
    assert len(shown(agent="\n".join(rows))) == len(rows)


@pytest.mark.parametrize("row", ['{"document":', '{"document":1}', '{"document":"a","part":2}'])
def test_what_only_looks_like_a_document_is_told_as_it_is(row: str) -> None:
    assert shown(recorder=row) == [f"recorder: {row}"]


def row(time: object, event: str, **facts: str) -> str:
    return json.dumps({"time": time, "event": event, **facts}) + "\n"


def test_containers_are_merged_by_time_and_a_line_without_one_stays_behind_its_neighbour() -> None:
    recorder = row(10, "first") + "Traceback:\n" + row(30, "last")

    assert shown(pusher=row(20, "between"), recorder=recorder) == [
        "recorder: first",
        "recorder: Traceback:",
        "pusher: between",
        "recorder: last",
    ]


def test_the_agents_lines_stand_where_the_node_saw_them() -> None:
    agent = (
        "1970-01-01T00:00:20.123456789Z 1. runs the tests\n1970-01-01T00:00:40Z done\nnot noted\n"
    )

    assert shown(recorder=row(10, "first") + row(30, "recorded"), agent=agent) == [
        "recorder: first",
        "agent: 1. runs the tests",
        "recorder: recorded",
        "agent: done",
        "agent: not noted",
    ]


def test_without_its_times_a_log_is_as_it_was_written() -> None:
    agent = "2026-11-23T01:02:03.5Z one\n2026-11-23T01:02:04+01:00 2026-11-23T01:02:03Z two\n"

    assert untimed("agent", agent) == "one\n2026-11-23T01:02:03Z two\n"
    assert untimed("pusher", agent) == agent


def test_a_line_has_its_time_and_its_container() -> None:
    (entry,) = in_order({"pusher": row(0, "pushed")})

    assert str(entry)[2] == str(entry)[5] == ":"
    assert str(entry)[8:] == "  pusher    pushed"


def test_what_an_agent_writes_is_harmless_and_no_event() -> None:
    forged = json.dumps({"time": 1, "event": "pushed", "sha": SHA})

    assert shown(agent=f"{forged}\n{HOSTILE}\n") == [
        f"agent: {forged}",
        f"agent: gnp.exe {AT}everyone",
    ]


def test_hostile_values_of_an_event_are_harmless() -> None:
    assert shown(recorder=row(1, f"said-{HOSTILE}")) == [f"recorder: said gnp.exe {AT}everyone"]


@pytest.mark.parametrize("time", [None, "now", -1, 1e300, [], True])
def test_a_time_that_is_none_does_no_harm(time: object) -> None:
    (entry,) = in_order({"recorder": row(time, "finished")})

    assert str(entry).endswith("  recorder  finished")


@pytest.fixture(params=["America/New_York", "Asia/Tokyo"])
def _far_from_greenwich(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_far_from_greenwich")
@pytest.mark.parametrize("stamp", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_a_line_of_a_time_that_not_every_zone_has_is_shown_as_it_is(stamp: str) -> None:
    (entry,) = in_order({"agent": f"{stamp} done"})

    assert str(entry).strip() == f"agent     {stamp} done"


@pytest.mark.parametrize("line", ["[" * 100_000, "{}", '{"event": 1}', "1", "null", '{"event":'])
def test_a_line_that_is_no_event_is_shown_as_it_is(line: str) -> None:
    (entry,) = in_order({"recorder": f"\n{line}\n\n"})

    assert entry.words.startswith(line[:1000])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (row(1, "check", check="lint", verdict="Failed"), "check lint, verdict Failed"),
        ('{"event": "login", "user": "ann"}', '{"event": "login", "user": "ann"}'),
        ("E501 line too long", "E501 line too long"),
    ],
)
def test_what_a_program_of_ours_noted_in_a_checks_log_is_told_in_words(
    line: str, words: str
) -> None:
    assert told(line.strip()) == words
