"""Names of sessions, Jobs and refs."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from bernstein.core import names

TASKS = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?", fullmatch=True)
GATES = st.from_regex(r"[a-z][a-z0-9_]{0,29}", fullmatch=True)
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")


@settings(max_examples=40, deadline=None, derandomize=True)
@given(TASKS, st.integers(1, 500), GATES, st.integers(0, 500))
def test_every_name_is_a_label_and_tells_rounds_apart(
    task: str, number: int, gate: str, round_: int
) -> None:
    session = names.session(task, number)
    job = names.check_job(session, gate.rstrip("_"), round_)

    assert session == f"{task}-s{number}"
    assert DNS_LABEL.match(session)
    assert DNS_LABEL.match(job)
    assert names.check_job(session, gate, round_ + 1) != job
    assert names.check_job(names.session(task, number + 1), gate, round_) != job


def test_a_name_that_fits_is_kept_and_a_longer_one_is_cut_and_hashed() -> None:
    assert names.bounded("a" * 63) == "a" * 63
    assert re.fullmatch(r"a{54}-[0-9a-f]{8}", names.bounded("a" * 64))
    assert names.bounded("a" * 64) != names.bounded("a" * 65)


def test_unverified_work_is_never_a_branch() -> None:
    uid = "12345678-1234"

    assert names.work_ref(uid, "t", 3) == "refs/bernstein/12345678/t/s3"
    assert names.candidate_ref(uid, "t") == "refs/bernstein/12345678/t/candidate"
    assert names.integration_ref(uid) == "refs/bernstein/12345678/integration"
    assert names.branch_ref("main") == "refs/heads/main"
