"""The files that the work has changed are formatted, and become one commit of ours on its base."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bernstein.api.pod import TreeLimits
from bernstein.checks import gates
from bernstein.core.sanitise import quoted, without_quotes
from bernstein.pods.errors import PodError
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.formatting.formatted import (
    NICE,
    REF,
    TO,
    UGLY,
    Content,
    Pod,
    content,
    pod,
)
from tests.unit.checks import examples

pytestmark = pytest.mark.verification

NO_REF = ""


def first(text: str) -> str:
    return text.partition("\n")[0]


def at(origin: Origin, ref: str) -> str:
    return origin.git("for-each-ref", "--format=%(objectname)", ref)


def test_only_what_the_work_changed_is_formatted(origin: Origin, tmp_path: Path) -> None:
    job = pod(
        origin, tmp_path, {"old.py": UGLY, "gone.py": "1\n"}, {"a b.py": UGLY, "gone.py": None}
    )

    result = job.run()

    assert (result.told.verdict, first(result.told.text)) == ("Passed", "1 file formatted")
    assert at(origin, TO) == result.sha
    assert content(origin, result.sha, "a b.py") == NICE
    assert content(origin, result.sha, "old.py") == UGLY
    assert at(origin, REF) == job.work, "what the session left stays"


def test_what_may_only_be_added_to_is_left_as_it_is_but_for_new_files(
    origin: Origin, tmp_path: Path
) -> None:
    work: dict[str, Content] = {"log.py": UGLY + UGLY, "log/new.py": UGLY, "own.py": UGLY}
    job = pod(origin, tmp_path, {"log.py": UGLY}, work)

    result = replace(job, only_new=("log.py", "log/**")).run()

    assert first(result.told.text) == "2 files formatted"
    assert content(origin, result.sha, "log.py") == UGLY + UGLY
    assert [content(origin, result.sha, path) for path in ("log/new.py", "own.py")] == [NICE, NICE]


@pytest.mark.parametrize("name", gates.that_format())
def test_of_its_examples_one_is_formatted_and_one_is_left_as_it_is(
    name: str, origin: Origin, tmp_path: Path
) -> None:
    example = examples.of_gate(name)

    formatted = pod(origin, tmp_path / "accept", {}, {**example.accept.after}).run()
    left = pod(origin, tmp_path / "reject", {}, {**example.reject.after}).run()

    assert (formatted.told.verdict, formatted.changed is None) == ("Passed", False)
    assert (left.told.verdict, left.told.reason) == ("Failed", example.reason)
    assert example.told in left.told.text
    assert left.changed is None


def test_the_commit_is_ours_and_stands_on_the_base_of_the_work(
    origin: Origin, tmp_path: Path
) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY, ".github/x.py": UGLY})

    result = job.run()

    shown = origin.git("show", "-s", "--format=%P %T %an <%ae> %B", result.sha)
    ours = "Bernstein <bernstein@bernstein.dev>"
    assert shown.strip() == f"{job.base} {result.tree} {ours} Do work\n\nBernstein-Task: a/b"
    assert result.changed is not None
    assert (result.changed.files, result.changed.python) == (2, True)
    assert result.changed.protected == ".github/x.py"


def test_what_is_formatted_already_is_judged_as_it_is(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": NICE})

    result = job.run()

    assert (result.told.verdict, result.sha, result.changed) == ("Passed", job.work, None)
    assert at(origin, TO) == NO_REF


def test_the_same_work_becomes_the_same_commit_once_more(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path / "one", {}, {"a.py": UGLY})
    once = job.run()
    job.folder = tmp_path / "two"

    assert job.run() == once


def test_what_lies_at_its_ref_already_counts_for_nothing(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY})
    origin.git("update-ref", TO, job.base)

    result = job.run()

    assert at(origin, TO) == result.sha != job.base


def test_a_formatter_that_the_image_lacks_is_passed_over_and_told(
    origin: Origin, tmp_path: Path
) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY, "b.ts": "let  a\n", "c.md": "*  c\n"})

    result = job.run()

    assert result.told.verdict == "Passed"
    assert "1 file formatted" in result.told.text
    assert "no prettier in the image: 2 passed over" in result.told.text


RUSTFMT = """\
#!/bin/sh
[ "$*" = "--edition 2021" ] || exit 2
text=$(cat)
case $text in *"(:"*) exit 1;; esac
echo "$text" | tr -s ' '
"""
"""In place of the real one, which no image of ours has, and which would format all modules of a
file that it opens itself."""


def of_rust(origin: Origin, folder: Path, work: dict[str, Content]) -> Pod:
    """Where the image has a formatter of Rust, and the branch a module that is not formatted."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    (programs / "rustfmt").write_text(RUSTFMT)
    (programs / "rustfmt").chmod(0o755)
    job = pod(origin, folder, {"b.rs": "pub fn  f() {}\n"}, work)
    return replace(job, command=f'PATH="{programs}:$PATH"\n{job.command}')


def test_files_of_rust_are_formatted_without_the_modules_that_they_name(
    origin: Origin, tmp_path: Path
) -> None:
    result = of_rust(origin, tmp_path, {"a.rs": "mod b;\nfn  g() {}\n"}).run()

    assert first(result.told.text) == "1 file formatted"
    assert content(origin, result.sha, "a.rs") == "mod b;\nfn g() {}\n"


def test_a_file_of_rust_that_cannot_be_read_is_not_emptied(origin: Origin, tmp_path: Path) -> None:
    job = of_rust(origin, tmp_path, {"a.rs": "fn (:\n"})

    result = job.run()

    assert (result.told.verdict, result.told.reason) == ("Failed", "ExitCode")
    assert (job.workspace / "a.rs").read_text() == "fn (:\n"
    assert result.sha == job.work


def test_a_file_that_cannot_be_read_leaves_the_work_as_it_was(
    origin: Origin, tmp_path: Path
) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY, "b.py": "def (:\n"})

    result = job.run()

    assert (result.told.verdict, result.told.reason) == ("Failed", "ExitCode")
    assert "b.py" in result.told.text
    assert (result.sha, at(origin, TO)) == (job.work, NO_REF)


def test_the_projects_own_command_gets_the_list(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path, {"b.txt": "b\n"}, {"a.txt": "a\n", "b.txt": "c\n"})
    job.command = 'while read f; do echo "formatted" >"$f"; done <"$CHANGED"'

    result = job.run()

    assert content(origin, result.sha, "a.txt") == content(origin, result.sha, "b.txt")


def test_a_command_that_is_not_there_is_told(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY})
    job.command = "no-such-formatter"

    result = job.run()

    assert (result.told.verdict, result.told.reason) == ("Errored", "ToolMissing")


def test_what_is_printed_where_nothing_could_run_is_quoted(origin: Origin, tmp_path: Path) -> None:
    """Conditions tell why, and leave out what is quoted."""
    job = pod(origin, tmp_path, {}, {"a.py": UGLY})
    job.command = "cat a.py; exit 127"

    told = job.run().told

    assert UGLY.strip() in quoted(told.text)
    assert without_quotes(told.text) == "the command was not found"


def test_settings_come_from_the_pinned_commit(origin: Origin, tmp_path: Path) -> None:
    lax, long = "[format]\nquote-style = 'single'\n", f"x = [{'1234567, ' * 9}1]\n"
    job = pod(
        origin,
        tmp_path,
        {"ruff.toml": "line-length = 40\n"},
        {"ruff.toml": lax, "sub/pyproject.toml": f"[tool.ruff]\n{lax}", "a.py": f"y = 'a'\n{long}"},
    )
    own = replace(job, folder=tmp_path / "own", pinned=job.work).run()
    assert "y = 'a'" in content(origin, own.sha, "a.py"), "the payload does not work"
    origin.git("update-ref", "-d", TO)

    result = job.run()

    formatted = content(origin, result.sha, "a.py")
    assert 'y = "a"' in formatted
    assert max(map(len, formatted.splitlines())) <= 40
    assert content(origin, result.sha, "ruff.toml") == lax, "the work's settings are its to change"
    assert first(result.told.text) == "1 file formatted"


def test_work_of_which_nothing_is_left_stays_as_it_was(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path, {"a.py": NICE}, {"a.py": UGLY})

    result = job.run()

    assert (result.told.verdict, result.told.reason) == ("Failed", "FormatRefused")
    assert (result.sha, at(origin, TO)) == (job.work, NO_REF)


def test_a_push_that_is_refused_is_told(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY})
    origin.git("config", "receive.denyUpdates", "x")
    hook = origin.path / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)

    with pytest.raises(PodError) as refused:
        job.run()

    assert refused.value.reason == "BranchProtected"
    assert at(origin, TO) == NO_REF


def test_a_formatter_may_not_blow_files_up(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY})
    job.command, job.limits = "head -c 3000 /dev/zero >>a.py", TreeLimits(file_bytes=2000)

    with pytest.raises(PodError) as refused:
        job.run()

    assert refused.value.reason == "SnapshotTooLarge"
    assert at(origin, TO) == NO_REF
