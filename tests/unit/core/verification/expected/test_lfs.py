"""Checks that run a command find contents of Git LFS where the Project asks for them."""

from __future__ import annotations

from typing import Any

import pytest

from bernstein.api.encoding import load
from bernstein.api.pod import CheckoutConfig
from bernstein.api.signals import Signal
from bernstein.checks.spec import CheckSpec
from bernstein.controllers.jobs.check import check_job, compare_job
from bernstein.controllers.settings import OperatorSettings
from bernstein.core.actions import RunCheck
from bernstein.core.verification.expected import required
from tests.unit.core import objects
from tests.unit.core.verification.expected.test_required import CHANGED

GATES = {"pipeline": [{"name": "own", "command": "make"}, {"name": "pii_scan"}], "extends": None}
OWNER = {"apiVersion": "bernstein.dev/v1alpha1", "kind": "Task", "name": "work", "uid": "u"}


def project(checkout: Any = None) -> Any:
    first = objects.project().spec.repositories[0].dump()
    more = {} if checkout is None else {"checkout": checkout}
    return objects.project(repositories=[first | more], gates=GATES)


def checks(checkout: Any = None) -> dict[str, CheckSpec]:
    signals = [Signal(type="test_passes", command="make test")]
    signals.append(Signal(type="path_exists", path="a"))
    found = required.required_checks(signals, project(checkout).spec, CHANGED)
    return {check.name: check for check in found}


def test_those_that_run_a_command_and_no_others() -> None:
    found = checks({"lfs": True})

    assert {name for name, check in found.items() if check.lfs} >= {"signal-0", "own"}
    assert not found["signal-1"].lfs
    assert not found["pii_scan"].lfs


@pytest.mark.parametrize("checkout", [None, {"lfs": False}, {"folders": ["a"]}])
def test_without_it_no_check_is_another_question(checkout: Any) -> None:
    with_it, without, before = checks({"lfs": True}), checks(checkout), checks()

    assert {n: c.digest for n, c in without.items()} == {n: c.digest for n, c in before.items()}
    assert not any(check.lfs for check in without.values())
    differ = {name for name, check in with_it.items() if check.digest != before[name].digest}
    assert differ == {name for name, check in with_it.items() if check.lfs}


def test_folders_are_none_where_only_contents_are_asked_for() -> None:
    (repository,) = project({"lfs": True}).spec.repositories
    assert (repository.folders, repository.lfs) == ((), True)


@pytest.mark.parametrize("make", [check_job, compare_job])
@pytest.mark.parametrize("asks", [True, False])
def test_the_checkout_of_its_job_is_told(make: Any, asks: bool) -> None:
    of, check = project({"lfs": asks}), checks({"lfs": asks})["own"]
    run = RunCheck(
        "work-s1-own-0", check, ref="r", sha="1" * 40, base="2" * 40, pinned_sha="3" * 40
    )

    job = make(run, of, "team", OWNER, OperatorSettings(image="b:1"))

    (first, *_) = job["spec"]["template"]["spec"]["initContainers"]
    assert load(CheckoutConfig, first["command"][-1]).lfs is asks
