"""An agent that says what it waits for: by a file of its tree, or with its last words."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bernstein.api import encoding, pod
from bernstein.api.pod import RecorderResult
from bernstein.core.sessions import blocked
from tests.background import wait_for
from tests.programs.pods.agent_pod import git, write_whole
from tests.programs.pods.programs.recorder.run import BASE, Run, line, wait_for_snapshots

DONE = line(type="result", text="All done.")


def says(**fields: object) -> str:
    return json.dumps(fields)


def ends(run: Run, contents: str | None = None, stream: str = DONE) -> RecorderResult:
    """The result of an agent that changes a file, and leaves these `contents` in the file."""
    run.start()
    files: dict[str, bytes | str] = {"b.py": "b = 1\n"}
    if contents is not None:
        files[blocked.PATH] = contents
    write_whole(run.volumes.worktree, files)
    run.say(stream)
    return run.end()


def committed(run: Run, result: RecorderResult) -> set[str]:
    listed = git(run.volumes.recorder / "repo.git", "ls-tree", "-r", "--name-only", result.sha)
    return set(listed.decode().split())


def test_the_file_says_what_it_waits_for_and_is_never_committed(run: Run) -> None:
    result = ends(run, says(text="the API", tasks=["api", "db"]))

    final = result.final
    assert (final.outcome, final.message, final.waits_for) == ("Blocked", "the API", ("api", "db"))
    assert final.text == "All done."
    assert committed(run, result) == {*BASE, "b.py"}
    assert result.changed.files == 1
    assert result.skipped == 0


def test_a_tree_with_nothing_else_is_the_base_itself(run: Run) -> None:
    run.start()
    write_whole(run.volumes.worktree, {blocked.PATH: says(text="the API")})
    wait_for_snapshots(run, 2)
    run.say(DONE)
    result = run.end()

    assert (result.final.outcome, result.sha) == ("Blocked", run.base)


def test_a_rule_of_the_repository_that_ignores_it_changes_nothing(run: Run) -> None:
    (run.volumes.worktree / ".gitignore").write_text(".bernstein/\n")

    assert ends(run, says(text="the API")).final.outcome == "Blocked"


def test_its_last_line_says_the_same_without_names(run: Run) -> None:
    stream = line(type="result", text="I looked.\nBLOCKED: a key for the sandbox")

    final = ends(run, stream=stream).final

    assert (final.outcome, final.message) == ("Blocked", "a key for the sandbox")
    assert final.waits_for == ()


def test_an_agent_that_fails_over_it_is_blocked_and_one_that_its_provider_refused_is_not(
    run: Run,
) -> None:
    stream = line(type="result", text="", error={"kind": "other", "message": "I give up"})
    assert ends(run, says(text="the API"), stream).final.outcome == "Blocked"


def test_what_its_provider_says_goes_first(run: Run) -> None:
    stream = line(type="result", text="", error={"kind": "rate_limit", "message": "slow down"})

    assert ends(run, says(text="the API"), stream).final.outcome == "RateLimited"


def test_who_was_stopped_is_not_blocked(run: Run) -> None:
    run.start(stall_seconds=0.2)
    write_whole(run.volumes.worktree, {blocked.PATH: says(text="the API")})
    wait_for(run.stop_file.exists)
    run.say(DONE)
    result = run.end()

    assert result.stopped == "Stalled"
    assert result.final.outcome == "Succeeded"


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(blocked.MOST_BYTES + 1)


def deep(path: Path) -> None:
    path.write_text('{"text": ' + "[" * 60_000)


def secret_fifo(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()
    (path / "x").write_text("x")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (link, "it is no regular file that can be read"),
        (secret_fifo, "it is no regular file that can be read"),
        (folder, "it is no regular file that can be read"),
        (huge, "it has more than 65536 bytes"),
        (deep, "it is no JSON in UTF-8"),
    ],
)
def test_what_is_hostile_is_refused_in_our_words(
    run: Run, make: Callable[[Path], None], why: str
) -> None:
    run.start()
    path = run.volumes.worktree / blocked.PATH
    path.parent.mkdir()
    make(path)
    run.say(DONE)
    result = run.end()

    assert result.final.outcome == "BlockRefused"
    assert result.final.message == f"what it left in {blocked.PATH} cannot be read: {why}"
    assert committed(run, result) == {*BASE}


def test_a_folder_that_is_a_link_leads_nowhere(run: Run, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write_whole(elsewhere, {"blocked.json": says(text="the API")})
    (run.volumes.worktree / ".bernstein").symlink_to(elsewhere)

    assert ends(run).final.outcome == "Succeeded"


def test_what_it_says_is_harmless_and_fits_into_the_message_of_the_pod(run: Run) -> None:
    text = "\x1b[31m\u202eevil\x00 token=ghp_" + "a" * 36 + " " + "\u20ac" * 30_000
    names = [f"{'x' * 39}{n}" for n in range(10)]

    result = ends(run, says(text=text[:5_000], tasks=names))

    assert result.final.outcome == "Blocked"
    assert result.final.waits_for == tuple(names)
    assert not {"\x1b", "\x00", "\u202e"} & {*result.final.message}
    assert "ghp_" not in result.final.message
    assert len(encoding.dump(result)) <= pod.TERMINATION_SHARE


def test_a_file_of_the_repository_itself_says_nothing_and_stays_as_it_is(run: Run) -> None:
    kept = {**BASE, blocked.PATH: says(text="an example")}
    shutil.rmtree(run.volumes.base_git_dir)
    run.base = run.volumes.start_from(kept)

    result = ends(run, says(text="the API"))

    assert result.final.outcome == "Succeeded"
    shown = git(run.volumes.recorder / "repo.git", "show", f"{result.sha}:{blocked.PATH}")
    assert shown.decode() == kept[blocked.PATH]
