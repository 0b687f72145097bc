"""Checks that only read a commit, on real repositories."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bernstein.api import encoding, pod
from bernstein.api.pod import Check, CheckoutConfig, CheckVerdict, InspectConfig, InspectResult
from bernstein.checks.time_limit import time_limit
from bernstein.checks.weakening import counted_tests
from bernstein.pods.programs import checkout, inspect
from tests.programs.pods.conftest import Origin

pytestmark = pytest.mark.verification

AWS = "AKIA" + "Q3EGRIHBAJ6XVK2P"
REF = "refs/bernstein/01234567/task/s1"
ONTO = "refs/bernstein/01234567/integration"

Inspect = Callable[..., dict[str, CheckVerdict]]


@pytest.fixture
def run(origin: Origin, tmp_path: Path) -> Inspect:
    """Inspect the commit under REF against its base; verdicts by name."""

    def act(base: str, *checks: Check, onto: bool = False, **more: Any) -> dict[str, CheckVerdict]:
        git_dir = str(tmp_path / "repo.git")
        also = (base, ONTO) if onto else (base,)
        config = CheckoutConfig(origin.remote(), REF, git_dir, also=also, history=onto)
        sha = checkout.run(config).sha
        onto_ref = ONTO if onto else None
        result = inspect.run(InspectConfig(sha, base, checks, onto_ref, git_dir=git_dir, **more))
        return {verdict.name: verdict for verdict in result.verdicts}

    return act


def path(value: str) -> Check:
    return Check(value, "path_exists", path=value)


def contains(value: str, text: str, regex: bool = False) -> Check:
    return Check(value, "file_contains", path=value, contains=text, regex=regex)


def summary(verdicts: dict[str, CheckVerdict]) -> dict[str, str]:
    return {name: f"{v.verdict} {v.reason}".strip() for name, v in verdicts.items()}


def test_paths(origin: Origin, run: Inspect) -> None:
    base = origin.commit({"a": "1"})
    origin.commit(
        {"src/app.py": "x", "link": "->src", "dead": "->nowhere", "mod": "!" + "2" * 40},
        base,
        ref=REF,
    )
    wanted = {
        "src/app.py": "Passed",
        "./src": "Passed",
        "src/": "Passed",
        "src/app.py/": "Failed NotAFolder",
        "link": "Passed",
        "dead": "Passed",
        "mod": "Passed",
        "link/app.py": "Failed PathMissing",
        "absent": "Failed PathMissing",
        "../etc/passwd": "Errored InvalidPath",
        "/etc/passwd": "Errored InvalidPath",
        "": "Errored InvalidPath",
    }
    verdicts = run(base, *map(path, wanted))
    assert summary(verdicts) == wanted
    assert "link is a symlink" in verdicts["link/app.py"].excerpt


def scope(*files: str) -> Check:
    return Check(files[0], "file-scope", files=files)


def test_a_file_counts_by_what_the_commit_makes_of_its_path(origin: Origin, run: Inspect) -> None:
    base = origin.commit(
        {"src/a.py": "1", "docs/a.md": "1", "old/a.py": "1\n2\n3\n", "src/link": "->a.py"}
    )
    origin.commit(
        {
            "src/a.py": "2",
            "docs/a.md": None,
            "old/a.py": None,
            "new/a.py": "1\n2\n3\n",
            "src/link": "->../x",
            "sub": "!" + "2" * 40,
        },
        base,
        ref=REF,
    )

    assert "old/a.py" not in origin.git("diff", "--name-only", base, REF), "a rename hides it"
    verdicts = run(base, scope("src"), scope("src/**", "docs", "old", "new", "sub"), scope("**"))

    assert summary(verdicts) == {
        "src": "Failed ScopeViolation",
        "src/**": "Passed",
        "**": "Passed",
    }
    assert verdicts["src"].excerpt.split() == ["docs/a.md", "new/a.py", "old/a.py", "sub"]


def test_a_file_is_added_to_by_what_the_commit_makes_of_it(origin: Origin, run: Inspect) -> None:
    there = "one\n"
    base = origin.commit(
        {f"news/{name}": there for name in ("added", "cut", "gone", "mode", "link")}
    )
    origin.commit(
        {
            "news/added": "one\ntwo\n",
            "news/new": "+x two\n",
            "news/cut": "two\n",
            "news/gone": None,
            "news/renamed": there,
            "news/mode": "+x one\ntwo\n",
            "news/link": "->added",
            "news/new-link": "->added",
            "news/sub": "!" + "2" * 40,
        },
        base,
        ref=REF,
    )

    verdict = run(base, Check("s", "file-scope", files=("**",), append_only=("news",)))["s"]

    assert (verdict.verdict, verdict.reason) == ("Failed", "ScopeViolation")
    assert verdict.excerpt.splitlines() == [
        f"news/{name}: only adding to it is allowed"
        for name in ("cut", "gone", "link", "mode", "new-link", "sub")
    ]


def test_attributes_in_the_tree_hide_no_file(origin: Origin, run: Inspect) -> None:
    base = origin.commit({".gitattributes": "* -diff linguist-generated export-ignore\n"})
    origin.commit({".gitattributes": "* -diff\n", "docs/a.md": "\0"}, base, ref=REF)

    assert run(base, scope(".gitattributes"))[".gitattributes"].excerpt == "docs/a.md"


TESTED = "def test_a():\n    assert a()\n    assert b()\n"
PROTECTED = Check("tests", "protect-tests")


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ({"tests/test_a.py": TESTED}, "Passed"),
        ({"tests/test_a.py": None, "tests/unit/test_a.py": TESTED}, "Passed"),
        ({"tests/test_a.py": TESTED.replace("    assert b()\n", "")}, "Failed TestsWeakened"),
        ({"tests/test_a.py": "->../src/a.py"}, "Failed TestsWeakened"),
        ({"tests/test_a.py": None, "src/a.py": TESTED}, "Failed TestsWeakened"),
        ({"tests/test_a.py": TESTED + "#" * 17_000_000}, "Failed TooLarge"),
    ],
    ids=["same", "moved", "weaker", "a symlink", "gone", "too large"],
)
def test_tests_that_were_there_are_looked_at_as_they_were(
    origin: Origin, run: Inspect, after: dict[str, str | None], told: str
) -> None:
    base = origin.commit({"tests/test_a.py": TESTED})
    origin.commit({"more.py": "x", **after}, base, ref=REF)

    assert summary(run(base, PROTECTED)) == {"tests": told}


HARD = {
    "blanks": " " * 400_000 + "def test_x",
    "open strings": "'''" * 100_000,
    "open comments": "/* " * 200_000,
    "brackets": "assert ((((((" * 50_000,
    "decorators": "@x\n" * 200_000,
    "annotations": "@Test " * 60_000,
    "dots": "expect.a" * 50_000,
}


@pytest.mark.parametrize("text", HARD.values(), ids=HARD)
def test_a_file_of_tests_that_is_hard_to_read_is_read_to_its_end(
    origin: Origin, run: Inspect, text: str
) -> None:
    files = {f"tests/test_{suffix}.{suffix}": text for suffix in ("py", "ts", "rs", "java")}
    base = origin.commit({"tests/test_a.py": TESTED, **files})
    after = {path: text + "\n" for path, text in files.items()}
    origin.commit({"tests/test_a.py": "", **after}, base, ref=REF)

    with time_limit(60):
        verdicts = run(base, PROTECTED)

    assert summary(verdicts) == {"tests": "Failed TestsWeakened"}
    assert verdicts["tests"].excerpt.startswith("tests/test_a.py")


@pytest.mark.parametrize(
    ("how", "suffix", "of", "bound", "without"),
    [
        ("decorators", ".py", "test", "{0,30}+", "*"),
        ("annotations", ".java", "test", "{0,300}?", "*?"),
        ("open comments", ".ts", "words", r"(?:\*/|\Z)", r"\*/"),
    ],
)
def test_such_a_file_takes_for_ever_where_a_pattern_looks_on_without_a_bound(
    origin: Origin,
    run: Inspect,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
    suffix: str,
    of: str,
    bound: str,
    without: str,
) -> None:
    path = f"tests/test_a{suffix}"
    base = origin.commit({path: HARD[how]})
    origin.commit({path: HARD[how] + "\n"}, base, ref=REF)

    with monkeypatch.context() as taken:
        language = counted_tests._LANGUAGES[suffix]
        pattern: re.Pattern[str] = getattr(language, of)
        assert bound in pattern.pattern
        careless = re.compile(pattern.pattern.replace(bound, without), pattern.flags)
        looser: dict[str, Any] = {of: careless}
        taken.setitem(counted_tests._LANGUAGES, suffix, replace(language, **looser))
        assert summary(run(base, PROTECTED, scan_seconds=3)) == {"tests": "Errored TooSlow"}

    assert summary(run(base, PROTECTED)) == {"tests": "Passed"}


def test_contents_never_follow_a_symlink(origin: Origin, run: Inspect) -> None:
    base = origin.commit({"a": "1"})
    origin.commit(
        {
            "app.py": "limiter = RateLimiter()\n",
            "passwd": "->/etc/passwd",
            "etc": "->/etc",
            "folder/x": "1",
        },
        base,
        ref=REF,
    )
    verdicts = run(
        base,
        contains("app.py", "RateLimiter"),
        contains("./app.py", "Rate.*\\(\\)$", regex=True),
        contains("passwd", "root"),
        contains("etc/passwd", "root"),
        contains("folder", "x"),
        contains("absent", "x"),
    )
    assert summary(verdicts) == {
        "app.py": "Passed",
        "./app.py": "Passed",
        "passwd": "Failed NotAFile",
        "etc/passwd": "Failed PathMissing",
        "folder": "Failed NotAFile",
        "absent": "Failed PathMissing",
    }
    assert "root" in Path("/etc/passwd").read_text(), "following it would have passed"


def test_a_symlink_whose_target_is_the_wanted_text_does_not_pass(
    origin: Origin, run: Inspect
) -> None:
    base = origin.commit({"a": "1"})
    origin.commit({"app.py": "->class RateLimiter"}, base, ref=REF)
    assert summary(run(base, contains("app.py", "class RateLimiter"))) == {
        "app.py": "Failed NotAFile"
    }


def test_globs_match_the_trees_listing(origin: Origin, run: Inspect) -> None:
    base = origin.commit({"a": "1"})
    origin.commit({"tests/unit/test_limit.py": "x", "link": "->/etc"}, base, ref=REF)
    patterns = {"tests/**/test_*.py": "Passed", "link/*": "Failed NoMatch", "/*": "Errored"}
    verdicts = run(base, *(Check(p, "glob_exists", value=p) for p in patterns))
    assert {name: verdicts[name].verdict for name in patterns} == {
        name: value.split()[0] for name, value in patterns.items()
    }


def test_the_secret_scan_reads_added_content_only(origin: Origin, run: Inspect) -> None:
    base = origin.commit({"old.py": f"key = '{AWS}'\n", "gone.py": AWS, "mode.sh": AWS})
    changes: dict[str, bytes | str | None] = {
        "old.py": f"# more\nkey = '{AWS}'\n",
        "gone.py": None,
        "mode.sh": f"+x {AWS}",
        "mod": "!" + "2" * 40,
    }
    origin.commit(changes, base, ref=REF)
    assert summary(run(base, Check("scan", "pii_scan"))) == {"scan": "Passed"}
    origin.commit(changes | {"link": f"->{AWS}"}, base, ref=REF)
    assert summary(run(base, Check("scan", "pii_scan"))) == {"scan": "Failed SecretFound"}


def test_a_configuration_that_no_tool_can_read_fails_the_work_that_leaves_it(
    origin: Origin, run: Inspect
) -> None:
    check = Check("lint_suppression", "lint_suppression")
    base = origin.commit({"pyproject.toml": "[tool.ruff]\n", "old/ruff.toml": "["})
    left = origin.commit({"pyproject.toml": "[tool.ruff\n", "web/x.json": "{"}, base, ref=REF)
    (verdict,) = run(base, check).values()
    assert (verdict.verdict, verdict.reason) == ("Failed", "ConfigurationBroken")
    told = "pyproject.toml configures checks, and it is no TOML (at line 1)"
    assert verdict.excerpt.splitlines()[:-1] == [told]

    others: dict[str, bytes | str | None] = {"app.py": "A = 1\n"}
    others |= {"old/ruff.toml": "[ ", "link/ruff.toml": "->["}
    origin.commit(others, left, ref=REF)
    assert summary(run(left, check)) == {"lint_suppression": "Passed"}, "it was so before"


def test_a_scan_that_takes_too_long_hides_no_other_check(
    origin: Origin, run: Inspect, tmp_path: Path
) -> None:
    base = origin.commit({"a": "1"})
    line = "token 4111-1111-1111-111 "
    sha = origin.commit({"b": "\n".join(f"{line}{i}" for i in range(300_000))}, base, ref=REF)
    run(base)
    checks = (Check("scan", "pii_scan"), path("b"))
    config = InspectConfig(sha, base, checks, git_dir=str(tmp_path / "repo.git"), scan_seconds=1)
    verdicts = {verdict.name: verdict for verdict in inspect.run(config).verdicts}
    assert summary(verdicts) == {"scan": "Errored TooSlow", "b": "Passed"}


def test_conflicts_with_the_base_tip(origin: Origin, run: Inspect) -> None:
    base = origin.commit({"a": "1\n", ".gitattributes": "* merge=union\n"})
    origin.commit({"a": "2\n"}, base, ref=REF)
    check = Check("merge", "merge_conflict")
    origin.commit({"b": "3\n"}, base, ref=ONTO)
    assert summary(run(base, check, onto=True)) == {"merge": "Passed"}
    origin.commit({"a": "3\n"}, base, ref=ONTO)
    verdict = run(base, check, onto=True)["merge"]
    assert (verdict.verdict, verdict.reason) == ("Failed", "Conflict")
    assert verdict.excerpt.endswith("\na")
    assert summary(run(base, check)) == {"merge": "Errored InvalidConfig"}


def test_what_cannot_be_read_is_errored_and_hides_no_other(
    origin: Origin, run: Inspect, tmp_path: Path
) -> None:
    base = origin.commit({"a": "1"})
    sha = origin.commit({"b": "2"}, base, ref=REF)
    checks = (path("b"), Check("scan", "pii_scan"), Check("new", "no_such_check"))
    assert summary(run(base, *checks)) == {
        "b": "Passed",
        "scan": "Passed",
        "new": "Errored InvalidConfig",
    }
    unknown = InspectConfig(sha, "3" * 40, checks, git_dir=str(tmp_path / "repo.git"))
    verdicts = {v.name: v.verdict for v in inspect.run(unknown).verdicts}
    assert verdicts == {"b": "Passed", "scan": "Errored", "new": "Errored"}
    empty = InspectConfig(sha, base, checks, git_dir=str(tmp_path / "absent.git"))
    assert {v.verdict for v in inspect.run(empty).verdicts} == {"Errored"}


def test_every_verdict_fits_and_the_longest_excerpts_are_cut() -> None:
    verdicts = tuple(CheckVerdict(f"check-{i}", "Failed", "X", "é" * 1000) for i in range(20))
    short = CheckVerdict("short", "Failed", "X", "kept whole")
    fitted = inspect.fit(InspectResult((*verdicts, short)), pod.TERMINATION_LIMIT)
    assert len(encoding.dump(fitted)) <= pod.TERMINATION_LIMIT
    assert [v.name for v in fitted.verdicts] == [v.name for v in (*verdicts, short)]
    assert fitted.verdicts[-1] == short
    assert len({len(v.excerpt) for v in fitted.verdicts[:-1]}) == 1
    assert fitted.verdicts[0].excerpt.endswith("…")


DLP = Check("dlp_scan", "dlp_scan")
UNDER_GPL = {"a.py": "# SPDX-License-Identifier: GPL-3.0-only\n"}
GPL = {"LICENSES/GPL-3.0-only.txt": "GNU GENERAL PUBLIC LICENSE\n"}


@pytest.mark.parametrize(
    ("pinned", "landed", "expected"),
    [
        (GPL, {"b": "1"}, "Passed"),
        ({"LICENSE": "GNU GENERAL PUBLIC LICENSE\n"}, {"b": "1"}, "Passed"),
        ({"a": "1"}, GPL, "Failed RestrictedContent"),
        ({"x": "GNU GENERAL PUBLIC LICENSE\n", "LICENSE": "->x"}, {"b": "1"}, "Failed Restr"),
    ],
)
def test_the_repositorys_licence_is_that_of_the_pinned_commit(
    origin: Origin, tmp_path: Path, pinned: dict[str, str], landed: dict[str, str], expected: str
) -> None:
    start = origin.commit({**pinned})
    base = origin.commit({**landed}, start)
    origin.commit({**UNDER_GPL}, base, ref=REF)
    git_dir = str(tmp_path / "repo.git")
    sha = checkout.run(CheckoutConfig(origin.remote(), REF, git_dir, also=(base, start))).sha

    result = inspect.run(InspectConfig(sha, base, (DLP,), git_dir=git_dir, pinned=start))

    assert summary({v.name: v for v in result.verdicts})["dlp_scan"].startswith(expected)


def test_a_deleted_way_back_of_a_migration_is_seen(origin: Origin, run: Inspect) -> None:
    gate = "migration_reversibility"
    base = origin.commit({"db/1.up.sql": "CREATE TABLE t;", "db/1.down.sql": "DROP TABLE t;"})
    origin.commit({"db/1.down.sql": None}, base, ref=REF)

    found = run(base, Check(gate, gate))[gate]

    assert (found.reason, found.excerpt) == (
        "NotReversible",
        "db/1.up.sql has no 1.down.sql beside it",
    )


GPL_FILE = "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n"


@pytest.mark.parametrize("licence", ["LICENSE", "COPYING"])
def test_no_licence_of_the_work_brings_code_past_the_scan(
    origin: Origin, tmp_path: Path, licence: str
) -> None:
    start = origin.commit({"LICENSE": "MIT License\n"})
    sha = origin.commit({**UNDER_GPL, licence: GPL_FILE}, start, ref=REF)
    git_dir = str(tmp_path / "repo.git")
    checkout.run(CheckoutConfig(origin.remote(), REF, git_dir, also=(start,)))

    def verdict(pinned: str) -> str:
        config = InspectConfig(sha, start, (DLP,), git_dir=git_dir, pinned=pinned)
        return inspect.run(config).verdicts[0].verdict

    assert verdict(pinned=sha) == "Passed", "where the licence of the work itself counts"
    assert verdict(pinned=start) == "Failed"


def test_a_link_to_a_binding_licence_brings_no_code_past_the_scan(
    origin: Origin, tmp_path: Path
) -> None:
    start = origin.commit({"LICENSE": "MIT License\n", "vendor/GPL": GPL_FILE})
    sha = origin.commit({**UNDER_GPL, "COPYING": "->vendor/GPL"}, start, ref=REF)
    git_dir = str(tmp_path / "repo.git")
    checkout.run(CheckoutConfig(origin.remote(), REF, git_dir, also=(start,)))

    for pinned in (sha, start):
        config = InspectConfig(sha, start, (DLP,), git_dir=git_dir, pinned=pinned)
        assert inspect.run(config).verdicts[0].verdict == "Failed"
