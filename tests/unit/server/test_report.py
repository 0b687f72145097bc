"""What a report becomes: bounded, cleaned, and never going back."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bernstein.api.session import Report
from bernstein.server.http.refusal import Refusal
from bernstein.server.report import (
    MAX_TOKENS,
    Heartbeat,
    ResultBody,
    after_heartbeat,
    after_result,
    parse,
)
from tests.unit.server.conftest import beat, result

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


def heard(old: Report | None = None, *, at: datetime = NOW, **changes: Any) -> tuple[str, Report]:
    changes.setdefault("lastActivity", NOW.timestamp() - 3)
    return after_heartbeat(old, parse(Heartbeat, beat(**changes)), at)


def ended(old: Report | None = None, *, at: datetime = NOW, **changes: Any) -> tuple[str, Report]:
    return after_result(old, parse(ResultBody, result(**changes)), at)


def test_the_first_heartbeat_fills_the_report() -> None:
    outcome, report = heard(seq=7, checkpoint="d" * 40)
    assert outcome == "written"
    assert report.dump() == {
        "seq": 7,
        "heartbeatTime": "2026-01-01T12:00:00Z",
        "lastActivityTime": "2026-01-01T11:59:57Z",
        "usage": {"input": 10, "output": 5, "cacheRead": 2, "cacheWrite": 1},
        "model": "sonnet-4",
        "progress": "reads the tests",
        "checkpoint": "d" * 40,
    }


@pytest.mark.parametrize("seq", [0, 6, 7])
def test_an_older_or_repeated_heartbeat_changes_nothing(seq: int) -> None:
    _, old = heard(seq=7)
    later = NOW + timedelta(minutes=1)
    assert heard(old, at=later, seq=seq, usage={"input": 999}) == ("repeated", old)


def test_a_mere_sign_of_life_is_written_every_15_seconds_at_most() -> None:
    _, old = heard(seq=1)
    soon, enough = NOW + timedelta(seconds=14), NOW + timedelta(seconds=15)
    active = NOW.timestamp() + 10
    assert heard(old, at=soon, seq=2, lastActivity=active) == ("unchanged", old)
    outcome, report = heard(old, at=enough, seq=3, lastActivity=active)
    assert outcome == "written"
    assert report.heartbeat_time == enough
    assert report.last_activity_time == NOW + timedelta(seconds=10)


@pytest.mark.parametrize(
    "change",
    [
        {"usage": {"input": 11, "output": 5, "cache_read": 2, "cache_write": 1}},
        {"progress": "writes the middleware"},
        {"model": "opus-4"},
        {"checkpoint": "e" * 40},
    ],
)
def test_news_is_written_at_once(change: dict[str, Any]) -> None:
    _, old = heard(seq=1)
    assert heard(old, at=NOW + timedelta(seconds=1), seq=2, **change)[0] == "written"


def test_usage_never_goes_down() -> None:
    _, old = heard(seq=1)
    usage = {"input": 5, "output": 500, "cache_read": 0, "cache_write": 0}
    _, report = heard(old, seq=2, usage=usage)
    assert report.dump()["usage"] == {"input": 10, "output": 500, "cacheRead": 2, "cacheWrite": 1}


def test_what_a_later_heartbeat_does_not_know_stays() -> None:
    _, old = heard(seq=1, checkpoint="d" * 40)
    _, report = heard(old, seq=2, model=None, progress="", checkpoint=None, usage={"input": 11})
    assert (report.model, report.progress) == ("sonnet-4", "reads the tests")
    assert report.checkpoint == "d" * 40


def test_times_never_go_back_and_activity_is_never_in_the_future() -> None:
    _, old = heard(seq=1, lastActivity=NOW.timestamp() + 9999)
    assert old.last_activity_time == NOW
    _, report = heard(old, at=NOW - timedelta(minutes=5), seq=2, usage={"input": 11})
    assert (report.heartbeat_time, report.last_activity_time) == (NOW, NOW)


def test_texts_are_cleaned_and_cut() -> None:
    evil = "\x1b[2Jwrites\u202e @everyone\n" + "x" * 500
    _, report = heard(progress=evil, model="\x07m" * 1000)
    assert report.progress is not None
    assert report.model is not None
    assert len(report.progress) <= 200
    assert len(report.model) <= 300
    for character in "\x1b\u202e\n@\x07":
        assert character not in report.progress + report.model


def test_a_result_finishes_the_report() -> None:
    _, old = heard(seq=3, checkpoint="d" * 40)
    outcome, report = ended(old)
    assert outcome == "written"
    assert report.finished is True
    assert report.checkpoint == "b" * 40
    assert report.seq == 3
    assert report.dump()["usage"]["input"] == 100


def test_a_result_without_change_is_no_checkpoint() -> None:
    assert ended(sha="a" * 40)[1].checkpoint is None


def test_nothing_follows_a_result() -> None:
    _, final = ended()
    later = NOW + timedelta(minutes=1)
    assert ended(final, at=later, usage={"input": 10**9}) == ("repeated", final)
    assert heard(final, at=later, seq=99) == ("repeated", final)


@pytest.mark.parametrize(
    "change",
    [
        {"seq": -1},
        {"seq": 2**53 + 1},
        {"seq": 1.5},
        {"seq": "1"},
        {"seq": True},
        {"seq": None},
        {"usage": {"input": -1}},
        {"usage": {"input": MAX_TOKENS + 1}},
        {"usage": {"output": 1.5}},
        {"usage": {"output": float("nan")}},
        {"usage": {"cache_read": "7"}},
        {"usage": {"cache_write": True}},
        {"usage": []},
        {"lastActivity": float("nan")},
        {"lastActivity": float("inf")},
        {"lastActivity": -1},
        {"lastActivity": 1e12},
        {"lastActivity": None},
        {"checkpoint": "HEAD"},
        {"checkpoint": "a" * 41},
        {"model": 5},
        {"progress": None},
    ],
)
def test_a_heartbeat_that_cannot_be_true_is_refused_by_field(change: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as refused:
        heard(**change)
    assert refused.value.status == 422
    assert refused.value.reason == "InvalidBody"
    assert next(iter(change)) in refused.value.problem.message


def test_every_wrong_field_is_named_but_not_its_content() -> None:
    with pytest.raises(Refusal) as refused:
        parse(Heartbeat, {"usage": {"input": "hunter2"}, "checkpoint": "hunter2"})
    message = refused.value.problem.message
    for name in ("seq", "usage.input", "lastActivity", "checkpoint"):
        assert name in message
    assert "hunter2" not in message


def test_keys_of_a_newer_recorder_are_ignored() -> None:
    assert heard(mood="good")[0] == "written"


usages = st.fixed_dictionaries(
    {name: st.integers(0, MAX_TOKENS) for name in ("input", "output", "cache_read", "cache_write")}
)
beats = st.fixed_dictionaries(
    {
        "seq": st.integers(0, 20),
        "usage": usages,
        "model": st.none() | st.text(max_size=400),
        "progress": st.text(max_size=400),
        "lastActivity": st.floats(0, 1e11),
        "checkpoint": st.none() | st.sampled_from(["a" * 40, "b" * 64]),
    }
)


@given(st.lists(st.tuples(beats, st.integers(-100, 100), st.booleans()), max_size=12))
def test_whatever_is_said_the_report_is_valid_and_never_goes_back(
    calls: list[tuple[dict[str, Any], int, bool]],
) -> None:
    report: Report | None = None
    for body, seconds, final in calls:
        at = NOW + timedelta(seconds=seconds)
        if final:
            outcome, new = ended(report, at=at, usage=body["usage"])
        else:
            outcome, new = after_heartbeat(report, parse(Heartbeat, body), at)
        assert Report.model_validate(new.dump()) == new
        if report is not None:
            assert new.seq >= report.seq
            assert bool(new.finished) >= bool(report.finished)
            assert outcome == "written" or new is report
            before, after = report.usage, new.usage
            assert before is not None
            assert after is not None
            assert after.input >= before.input
            assert after.output >= before.output
            assert report.heartbeat_time is not None
            assert new.heartbeat_time is not None
            assert new.heartbeat_time >= report.heartbeat_time
        report = new


def test_a_result_says_how_the_agent_ended_where_the_recorder_tells() -> None:
    _, silent = ended(None, final=None)
    _, told = ended(None, final={"outcome": "Succeeded", "no_change": True, "text": "x"})

    assert (silent.outcome, silent.no_change) == (None, None)
    assert (told.outcome, told.no_change) == ("Succeeded", True)
    assert (silent.low_confidence, told.low_confidence) == (None, None)


def test_a_result_says_that_the_agent_was_not_confident_harmless_and_bounded() -> None:
    said = "not sure\x1b[2J" + "x" * 1000
    _, told = ended(None, final={"outcome": "Succeeded", "low_confidence": said})

    assert told.low_confidence is not None
    assert told.low_confidence.startswith("not sure")
    assert len(told.low_confidence) <= 64
    assert "\x1b" not in told.low_confidence


@pytest.mark.parametrize("tokens", [-1, 10**12 + 1, 10**40])
def test_more_tokens_than_there_can_be_are_refused(tokens: int) -> None:
    with pytest.raises(Refusal, match="usage"):
        ended(None, usage={"output": tokens})
