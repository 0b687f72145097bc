"""What people are told where a check could not run."""

from __future__ import annotations

import pytest

from bernstein.api.pod import Check
from bernstein.checks.spec import CheckSpec
from bernstein.core import diagnosis
from bernstein.core.diagnosis import Diagnosis
from bernstein.core.verification import remedies
from tests.unit.core.objects import NOW, job, pod, project, waiting

TESTS = CheckSpec("signal-0", "signal", "test_passes: pytest -q", True, command="pytest", image="t")
FILE = CheckSpec(
    "signal-1", "signal", "file_contains: a", True, reads=Check("signal-1", "file_contains")
)
LINT = CheckSpec("lint", "gate", "lint", True, command="ruff check", image="t")
OWN = CheckSpec("own", "gate", "own", True, command="own", image="own:1")
PII = CheckSpec("pii_scan", "gate", "pii_scan", True, reads=Check("pii_scan", "pii_scan"))
EVERY = (TESTS, FILE, LINT, OWN, PII)
PROJECT = project(
    gates={"pipeline": [{"name": "own", "command": "own", "image": "own:1"}]},
    toolchain={"image": "t"},
)
NEW = "another signal in a new plan or task: those of this one cannot be changed."


@pytest.mark.parametrize(
    ("check", "called"),
    [
        ("signal-0", "test_passes: pytest -q"),
        ("lint", "lint"),
        ("inspect", "the checks that only read"),
    ],
)
def test_a_check_is_called_by_the_users_word_for_it(check: str, called: str) -> None:
    why = Diagnosis("NoVerdict", "it said nothing")

    assert remedies.told(check, EVERY, why, PROJECT) == (
        f"'{called}' could not run: NoVerdict: it said nothing"
    )


@pytest.mark.parametrize(
    ("check", "reason", "remedy"),
    [
        (
            "signal-0",
            "ToolMissing",
            f"Install the command in the Project's toolchain.image, or use {NEW}",
        ),
        (
            "lint",
            "ToolMissing",
            "Install the command in the Project's toolchain.image, "
            "or change gates.pipeline of the Project for 'lint'.",
        ),
        (
            "own",
            "ToolMissing",
            "Install the command in the image of the gate 'own' in the Project, "
            "or change gates.pipeline of the Project for 'own'.",
        ),
        (
            "signal-0",
            "ImagePullFailed",
            "Correct the image's name in the Project, or add an image pull secret.",
        ),
        ("inspect", "RefNotFound", "Check the repository's branch in the Project."),
        ("signal-1", "InvalidPath", f"Use {NEW}"),
        (
            "signal-1",
            "InvalidPattern",
            "Correct the pattern and apply the work anew, under another name.",
        ),
        ("pii_scan", "NoVerdict", "Change gates.pipeline of the Project for 'pii_scan'."),
        (
            "signal-0",
            "StartedLate",
            f"Check its command and the Project's toolchain.image, or use {NEW}",
        ),
        (
            "lint",
            "PodLost",
            "Find out what ends pods here; checks run again when the Project changes.",
        ),
    ],
)
def test_the_remedy_is_for_this_check_and_names_the_place(
    check: str, reason: str, remedy: str
) -> None:
    told = remedies.remedy("it could not run", check, EVERY, reason, PROJECT)

    assert told == remedy


@pytest.mark.parametrize(
    ("check", "where", "field"),
    [
        ("lint", "the Project's toolchain.image", "spec.toolchain.image"),
        ("signal-0", "the Project's toolchain.image", "spec.toolchain.image"),
        (
            "own",
            "the image of the gate 'own' in the Project",
            "spec.gates.pipeline[0].image",
        ),
    ],
)
@pytest.mark.parametrize(
    ("state", "reason"),
    [("ErrImagePull", "ImagePullFailed"), ("CreateContainerError", "ImageUnusable")],
)
def test_an_image_that_is_wrong_is_told_with_the_field_that_names_it(
    check: str, where: str, field: str, state: str, reason: str
) -> None:
    image = "own:1" if check == "own" else "t"
    stuck = waiting("check", state, "no such thing") | {"image": image}
    why = diagnosis.diagnose_waiting(job("j", pod(stuck, phase="Pending")), NOW)
    assert why is not None

    told = remedies.told(check, EVERY, why, PROJECT)
    remedy = remedies.remedy(told, check, EVERY, why.reason, PROJECT)

    assert f"could not run in {where}: {reason}: " in told
    assert f"image '{image}'" in told
    assert remedy.endswith(f": {field}.")


def test_the_image_of_our_own_programs_is_no_field_of_the_project() -> None:
    stuck = waiting("checkout", "ErrImagePull") | {"image": "bernstein:1"}
    why = diagnosis.diagnose_waiting(job("j", pod(stuck, phase="Pending")), NOW)
    assert why is not None

    told = remedies.told("lint", EVERY, why, PROJECT)

    assert "toolchain" not in told + remedies.remedy(told, "lint", EVERY, why.reason, PROJECT)
