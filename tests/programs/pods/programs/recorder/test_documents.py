"""What an agent leaves beside its code: taken as a file, judged, printed, and never committed."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bernstein.api import encoding, pod
from bernstein.api.pod import LeftDocument, RecorderResult
from bernstein.core.documents import MOST_BYTES, OUTPUT, handed
from bernstein.core.sessions import blocked
from bernstein.pods.worktree.walker import Walker
from tests.background import wait_for
from tests.programs.pods.agent_pod import git, write_whole
from tests.programs.pods.programs.recorder.run import BASE, Run, line

DONE = line(type="result", text="All done.")
VALUES = b'{"tests": {"run": 12, "failed": 0}}'
Printed = pytest.CaptureFixture[str]


def of(document: bytes) -> LeftDocument:
    return LeftDocument(OUTPUT.name, len(document), handed.digest(document))


def ends(run: Run, document: bytes | None = VALUES, stream: str = DONE) -> RecorderResult:
    """The result of an agent that changes a file, and leaves this document."""
    run.start()
    files: dict[str, bytes | str] = {"b.py": "b = 1\n"}
    if document is not None:
        files[OUTPUT.path] = document
    write_whole(run.volumes.worktree, files)
    run.say(stream)
    return run.end()


def committed(run: Run, result: RecorderResult) -> set[str]:
    listed = git(run.volumes.recorder / "repo.git", "ls-tree", "-r", "--name-only", result.sha)
    return set(listed.decode().split())


def handed_over(printed: Printed, document: bytes) -> bytes | None:
    log = printed.readouterr().out.encode()
    return handed.found(log, OUTPUT.name, len(document), handed.digest(document))


def refused(result: RecorderResult, why: str) -> bool:
    told = result.final
    assert result.documents == ()
    return (told.outcome, told.message) == (
        "DocumentRefused",
        f"{OUTPUT.path} is not taken: {why}",
    )


def test_it_is_printed_under_the_digest_of_the_result_and_never_committed(
    run: Run, capfd: Printed
) -> None:
    result = ends(run)

    assert result.final.outcome == "Succeeded"
    assert result.documents == (of(VALUES),)
    assert committed(run, result) == {*BASE, "b.py"}
    assert (result.changed.files, result.skipped) == (1, 0)
    assert handed_over(capfd, VALUES) == VALUES


def test_one_in_a_folder_that_nobody_may_enter_is_refused_and_not_overlooked(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = os.open

    def denied(path: bytes | str, *args: Any, **more: Any) -> int:
        if path == b".bernstein":  # root may enter every folder
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return opened(path, *args, **more)

    monkeypatch.setattr(os, "open", denied)

    told = ends(run).final

    # What the agent waits for is read first, from the same folder.
    assert told.outcome == "BlockRefused"
    assert "it is no regular file that can be read" in told.message


def test_who_leaves_none_prints_nothing(run: Run, capfd: Printed) -> None:
    result = ends(run, None)

    assert result.documents == ()
    assert capfd.readouterr().out == ""


def test_a_tree_with_nothing_else_is_the_base_itself(run: Run, capfd: Printed) -> None:
    run.start()
    write_whole(run.volumes.worktree, {OUTPUT.path: VALUES})
    run.say(line(type="result", text="NO_CHANGE_NEEDED"))
    result = run.end()

    assert (result.final.outcome, result.sha) == ("Succeeded", run.base)
    assert handed_over(capfd, VALUES) == VALUES


def test_a_rule_of_the_repository_that_ignores_it_changes_nothing(run: Run) -> None:
    (run.volumes.worktree / ".gitignore").write_text(".bernstein/\n")

    assert ends(run).documents == (of(VALUES),)


def test_no_server_is_needed_and_the_largest_one_fits(run: Run, capfd: Printed) -> None:
    largest = json.dumps("\u00fc" * 5_000 + "x" * (MOST_BYTES - 30_002)).encode()
    assert len(largest) == MOST_BYTES
    files: dict[str, bytes | str] = {
        f"{name:03}-{'n' * 180}.py": "a = 1\n" * 50 for name in range(60)
    }
    write_whole(run.volumes.worktree, files)
    result = ends(run, largest, line(type="result", text="\u20ac" * 30_000))

    assert run.config.callback is None
    assert handed_over(capfd, largest) == largest
    assert len(encoding.dump(result)) <= pod.TERMINATION_FEW


@pytest.mark.parametrize(
    ("stream", "outcome"),
    [
        (line(type="result", text="", error={"kind": "other", "message": "no"}), "AgentFailed"),
        (line(type="result", text="", error={"kind": "rate_limit", "message": ""}), "RateLimited"),
        (line(type="result", text="I looked.\nBLOCKED: a key"), "Blocked"),
    ],
)
def test_of_a_run_that_does_not_report_success_nothing_is_taken_or_judged(
    run: Run, capfd: Printed, stream: str, outcome: str
) -> None:
    result = ends(run, b"no json", stream)

    assert (result.final.outcome, result.documents) == (outcome, ())
    assert capfd.readouterr().out == ""
    assert OUTPUT.path not in committed(run, result)


def test_of_who_was_stopped_nothing_is_taken(run: Run) -> None:
    run.start(stall_seconds=0.2)
    write_whole(run.volumes.worktree, {OUTPUT.path: VALUES})
    wait_for(run.stop_file.exists)
    run.say(DONE)
    result = run.end()

    assert (result.stopped, result.documents) == ("Stalled", ())


# --- hostile ------------------------------------------------------------------------------------


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def link_to_json(path: Path) -> None:
    target = path.parent / "elsewhere.json"
    target.write_bytes(VALUES)
    path.symlink_to(target)


def folder(path: Path) -> None:
    path.mkdir()
    (path / "x").write_text("x")


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def two_megabytes(path: Path) -> None:
    path.write_bytes(json.dumps("x" * 2_000_000).encode())


def deep(path: Path) -> None:
    path.write_bytes(b"[" * 10_000 + b"]" * 10_000)


def huge_number(path: Path) -> None:
    path.write_bytes(b'{"spent": 1e400}')


def no_text(path: Path) -> None:
    path.write_bytes(b'{"a": "\xff\xfe"}')


def nothing(path: Path) -> None:
    path.touch()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (link, "it is no regular file that can be read"),
        (link_to_json, "it is no regular file that can be read"),
        (os.mkfifo, "it is no regular file that can be read"),
        (folder, "it is no regular file that can be read"),
        (sparse, "it has more than 65536 bytes"),
        (two_megabytes, "it has more than 65536 bytes"),
        (deep, "it has more than 20 levels of lists and objects"),
        (huge_number, "one of its numbers is too large"),
        (no_text, "it is no UTF-8"),
        (nothing, "it is no JSON (line 1, column 1)"),
    ],
)
def test_what_is_hostile_is_refused_in_our_words(
    run: Run, capfd: Printed, make: Callable[[Path], None], why: str
) -> None:
    run.start()
    path = run.volumes.worktree / OUTPUT.path
    path.parent.mkdir()
    make(path)
    run.say(DONE)
    result = run.end()

    assert refused(result, why)
    assert not {name for name in committed(run, result) if name.startswith(OUTPUT.path)}
    assert capfd.readouterr().out == ""


def follow(walker: Walker, name: bytes, most: int) -> bytes | None:
    """As a program reads that thinks of no links."""
    folder = Path(f"/proc/self/fd/{walker._root}").readlink()
    try:
        return (folder / os.fsdecode(name)).read_bytes()[:most]
    except FileNotFoundError:
        return None


@pytest.mark.parametrize("follows", [True, False])
def test_a_link_to_a_file_of_the_recorders_own_brings_it_out_only_where_it_is_followed(
    run: Run, tmp_path: Path, capfd: Printed, monkeypatch: pytest.MonkeyPatch, follows: bool
) -> None:
    own = b'"of the recorder alone"'
    (tmp_path / "own").write_bytes(own)
    if follows:
        monkeypatch.setattr(Walker, "read", follow)
    run.start()
    path = run.volumes.worktree / OUTPUT.path
    path.parent.mkdir()
    path.symlink_to(tmp_path / "own")
    run.say(DONE)
    result = run.end()

    assert (result.final.outcome == "Succeeded") is follows
    assert handed_over(capfd, own) == (own if follows else None)


TOKEN = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


@pytest.mark.parametrize(
    "document",
    [
        json.dumps({"note": TOKEN}),
        '{"note": "' + "".join(f"\\u{ord(char):04x}" for char in TOKEN) + '"}',
        json.dumps({TOKEN: 1}),
    ],
)
def test_a_secret_in_it_goes_nowhere_however_it_is_written(
    run: Run, capfd: Printed, document: str
) -> None:
    result = ends(run, document.encode())

    assert result.final.outcome == "DocumentRefused"
    assert result.final.message.startswith(f"{OUTPUT.path} is not taken: it holds a secret: ")
    assert result.documents == ()
    assert TOKEN not in encoding.dump(result) + capfd.readouterr().out


def test_a_folder_that_is_a_link_leads_nowhere(run: Run, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write_whole(elsewhere, {"output.json": VALUES})
    (run.volumes.worktree / ".bernstein").symlink_to(elsewhere)

    result = ends(run, None)

    assert (result.final.outcome, result.documents) == ("Succeeded", ())


def test_a_name_in_another_case_is_a_file_like_any_other_and_a_protected_one(run: Run) -> None:
    run.start(protected=(".bernstein",))
    path = OUTPUT.path.replace(".bernstein", ".Bernstein")
    write_whole(run.volumes.worktree, {path: VALUES})
    run.say(DONE)
    result = run.end()

    assert result.documents == ()
    assert committed(run, result) == {*BASE, path}
    assert result.changed.protected == path


def test_a_second_name_of_another_file_is_what_the_agent_could_read_anyway(run: Run) -> None:
    run.start()
    write_whole(run.volumes.worktree, {"b.json": VALUES, ".bernstein/x": ""})
    os.link(run.volumes.worktree / "b.json", run.volumes.worktree / OUTPUT.path)
    run.say(DONE)
    result = run.end()

    assert result.documents == (of(VALUES),)
    assert committed(run, result) == {*BASE, "b.json", ".bernstein/x"}


def test_what_is_put_in_its_place_after_it_was_read_is_in_neither(
    run: Run, capfd: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Walker.read
    path = run.volumes.worktree / OUTPUT.path
    swapped = b'{"tests": "other"}'

    def read_then_swap(walker: Walker, name: bytes, most: int) -> bytes | None:
        data = read(walker, name, most)
        if name == os.fsencode(OUTPUT.path):
            path.write_bytes(swapped)
        return data

    monkeypatch.setattr(Walker, "read", read_then_swap)
    result = ends(run)

    assert path.read_bytes() == swapped
    assert result.documents == (of(VALUES),)
    assert handed_over(capfd, VALUES) == VALUES
    assert OUTPUT.path not in committed(run, result)


def test_a_file_of_the_repository_itself_is_no_document_and_stays_as_it_is(run: Run) -> None:
    kept = {**BASE, OUTPUT.path: '"an example"'}
    shutil.rmtree(run.volumes.base_git_dir)
    run.base = run.volumes.start_from(kept)

    result = ends(run)

    assert (result.final.outcome, result.documents) == ("Succeeded", ())
    shown = git(run.volumes.recorder / "repo.git", "show", f"{result.sha}:{OUTPUT.path}")
    assert shown.decode() == kept[OUTPUT.path]


def test_the_commit_says_of_a_refused_one_how_the_run_ended(run: Run) -> None:
    result = ends(run, b"{")

    message = git(run.volumes.recorder / "repo.git", "log", "-1", "--format=%B", result.sha)
    assert message.decode().rstrip().endswith("Bernstein-Outcome: DocumentRefused")


def test_an_agent_that_waits_for_something_is_not_asked_for_values(run: Run) -> None:
    run.start()
    write_whole(
        run.volumes.worktree,
        {blocked.PATH: json.dumps({"text": "the API"}), OUTPUT.path: b"{"},
    )
    run.say(DONE)

    final = run.end().final

    assert (final.outcome, final.message) == ("Blocked", "the API")
