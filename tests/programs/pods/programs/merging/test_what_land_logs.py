"""What land logs of an attestation, against a real server."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from bernstein.api.programs.merge import AttestConfig, LandResult
from bernstein.core import names
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.merging.refs import CANDIDATE, INTEGRATION


def logged(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    lines = (json.loads(row) for row in capsys.readouterr().err.splitlines())
    (event,) = (each for each in lines if each.get("event") == "land")
    found: dict[str, Any] = event
    return found


def test_who_only_looks_does_not_log_that_something_is_missing_of_what_was_there_before(
    origin: Origin, do_land: Callable[..., LandResult], capsys: pytest.CaptureFixture[str]
) -> None:
    tip = origin.commit({"a": "1\n"}, ref=INTEGRATION)
    sha = origin.commit({"b": "2\n"}, tip, ref=CANDIDATE)
    origin.git("update-ref", INTEGRATION, sha)
    asked = AttestConfig(names.attestation_ref(sha), "{}", None, None)
    capsys.readouterr()

    found = do_land(sha, None, attest=asked, remote=origin.remote("read"))

    assert found == LandResult("Landed", sha, "Missing")
    event = logged(capsys)
    assert (event["attestation"], event["looked"]) == ("none of this work", True)


def test_who_pushes_logs_what_is_there_then(
    origin: Origin, do_land: Callable[..., LandResult], capsys: pytest.CaptureFixture[str]
) -> None:
    tip = origin.commit({"a": "1\n"}, ref=INTEGRATION)
    sha = origin.commit({"b": "2\n"}, tip, ref=CANDIDATE)
    asked = AttestConfig(names.attestation_ref(sha), "{}", None, None)
    capsys.readouterr()

    do_land(sha, tip, attest=asked)

    event = logged(capsys)
    assert (event["attestation"], event["looked"]) == ("Unsigned", False)
