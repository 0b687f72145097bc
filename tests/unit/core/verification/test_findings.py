"""Which checks an Event names, and that it quotes none."""

from __future__ import annotations

from typing import Any

from bernstein.api.verification import Verification
from bernstein.core.verification.findings import SHOWN, named
from tests.unit.core import objects


def judged(*checks: dict[str, Any]) -> Verification:
    return objects.verification(checks=list(checks), passed=False)


def check(name: str, verdict: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": "gate", "verdict": verdict} | more


def test_checks_that_keep_the_work_back_are_named_with_their_reason() -> None:
    found = judged(
        check("tests", "Passed"),
        check("mypy", "Skipped", reason="NotReached"),
        check("lint", "Failed", reason="ExitCode", excerpt="what it printed"),
        check("signal-0", "TimedOut"),
        check("style", "Failed", required=False),
    )

    assert named(found) == "lint Failed (ExitCode), signal-0 TimedOut"


def test_a_signal_says_what_it_asks_in_bounds() -> None:
    asks = "file_contains: docs/hello.md contains 'Hello'"
    signal = check("signal-0", "Failed", kind="signal", title=asks, reason="ExitCode")
    long = signal | {"title": "a\u202eb\n" + "x" * 290}

    assert named(judged(signal)) == f"signal-0 ({asks}) Failed (ExitCode)"
    assert len(named(judged(long))) < 120
    assert not {"\n", "\u202e"} & set(named(judged(long)))


def test_where_none_is_required_the_others_are_named() -> None:
    assert named(judged(check("style", "Failed", required=False))) == "style Failed"


def test_a_reason_that_is_no_word_is_left_out() -> None:
    assert named(judged(check("lint", "Failed", reason="see\nhttp://x"))) == "lint Failed"


def test_many_are_counted() -> None:
    one, more = SHOWN + 1, SHOWN + 3

    assert named(judged(*(check(f"g{n}", "Failed") for n in range(one)))).endswith(
        " and 1 more check"
    )
    assert named(judged(*(check(f"g{n}", "Failed") for n in range(more)))).endswith(
        " and 3 more checks"
    )


def test_without_a_finding_there_are_no_words() -> None:
    assert named(None) == named(judged(check("lint", "Passed"))) == ""
