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


def test_what_the_set_up_took_is_reconciled_with_what_the_readme_says() -> None:
    page = (REFERENCE / "performance.md").read_text()
    took = re.search(
        r"\| Set-up with empty caches \(.*they took (\d+) s once\).* \| (\d+) min (\d+) s ", page
    )
    build = re.search(r"\| Build of Kubernetes.* \| (\d+) min / ", page)
    assert took is not None
    assert build is not None
    modules, minutes, seconds = map(int, took.groups())
    whole = 60 * minutes + seconds + modules

    text = " ".join(page.split())

    assert f"Set-up and Go's modules together make {_spoken(whole)}" in text
    assert f"needs twice that, {_spoken(2 * whole)}" in text
    assert 12 * 60 <= 2 * whole <= 16 * 60
    assert 60 * int(build[1]) + modules < whole, "a part takes no longer than all of it"
    assert "half of that on quick ones" in " ".join((ROOT / "README.md").read_text().split())


def _spoken(seconds: int) -> str:
    return f"{seconds // 60} min {seconds % 60} s"
