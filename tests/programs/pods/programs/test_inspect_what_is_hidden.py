"""What plain git does not show, or shows of other places, before checks that only read a commit."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from bernstein.api.pod import Check
from tests.programs.pods.agent_pod import git
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.test_inspect import AWS, REF, Inspect, contains, run, summary

pytestmark = pytest.mark.verification

__all__ = ("run",)

PLANTED = f"a = 1\nkey = '{AWS}'\n"
BLINDS: dict[str, dict[str, bytes | str | None]] = {
    "no difference": {".gitattributes": "* -diff\n", "app.py": PLANTED},
    "binary": {".gitattributes": "* binary\n", "app.py": PLANTED},
    "our own words mean something else": {
        ".gitattributes": "[attr]merge -diff\n* merge\n",
        "app.py": PLANTED,
    },
    "another encoding": {
        ".gitattributes": "*.py working-tree-encoding=UTF-16\n",
        "app.py": PLANTED,
    },
    "generated": {".gitattributes": "* linguist-generated\n", "app.py": PLANTED},
    "bytes of no text": {"app.py": f"\0{PLANTED}\0"},
}


def shown(origin: Origin, folder: Path, base: str) -> bool:
    """Whether who reads the change with plain git in a checkout sees the key, in the difference of
    what is not generated and in the file."""
    tree = folder / "tree"
    git(folder, "clone", "-q", str(origin.path), str(tree))
    git(tree, "fetch", "-q", "origin", REF)
    git(tree, "checkout", "-q", "FETCH_HEAD")
    diff = git(tree, "diff", base, "HEAD", "--", ".", ":(exclude,attr:linguist-generated)")
    return AWS.encode() in diff and AWS.encode() in (tree / "app.py").read_bytes()


def test_a_key_that_nobody_hides_is_shown_by_plain_git(origin: Origin, tmp_path: Path) -> None:
    base = origin.commit({"app.py": "a = 1\n"}, ref="refs/heads/main")
    origin.commit({"app.py": PLANTED}, base, ref=REF)

    assert shown(origin, tmp_path, base)


@pytest.mark.parametrize("files", BLINDS.values(), ids=BLINDS)
def test_what_blinds_plain_git_does_not_blind_the_secret_scan(
    origin: Origin, run: Inspect, files: dict[str, bytes | str | None], tmp_path: Path
) -> None:
    base = origin.commit({"app.py": "a = 1\n"}, ref="refs/heads/main")
    origin.commit(files, base, ref=REF)
    assert not shown(origin, tmp_path, base)

    verdict = run(base, Check("pii_scan", "pii_scan"))["pii_scan"]

    assert (verdict.verdict, verdict.reason) == ("Failed", "SecretFound")
    assert verdict.excerpt.startswith("app.py:2 AWS Access Key")
    assert AWS not in json.dumps(verdict.excerpt)


def test_a_link_to_a_token_a_key_or_proc_is_read_only_by_who_follows_it(
    origin: Origin, run: Inspect, tmp_path: Path
) -> None:
    for name in ("token", "key"):
        (tmp_path / name).write_text(f"the {name}\n")
    wanted = {"token": "the token", "key": "the key", "environ": "PATH="}
    places = {"token": tmp_path / "token", "key": tmp_path / "key", "environ": "/proc/self/environ"}
    base = origin.commit({"a": "1"})
    origin.commit({name: f"->{place}" for name, place in places.items()}, base, ref=REF)
    tree = tmp_path / "tree"
    tree.mkdir()
    origin.git("--work-tree", str(tree), "checkout", "-f", REF, "--", ".")
    searched = ("grep", "-q", "-a")
    followed = [
        subprocess.run([*searched, text, name], cwd=tree, check=False).returncode
        for name, text in wanted.items()
    ]
    assert followed == [0, 0, 0], "a search in a checkout finds what is there"

    verdicts = run(base, *(contains(name, text) for name, text in wanted.items()))

    assert summary(verdicts) == dict.fromkeys(wanted, "Failed NotAFile")
    assert not [v for v in verdicts.values() if "the " + v.name in v.excerpt]
