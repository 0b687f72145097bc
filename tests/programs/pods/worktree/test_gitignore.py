"""Ignore rules, compared with git's own answers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bernstein.pods.worktree.gitignore import Rules
from tests.programs.pods.git_server import plain_env

PIECES = ["a", "b", "*", "?", "[ab]", "[!a]", "[^b]", "\\a", "\\*", ".", "[a-c]", "[[:alpha:]]"]
PIECES += ["[]a]", "[", "-", "[\\]]", "[a-]", "[]-a]", "[[:x:]]", "[:a]", "[[:a]", "c", " ", "\\ "]
PIECES += ["[a/]", "\\"]
NAMES = ["a", "b", "ab", "a.b", ".a", "abc", "-", "a b", "!a", "#", "a]", "^", "\\a", "A1", "*"]

component = st.just("**") | st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join)
pattern = st.builds(
    lambda negate, root, parts, folder, spaces: negate + root + "/".join(parts) + folder + spaces,
    st.sampled_from(["", "", "!"]),
    st.sampled_from(["", "", "/", "#"]),
    st.lists(component, min_size=1, max_size=4),
    st.sampled_from(["", "", "/"]),
    st.sampled_from(["", "", "  "]),
)
path = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ignoring")
    subprocess.run(["git", "init", "-q", str(folder)], check=True, env=plain_env())
    return folder


@example(
    patterns=["**", "!a**/b", "!/b/a**", "!.a**/**/"],
    paths=["ab", "a/b", "a/b/b", "a.b/b", "b", "b/a", "b/ab/a", "b/ba", "ba", ".a", ".a/b"],
    end="\n",
)
@given(
    patterns=st.lists(pattern, min_size=1, max_size=4),
    paths=st.lists(path, min_size=20, max_size=40, unique=True),
    end=st.sampled_from(["", "\n", "\r\n"]),
)
def test_every_answer_is_gits(
    repository: Path, patterns: list[str], paths: list[str], end: str
) -> None:
    data = ("\n".join(patterns) + end).encode()
    (repository / ".gitignore").write_bytes(data)
    rules = Rules(data)
    assert {p: _ignored(rules, p) for p in paths} == _as_git_says(repository, paths)


def _ignored(rules: Rules, path: str) -> bool:
    """As a walk does it: nothing below an ignored folder is looked at."""
    parts = path.encode().split(b"/")
    above = (rules.verdict(parts[:i], directory=True) for i in range(1, len(parts)))
    return any(above) or rules.verdict(parts, directory=False) is True


def _as_git_says(repository: Path, paths: list[str]) -> dict[str, bool]:
    done = subprocess.run(
        ["git", "check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"],
        cwd=repository,
        env=plain_env(),
        input="\0".join(paths).encode(),
        capture_output=True,
        check=False,
    )
    fields = done.stdout.split(b"\0")[:-1]
    answers = zip(fields[0::4], fields[2::4], fields[3::4], strict=True)
    return {
        p.decode(): bool(source) and not matched.startswith(b"!") for source, matched, p in answers
    }
