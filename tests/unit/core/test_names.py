"""Names of sessions, Jobs and refs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.api.pod import Remote
from bernstein.core import names
from bernstein.pods.git import remotes

TASKS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?", fullmatch=True)
GATES = st.from_regex(r"[a-z][a-z0-9_]{0,29}", fullmatch=True)
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")


@settings(max_examples=40, deadline=None, derandomize=True)
@given(TASKS, st.integers(1, 500), GATES, st.integers(0, 500))
def test_every_name_is_a_label_and_tells_rounds_apart(
    task: str, number: int, gate: str, round_: int
) -> None:
    session = names.session(task, number)
    job = names.session_job(session, gate.rstrip("_"), round_)

    assert session == f"{task}-s{number}"
    assert DNS_LABEL.match(session)
    assert DNS_LABEL.match(job)
    assert names.session_job(session, gate, round_ + 1) != job
    assert names.session_job(names.session(task, number + 1), gate, round_) != job


def test_a_name_that_fits_is_kept_and_a_longer_one_is_cut_and_hashed() -> None:
    assert names.bounded("a" * 63) == "a" * 63
    assert re.fullmatch(r"a{54}-[0-9a-f]{8}", names.bounded("a" * 64))
    assert names.bounded("a" * 64) != names.bounded("a" * 65)


def test_unverified_work_is_never_a_branch() -> None:
    refs = names.refs_of("12345678-9abc-4def-8123-456789abcdef")

    assert refs == "refs/bernstein/123456789abc4def"
    assert names.work_ref(refs, "t", 3) == f"{refs}/t/s3"
    assert names.candidate_ref(f"{refs}/t/s3") == f"{refs}/t/candidate"
    assert names.candidate_ref(f"{refs}/t/candidate") == f"{refs}/t/candidate"
    assert names.branch_ref("main") == "refs/heads/main"


def test_plans_whose_uids_begin_alike_have_refs_of_their_own() -> None:
    one, other = "12345678-9abc-4def-8123-456789abcdef", "12345678-aaaa-4def-8123-456789abcdef"

    assert names.integration_ref(one) != names.integration_ref(other)


UID = "12345678-9abc-4def-8123-456789abcdef"
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?\Z")

headings = st.text(min_size=1, max_size=60)
steps = st.lists(st.tuples(headings, headings), min_size=1, max_size=20, unique=True)


def test_a_short_name_is_the_slugs_joined() -> None:
    assert names.task_names("web", UID, [("build", "Add JWT"), ("test", "Run all tests!")]) == (
        "web-build-add-jwt",
        "web-test-run-all-tests",
    )


def test_a_long_name_is_cut_readably_and_hashed() -> None:
    (name,) = names.task_names("rate-limit-api", UID, [("implement", "Add RateLimiter middleware")])

    assert re.fullmatch(r"rate-limit--implement-add-ratelim-[0-9a-f]{6}", name)
    assert len(name) <= 40


def test_the_name_of_a_plan_of_several_words_ends_with_two_hyphens() -> None:
    (name,) = names.task_names("web-app", UID, [("build", "x")])

    assert name == "web-app--build-x"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", ("b-c", "d")), ("a-b", ("c", "d"))),
        (("a-b", ("c", "d")), ("a--b", ("c", "d"))),
        (("p" * 40, ("c", "d")), ("p" * 39, ("c", "d"))),
    ],
)
def test_two_plans_have_no_name_in_common(
    one: tuple[str, tuple[str, str]], other: tuple[str, tuple[str, str]]
) -> None:
    (name, step), (other_name, other_step) = one, other

    assert names.task_names(name, UID, [step]) != names.task_names(other_name, "u", [other_step])


def test_where_a_name_must_be_cut_each_plan_has_its_own() -> None:
    step = ("implement", "Add RateLimiter middleware to all")

    assert names.task_names("web", UID, [step]) == names.task_names("web", UID, [step])
    assert names.task_names("web", UID, [step]) != names.task_names("web", "another", [step])


gates = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
words = st.lists(st.sampled_from(["payroll", "s1", "s2", "lint", "p1"]), min_size=1, max_size=4)


checks = (
    gates
    | st.sampled_from(["s1_lint", "payroll_lint", "s2_s1_lint", "lint_", "p1", "inspect_2"])
    | st.sampled_from(["signal-0", "signal-12", "inspect", "inspect-2", "prepare", "land", "begin"])
)
"""Gates as a Project may call them, and what is the operator's own."""


@settings(max_examples=400, deadline=None)
@given(st.booleans(), words, checks, words, checks, st.integers(0, 2), st.integers(0, 12))
def test_two_runs_never_need_the_same_job(
    is_plan: bool, one: list[str], check: str, other: list[str], gate: str, k: int, number: int
) -> None:
    """Plans and Tasks may be called alike, for each other and for what is judged."""
    session = names.session("-".join(other), k)
    first = names.plan_job("-".join(one), check, number)
    second = names.session_job(session, gate, number)
    if is_plan:
        second = names.plan_job("-".join(other), gate, number)

    assert first != session
    assert (first == second) == (is_plan and (one, check) == (other, gate))
    assert all(len(name) <= names.LABEL_LIMIT for name in (first, second))


@settings(max_examples=400, deadline=None)
@given(words, checks, words, checks, st.integers(0, 2), st.integers(0, 2), st.integers(0, 12))
def test_two_sessions_never_need_the_same_job(
    one: list[str], check: str, other: list[str], gate: str, k: int, j: int, number: int
) -> None:
    first = names.session_job(names.session("-".join(one), k), check, number)
    second = names.session_job(names.session("-".join(other), j), gate, number)

    assert (first == second) == ((one, k, check) == (other, j, gate))


@pytest.mark.parametrize(("one", "check", "other", "gate"), [("a", "b_lint", "a-b", "lint")])
def test_a_gate_does_not_take_the_jobs_of_a_plan_that_is_called_like_it(
    one: str, check: str, other: str, gate: str
) -> None:
    assert names.plan_job(one, check, 0) == "a-b-lint-0u6"
    assert names.plan_job(other, gate, 0) == "a-b-lint-0"


def test_a_rule_with_a_job_takes_none_of_a_gate() -> None:
    job = names.plan_job("a", "collected-tests", 0, is_rule=True)

    assert job == "a-collected-tests-0r15"
    assert job != names.plan_job("a-collected", "tests", 0)
    assert job != names.plan_job("a", "collected_tests", 0)


def test_a_plan_called_like_a_session_does_not_take_the_jobs_of_its_task() -> None:
    assert names.session_job(names.session("payroll", 1), "lint", 0) == "payroll-s1-lint-0"
    assert names.plan_job("payroll-s1", "lint", 0) == "payroll-s1-lint-p0"
    assert names.plan_job("payroll", "lint", 0) == "payroll-lint-0"


def test_names_that_would_be_equal_are_told_apart_by_a_hash() -> None:
    first, second, third = names.task_names(
        "p", UID, [("s", "Do it!"), ("s", "Do it?"), ("s", "Other")]
    )

    assert first != second
    assert first.startswith("p-s-do-it-")
    assert second.startswith("p-s-do-it-")
    assert third == "p-s-other"


def test_a_name_does_not_depend_on_the_steps_beside_it() -> None:
    alone = names.task_names("plan", UID, [("a", "One")])
    beside = names.task_names("plan", UID, [("a", "Zero"), ("a", "One"), ("b", "One")])

    assert alone[0] == beside[1]


def test_text_without_any_latin_letter_still_gives_a_name() -> None:
    (name,) = names.task_names("plan", UID, [("設計", "実装")])

    assert DNS_LABEL.match(name)
    assert names.plan_name("計画").startswith("plan-")


@given(st.text(max_size=80), steps)
def test_task_names_are_distinct_labels_of_at_most_40_characters(
    plan: str, titles: list[tuple[str, str]]
) -> None:
    found = names.task_names(plan, UID, titles)

    assert len(set(found)) == len(titles)
    assert all(DNS_LABEL.match(name) and len(name) <= 40 for name in found)


@given(st.text(max_size=80), steps)
def test_task_names_are_stable(plan: str, titles: list[tuple[str, str]]) -> None:
    assert names.task_names(plan, UID, titles) == names.task_names(plan, UID, titles)


@given(st.text(min_size=1, max_size=300))
def test_a_plans_name_is_a_label_of_at_most_40_characters(text: str) -> None:
    name = names.plan_name(text)

    assert DNS_LABEL.match(name)
    assert len(name) <= 40


def test_long_plans_that_begin_alike_get_different_names() -> None:
    assert names.plan_name("x" * 50) != names.plan_name("x" * 51)


@given(st.text(min_size=1, max_size=300))
def test_a_label_value_is_always_legal(text: str) -> None:
    value = names.label_value(text)

    assert LABEL_VALUE.match(value)
    assert len(value) <= 63


def test_a_legal_label_value_is_left_alone() -> None:
    assert names.label_value("Plan_1.x") == "Plan_1.x"


@given(st.text(), st.text(), st.text(), st.text())
def test_the_hash_tells_where_a_part_ends(a: str, b: str, c: str, d: str) -> None:
    same = (a, b) == (c, d)
    assert (names.short_hash(a, b, length=64) == names.short_hash(c, d, length=64)) is same


def test_the_name_of_kept_verdicts_fits_whatever_the_project_is_called() -> None:
    name = names.gate_cache("p" * 253)

    assert len(name) <= 253
    assert name != names.gate_cache("p" * 252)


@pytest.mark.parametrize(
    ("ref", "is_work"),
    [
        ("refs/bernstein/1111222233334444/integration", True),
        ("refs/bernstein/1111222233334444/r1/web-show/s1", True),
        ("refs/bernstein/attestations/0f3c", False),
        ("refs/heads/bernstein/web-11112222", False),
        ("refs/heads/main", False),
    ],
)
def test_programs_find_a_ref_where_the_operator_names_it(ref: str, is_work: bool) -> None:
    remote = Remote("https://git.example/app.git", work_url="https://git.example/work.git")

    assert names.is_work_ref(ref) is is_work
    assert (remotes.address_of(remote, ref) == remote.work_url) is is_work
