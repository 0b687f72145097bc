"""The gate that asks for known weaknesses, with pip-audit and a database on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from bernstein.api.pod import CheckVerdict
from bernstein.api.vocabulary import Severity
from bernstein.checks import gates
from bernstein.checks.gate import Command
from bernstein.controllers.jobs.check import database_ca
from bernstein.core.sanitise import quoted, without_quotes
from tests.demo import certificate
from tests.programs import osv
from tests.programs.gate_runs import verdict
from tests.unit.checks.trees import Tree

pytestmark = pytest.mark.verification

NOBODY = {"PIP_AUDIT_OSV_URL": "http://127.0.0.1:9/v1/query"}


def judged(
    tree: Tree, folder: Path, severity: Severity = "high", variables: Mapping[str, str] = {}
) -> CheckVerdict:
    command = gates.of("dep_audit").runs
    assert isinstance(command, Command)
    assert command.of_severity is not None
    return verdict(command.of_severity(severity), tree, folder, variables=variables)


LOCK = '[[package]]\nname = "Leaky"\nversion = "1.0"\n'
PINS = {
    "a list": {"requirements-dev.txt": "leaky[all] == 1.0 ; python_version > '3' # why\n"},
    "a list with hashes": {"requirements/base.txt": "leaky==1.0 \\\n    --hash=sha256:00\n"},
    "a lock file": {"services/uv.lock": LOCK},
    "a lock file of Pipenv": {"Pipfile.lock": '{"default": {"leaky": {"version": "==1.0"}}}'},
    "a project": {"pyproject.toml": '[project]\ndependencies = ["leaky==1.0"]\n'},
    "a project of before": {"setup.cfg": "[options]\ninstall_requires = leaky==1.0\n"},
    "an environment": {"environment.yml": "dependencies:\n  - pip:\n    - leaky==1.0\n"},
}


@pytest.mark.parametrize("how", PINS)
def test_a_weak_version_is_found_wherever_it_is_pinned(how: str, tmp_path: Path) -> None:
    found = judged(Tree(PINS[how]), tmp_path)

    (path,) = PINS[how]
    assert (found.verdict, found.reason) == ("Failed", "NewFindings")
    assert found.excerpt.endswith(f"leaky PYSEC-leak 1.0 of {path}: high, fixed in 2.0")


def test_a_list_of_any_name_counts_where_another_one_names_it(tmp_path: Path) -> None:
    tree = Tree({"requirements.txt": "-r ci/pins\n", "ci/pins": "leaky==1.0\n"})

    found = judged(tree, tmp_path)

    assert found.verdict == "Failed"
    assert "leaky PYSEC-leak 1.0 of ci/pins" in found.excerpt


def test_a_weakness_of_before_passes_in_another_version_and_another_file(tmp_path: Path) -> None:
    before = {"requirements.txt": "leaky==1.0\n"}

    found = judged(Tree({"requirements/all.txt": "leaky==1.1\n"}, before=before), tmp_path)

    assert (found.verdict, found.excerpt) == ("Passed", "1 finding was there before")


def test_how_severe_one_has_to_be_is_the_projects_to_say(tmp_path: Path) -> None:
    tree = Tree({"requirements.txt": "slow==1.0\n"})

    assert judged(tree, tmp_path / "high").verdict == "Passed"
    assert judged(tree, tmp_path / "low", "low").verdict == "Failed"


def test_one_whose_severity_nobody_tells_counts(tmp_path: Path) -> None:
    found = judged(Tree({"requirements.txt": "odd==1.0\n"}), tmp_path)

    assert "odd PYSEC-odd 1.0 of requirements.txt: unknown" in found.excerpt


def test_without_a_database_nothing_is_known_and_the_remedy_is_told(tmp_path: Path) -> None:
    found = judged(Tree({"requirements.txt": "leaky==2.0\n"}), tmp_path, variables=NOBODY)

    assert (found.verdict, found.reason) == ("Errored", "NetworkDenied")
    assert "network.checks" in without_quotes(found.excerpt)
    assert NOBODY["PIP_AUDIT_OSV_URL"] in quoted(found.excerpt)


def test_a_database_of_a_private_authority_is_asked_by_whoever_trusts_it(tmp_path: Path) -> None:
    issued = certificate.issue(["osv"])
    for name, text in {"tls.crt": issued.certificate, "tls.key": issued.key}.items():
        (tmp_path / name).write_text(text)
    (ca := tmp_path / "ca.crt").write_text(issued.ca)
    tree = Tree({"requirements.txt": "leaky==1.0\n"})

    with osv.serving(tmp_path) as url:
        asks = {"PIP_AUDIT_OSV_URL": url}
        trusting = judged(tree, tmp_path / "a", variables={**asks, **database_ca(str(ca))})
        other = judged(tree, tmp_path / "b", variables=asks)

    assert (trusting.verdict, trusting.reason) == ("Failed", "NewFindings")
    assert other.verdict == "Errored"
    assert "CERTIFICATE_VERIFY_FAILED" in other.excerpt


def test_without_pinned_versions_nobody_is_asked(tmp_path: Path) -> None:
    tree = Tree({"requirements.txt": "leaky>=1.0\n-r other.txt\n"})

    assert judged(tree, tmp_path, variables=NOBODY).verdict == "Passed"


def test_two_versions_of_one_package_are_both_looked_at(tmp_path: Path) -> None:
    tree = Tree({"a/requirements.txt": "leaky==2.0\n", "b/requirements.txt": "leaky==1.0\n"})

    assert judged(tree, tmp_path).verdict == "Failed"
