"""Gates that only read a commit, on the repositories of their examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.api.pod import Check, CheckoutConfig, CheckVerdict, InspectConfig
from bernstein.checks import gates
from bernstein.pods.programs import checkout, inspect
from tests.programs.pods.conftest import Origin
from tests.unit.checks import examples
from tests.unit.checks.trees import Tree

pytestmark = pytest.mark.verification

REF, ONTO = "refs/bernstein/1/work/s1", "refs/bernstein/1/integration"


@pytest.mark.parametrize("name", gates.that_read())
def test_it_accepts_and_rejects(name: str, origin: Origin, tmp_path: Path) -> None:
    example = examples.of_gate(name)
    base = origin.commit({**example.accept.before})
    origin.commit({**example.meanwhile}, base, ref=ONTO)

    def verdict(change: Tree, folder: Path) -> CheckVerdict:
        origin.commit({**change.after}, base, ref=REF)
        git_dir = str(folder / "repo.git")
        wanted = CheckoutConfig(origin.remote(), REF, git_dir, also=(base, ONTO), history=True)
        sha = checkout.run(wanted).sha
        checks = (Check(name, name),)
        (found,) = inspect.run(InspectConfig(sha, base, checks, ONTO, git_dir=git_dir)).verdicts
        return found

    accepted = verdict(example.accept, tmp_path / "accept")
    rejected = verdict(example.reject, tmp_path / "reject")
    assert accepted.verdict == "Passed"
    assert (rejected.verdict, rejected.reason) == ("Failed", example.reason)
    assert example.told in rejected.excerpt
