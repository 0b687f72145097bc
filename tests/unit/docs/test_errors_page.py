"""The page of errors says of every reason what the error table does with it, and knows no other."""

from __future__ import annotations

import inspect
import re
from typing import get_args

from bernstein.api.meta import ConditionType
from bernstein.api.reasons import VerdictReason
from bernstein.api.verification import VerdictWord
from bernstein.checks import gates
from bernstein.core.projects import caching, readiness
from bernstein.core.reasons import POLICIES
from bernstein.core.reasons.limits import MAX_GATE_ERRORS, MAX_INFRASTRUCTURE_FAILURES
from bernstein.core.reasons.row import Policy, Retry
from bernstein.core.reasons.waits import PROBE_SECONDS, SOON_SECONDS
from bernstein.core.verification.crowd import FOLLOW_EACH
from tests.unit.checks import examples
from tests.unit.docs.pages import REFERENCE, ROOT, rows, table

SECOND_WAVE = FOLLOW_EACH * (1 + FOLLOW_EACH)
"""So many have followed when the pods of the first wave have begun, too."""
PAGE = REFERENCE / "errors.md"


def listed() -> dict[str, list[str]]:
    """Reason -> cells behind it; the rows of the table of reasons have seven cells."""
    return {cells[0].strip("`"): cells[1:] for cells in rows(PAGE) if len(cells) == 7}


def treatment(policy: Policy) -> list[str]:
    return [
        policy.retry.value,
        "yes" if policy.counts else "no",
        "yes" if policy.capped else "no",
        str(policy.holds) + (", once two are held" if policy.unconfirmed else ""),
        policy.remedy or "-",
    ]


def test_every_reason_is_on_the_page_with_what_is_done() -> None:
    assert {r: cells[1:] for r, cells in listed().items()} == {
        reason: treatment(policy) for reason, policy in POLICIES.items()
    }


def test_every_reason_has_a_meaning() -> None:
    assert [reason for reason, cells in listed().items() if not cells[0]] == []


WHO_JUDGES = ("checks", "core/judging", "pods/programs")
SAYS = re.compile(r'\b(?:failed|errored)\(\s*"(\w+)"')
"""A verdict with its reason, as whoever judges makes it."""


def test_every_verdict_and_every_reason_of_one_is_on_the_page() -> None:
    told = dict(table(PAGE, "Reasons of verdicts"))
    rooms = [ROOT / "operator/bernstein" / room for room in WHO_JUDGES]
    texts = [path.read_text() for room in rooms for path in room.rglob("*.py")]
    said = {reason for text in texts for reason in SAYS.findall(text)}
    of_examples = {examples.of_gate(name).reason for name in gates.names()}

    # That a gate is Bypassed has a person's reason.
    assert told.keys() == {*get_args(VerdictWord)} - {"Bypassed"}
    named = {*re.findall(r"\w+", " ".join(told.values()))}
    assert len(said) > 10
    assert {*VerdictReason} | said | of_examples <= named


def test_every_verdict_is_named_where_gates_are() -> None:
    text = (REFERENCE / "project.md").read_text().split("\nVerdicts, ")[1].split("could not run")[0]

    assert {*get_args(VerdictWord)} <= {*re.findall(r"\w+", text)}


def test_what_projects_warn_of_is_on_the_page() -> None:
    warned = {
        (condition, word)
        for condition, word in re.findall(
            r"^\| `(\w+)` \| `(\w+)` \|", PAGE.read_text(), re.MULTILINE
        )
    }
    words = {*re.findall(r'return "([A-Z][A-Za-z]+)", ', inspect.getsource(readiness))} - {
        "True",
        "False",
        "Unknown",
    } | {*caching.REMEDIES}

    assert {word for _, word in warned} == words
    assert {condition for condition, _ in warned} <= {*ConditionType}


def test_every_kind_of_retry_is_explained() -> None:
    explained = {cells[0].strip("`") for cells in rows(PAGE) if len(cells) == 2}
    assert {retry.value for retry in Retry} <= explained


def test_the_page_names_the_limits() -> None:
    text = PAGE.read_text()
    for limit in (
        f"{MAX_INFRASTRUCTURE_FAILURES} failures that count to the cap",
        f"{MAX_GATE_ERRORS} times",
        f"every {PROBE_SECONDS // 60} minutes",
        f"lets the next {FOLLOW_EACH} try",
        f"the first {FOLLOW_EACH} take their part, and once these have begun up to {SECOND_WAVE:,}",
    ):
        assert limit in text


def test_pages_tell_how_many_pods_an_hour_what_is_tried_soon_may_take() -> None:
    most = 3600 // SOON_SECONDS
    assert f"at most about {most} Jobs an hour" in PAGE.read_text()
    retention = (REFERENCE.parent / "how-to/retention.md").read_text()
    assert f"tried again {SOON_SECONDS} s after each time" in retention
    assert f"up to {most} sessions" in retention
