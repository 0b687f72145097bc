"""What is asked keeps its name: Jobs and verdicts of an older operator stay the answer to it.

`asked.json` was recorded with the operator before checks were declared one by one. A check that is
asked for under another name or digest makes every finished Job and verdict of it worthless, and
what was verified, but has not landed, is verified again.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from bernstein.api.signals import Signal
from bernstein.checks import gates, signals
from bernstein.checks.spec import CheckSpec, Subject
from bernstein.controllers import job_actions
from bernstein.core import labels
from bernstein.core.actions import RunCheck, RunInspect
from bernstein.core.verification.expected.required import executing, reading, required_checks
from tests.unit.controllers.jobs.built import PLAIN_SETTINGS, TASK
from tests.unit.core import objects
from tests.unit.core.objects import BASE, HEAD, NAMESPACE
from tests.unit.upgrade import then

RECORDED: list[dict[str, Any]] = json.loads(Path(__file__).with_name("asked.json").read_text())

every_record = pytest.mark.parametrize("record", RECORDED, ids=range(len(RECORDED)))


@pytest.fixture
def _as_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """With those checks as they were that ask something else today, on purpose."""
    monkeypatch.setattr(gates, "GATES", then.GATES)


def asked(record: dict[str, Any]) -> tuple[CheckSpec, ...]:
    declared = [Signal.model_validate(signal) for signal in record["signals"]]
    project = objects.project(gates=record["gates"]).spec
    return required_checks(declared, project, Subject(*record["changed"]))


def by_name(checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(checks, key=lambda check: str(check["name"]))


@every_record
@pytest.mark.usefixtures("_as_then")
def test_a_check_is_asked_for_as_before(record: dict[str, Any]) -> None:
    found = [{**asdict(check), "digest": check.digest} for check in asked(record)]

    # What came since asks nothing else: the digests say so. Their order was another one: built-in
    # gates that a Project lists stood among the defaults.
    known = {key for check in record["checks"] for key in check}
    then = [{key: value for key, value in check.items() if key in known} for check in found]
    reads = [check["reads"] for check in then if check["reads"]]
    assert not any(each.pop(came) for each in reads for came in ("files", "append_only"))
    assert by_name(json.loads(json.dumps(then))) == by_name(record["checks"])


@every_record
@pytest.mark.usefixtures("_as_then")
def test_a_job_is_labelled_as_before(record: dict[str, Any]) -> None:
    checks, project = asked(record), objects.project(gates=record["gates"])
    wanted: list[job_actions.RunJob] = [
        RunCheck(f"work-s1-{check.name}-0", check, "refs/x", HEAD, BASE)
        for check in executing(checks)
    ]
    if together := tuple(reading(checks)):
        wanted.append(RunInspect("work-s1-inspect-0", together, "refs/x", HEAD, BASE, "refs/y"))

    jobs = [job_actions.build(w, project, NAMESPACE, TASK, PLAIN_SETTINGS) for w in wanted]

    # What they were made with, none of then says: their verdicts are not kept.
    found = [job["metadata"]["labels"] for job in jobs]
    then = [{k: v for k, v in each.items() if k != labels.MADE_WITH} for each in found]
    assert then == record["labels"]


@every_record
def test_only_lint_and_tests_ask_something_else_today(record: dict[str, Any]) -> None:
    today = {check.name: check.digest for check in asked(record)}
    differing = [each["name"] for each in record["checks"] if today[each["name"]] != each["digest"]]

    assert set(differing) <= {"lint", "tests"}


def test_every_signal_and_gate_of_then_is_recorded_and_still_there() -> None:
    recorded = [check for record in RECORDED for check in record["checks"]]
    types = {signal["type"] for record in RECORDED for signal in record["signals"]}
    built_in = {check["name"] for check in recorded} & {*gates.names()}

    assert types == {"path_exists", "glob_exists", "file_contains", "test_passes"}
    assert types <= {*signals.types()}
    assert built_in == {"lint", "tests", "pii_scan", "merge_conflict"}
