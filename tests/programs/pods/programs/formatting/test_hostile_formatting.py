"""Whatever runs as a formatter gains nothing: it changes the files of the work, or nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bernstein.api.programs.formatting import TOLD
from bernstein.pods.errors import PodError
from tests.programs.pods.conftest import Origin
from tests.programs.pods.programs.formatting.formatted import TO, UGLY, content, pod
from tests.unit.checks.content.test_secret_tokens import TOKENS

pytestmark = pytest.mark.verification

REFUSED = {
    "another file": "echo x >>keep",
    "a new file": "echo x >new.py",
    "a file that is gone": "rm a.py",
    "a link in its place": "ln -sf /etc/passwd a.py",
    "a link in the place of its folder": "mv d e && ln -s e d",
    "a program of it": "chmod +x a.py",
    "a workflow": "mkdir -p .github/workflows && echo x >.github/workflows/x.yml",
    "modules": "printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = -u./x\\n' >.gitmodules",
    "many": "for i in 1 2 3 4 5; do echo x >$i.py; done",
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_none_of_its_files_makes_the_work_be_judged_as_it_was(
    origin: Origin, tmp_path: Path, case: str
) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY, "d/b.py": UGLY})
    job.command = f"echo 'x = 1' >a.py; {REFUSED[case]}"

    result = job.run()

    assert (result.told.verdict, result.told.reason) == ("Failed", "FormatRefused")
    assert (result.sha, result.changed) == (job.work, None)
    assert origin.git("for-each-ref", TO) == ""


def test_a_secret_that_it_writes_stays_in_the_pod(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY})
    job.command = f"echo 'key = \"{TOKENS['Anthropic']}\"' >a.py"

    result = job.run()

    assert (result.told.verdict, result.told.reason) == ("Failed", "FormatRefused")
    assert "a.py:1 access token" in result.told.text
    assert (result.sha, result.changed) == (job.work, None)
    assert origin.git("for-each-ref", TO) == ""


def test_what_it_leaves_in_git_folders_is_never_run_and_never_kept(
    origin: Origin, tmp_path: Path
) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY})
    fired = tmp_path / "fired"
    job.command = (
        "echo 'x = 1' >a.py; git init -q .; "
        f"git config core.fsmonitor 'touch {fired}'; echo '* filter=x' >.git/info/attributes; "
        f"git config filter.x.clean 'touch {fired}; cat'; git status >/dev/null; true"
    )

    job.checkout()
    job.formatter()
    assert fired.exists(), "the payload does not work"
    fired.unlink()
    job.collect()
    result = job.format()

    assert not fired.exists()
    assert origin.git("ls-tree", "-r", "--name-only", result.sha).split() == ["a.py", "keep"]


def test_what_is_printed_is_bounded_and_harmless(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY})
    job.command = r"""yes 'é' | head -c 100000; printf '\033[31m\342\200\256red'; echo x=1 >a.py"""

    result = job.run()

    assert result.told.verdict == "Passed"
    assert "red" in result.told.text
    assert not {"\033", "\u202e"} & {*result.told.text}
    assert len(result.told.text) < 1000


def test_output_in_the_place_of_which_a_link_is_put_is_not_followed(
    origin: Origin, tmp_path: Path
) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY})
    secret = tmp_path / "secret"
    secret.write_text("hunter2")
    printed = tmp_path / "printed"
    job.command = f"ln -sf {secret} {printed}/output; echo 'x = 1' >a.py"

    assert "hunter2" not in job.run().told.text


def test_names_that_look_like_flags_or_lines_are_names(origin: Origin, tmp_path: Path) -> None:
    names = {
        "--config=x.py": UGLY,
        "two\nlines.py": UGLY,
        "$(touch fired).py": UGLY,
        "é '\".py": UGLY,
    }
    job = pod(origin, tmp_path, {}, dict(names))

    result = job.run()

    assert result.told.text.startswith("3 files formatted\n")
    assert content(origin, result.sha, "two\nlines.py") == UGLY
    assert content(origin, result.sha, "$(touch fired).py") != UGLY


def test_links_are_not_formatted_through(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path, {"old.py": UGLY}, {"l.py": "->old.py", "out.py": "->/etc/x.py"})

    result = job.run()

    assert (result.told.verdict, result.sha) == ("Passed", job.work)


def test_a_pack_that_is_not_one_commit_on_the_work_is_refused(
    origin: Origin, tmp_path: Path
) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY})

    def forge() -> None:
        record = tmp_path / "collected" / "packs" / "1.json"
        record.write_text(json.dumps(json.loads(record.read_text()) | {"tree": "0" * 40}))

    job.before_format = forge

    with pytest.raises(PodError) as refused:
        job.run()

    assert refused.value.reason == "InvalidPack"
    assert origin.git("for-each-ref", TO) == ""


def test_words_that_cannot_be_read_are_refused(origin: Origin, tmp_path: Path) -> None:
    job = pod(origin, tmp_path, {}, {"a.py": UGLY})
    told = tmp_path / "collected" / "packs" / TOLD

    def forge() -> None:
        told.write_text("[" * 5000)

    job.before_format = forge

    with pytest.raises(PodError) as refused:
        job.run()

    assert refused.value.reason == "InvalidPack"
