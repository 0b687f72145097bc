"""How long it takes to set everything up is told before anybody begins."""

from __future__ import annotations

import re

from tests.unit.docs.pages import REFERENCE, ROOT


def test_the_readme_tells_the_12_to_16_minutes_of_a_first_set_up_on_2_cores() -> None:
    readme = (ROOT / "README.md").read_text()
    told = re.search(r"The first time this takes (\d+) to (\d+) minutes on (\d) cores", readme)

    assert told is not None
    assert [int(number) for number in told.groups()] == [12, 16, 2]
    assert readme.index(told[0]) < readme.index("`make demo` brings up"), "beside the commands"


def test_the_tutorial_promises_no_less() -> None:
    tutorial = (ROOT / "docs" / "tutorial" / "first-plan.md").read_text()

    assert "12 to 16 minutes of set-up the first time" in " ".join(tutorial.split())


def test_a_part_of_the_set_up_takes_no_longer_than_all_of_it_is_said_to() -> None:
    page = (REFERENCE / "performance.md").read_text()
    build = re.search(r"\| Build of Kubernetes.* \| (\d+) min / ", page)

    assert build is not None
    assert int(build[1]) < 12
