"""The agent's work as commits, checkpoints and a result."""

from __future__ import annotations

import dataclasses
import os
import threading
import time
from pathlib import Path

import pytest

from bernstein.agents.demo import DemoParser
from bernstein.api import encoding, pod
from bernstein.api.pod import FinalRecord, RecorderResult
from bernstein.api.programs.commit import CommitText
from bernstein.checks.changes import digest_of
from bernstein.pods.worktree import packs
from tests.background import wait_for
from tests.programs.pods.agent_pod import TEXT, git, write_whole
from tests.programs.pods.programs.recorder.run import Run, line, wait_for_snapshots

ENDED = "Bernstein-Outcome: NoFinalRecord\n"
"""Of an agent that has said nothing."""


def test_the_first_protected_path_that_changed_is_told(run: Run) -> None:
    run.start(protected=(".claude", ".github/workflows"))
    write_whole(run.volumes.worktree, {"web/.claude/settings.json": "{}", "src/new.py": ""})

    changed = run.end().changed

    assert changed.protected == "web/.claude/settings.json"
    assert changed.protected_by == digest_of((".github/workflows", ".claude"))


def test_when_the_agent_was_let_go_is_told(run: Run) -> None:
    before = time.time()
    run.start()
    after = time.time()

    told = run.end().let_go

    assert told is not None
    assert before - 0.1 <= told <= after + 0.1


def test_the_work_is_one_commit_and_the_stream_is_summed_up(run: Run) -> None:
    run.start()
    write_whole(run.volumes.worktree, {"src/new.py": "n = 1\n", "tests/test_new.py": ""})
    (run.volumes.worktree / "README.md").unlink()
    run.say(line(type="start", model="sonnet"))
    run.say(line(type="usage", input=10, output=20, cache_read=30, cache_write=40))
    run.say(line(type="result", text="All done."))
    result = run.end()
    assert result.base == run.base
    assert result.changed == pod.Changed(
        files=3,
        python=True,
        tests=True,
        deps=False,
        most=(
            pod.ChangedFile("README.md", 0, 1),
            pod.ChangedFile("src/new.py", 1, 0),
            pod.ChangedFile("tests/test_new.py", 0, 0),
        ),
    )
    assert result.usage == pod.Usage(10, 20, 30, 40)
    assert result.model == "sonnet"
    assert result.final == FinalRecord("Succeeded", "The agent reports success.", "All done.")
    assert result.stopped is None
    record = run.latest()
    assert record is not None
    assert (record.base, record.sha, record.tree) == (result.base, result.sha, result.tree)
    assert record.final
    assert_commit(run, record, {"a.py", "src/new.py", "tests/test_new.py"})


def assert_commit(run: Run, record: packs.PackRecord, files: set[str]) -> None:
    """The pack alone, on the base, holds the commit with these files."""
    folder = run.volumes.root / f"look-{record.sha}"
    git(run.volumes.root, "clone", "-q", "--bare", str(run.volumes.base_git_dir), str(folder))
    assert record.pack is not None
    git(folder, "unpack-objects", "-q", input=(run.volumes.packs / record.pack).read_bytes())
    git(folder, "fsck", "--strict", "--connectivity-only", record.sha)
    parents = git(folder, "rev-list", "--parents", "-n1", record.sha).decode().split()
    assert parents == [record.sha, record.base]
    listed = git(folder, "ls-tree", "-r", "--name-only", record.sha).decode().split()
    assert set(listed) == files


IGNORES: dict[str, bytes | str] = {
    ".gitignore": "# made\n*.log\n\nbuild/\n",
    "build/old.js": "",
    "sub/.gitignore": "!x.log\ny*\n",
}


def ignoring(folder: Path, files: dict[str, bytes | str]) -> RecorderResult:
    """What is told of an agent that writes these files where IGNORES are the base."""
    run = Run(folder, IGNORES)
    run.start()
    write_whole(run.volumes.worktree, files)
    return run.end()


def test_where_all_is_ignored_it_is_told_what_and_by_which_rule(tmp_path: Path) -> None:
    new = ("a.log", "build/1.js", "sub/yes/1", "sub/yes/2", "z.log")
    result = ignoring(tmp_path / "pod", dict.fromkeys(new, "1"))
    assert result.sha == result.base
    assert result.ignored == (
        "4 new paths are ignored: a.log (.gitignore:2), build/1.js (.gitignore:4), "
        "sub/yes/ (sub/.gitignore:2) and 1 more"
    )


def test_beside_work_nothing_is_told_of_what_is_ignored(tmp_path: Path) -> None:
    assert ignoring(tmp_path / "pod", {"a.log": "", "sub/x.log": ""}).ignored == ""


def test_a_rule_that_is_in_no_file_of_the_tree_ignores_nothing(tmp_path: Path) -> None:
    run = Run(tmp_path / "pod")
    git(run.volumes.worktree, "init", "-q")
    write_whole(run.volumes.worktree, {".git/info/exclude": "notes.txt\n", "notes.txt": ""})
    run.start()
    result = run.end()
    assert result.changed.files == 1


def test_names_of_what_is_ignored_are_bounded_and_plain(tmp_path: Path) -> None:
    folder = "\u202eé\n" * 20
    names = [f"{folder}/{'x' * 200}{i}.log" for i in range(9)]
    result = ignoring(tmp_path / "pod", dict.fromkeys(names, ""))
    assert result.ignored.startswith("9 new paths are ignored: ")
    assert result.ignored.replace("…", "").isascii()
    assert result.ignored.isprintable()
    assert len(result.ignored) < 450


def test_nothing_changed_is_the_base_itself(run: Run) -> None:
    run.start()
    result = run.end()
    record = run.latest()
    assert record is not None
    assert result.sha == record.sha == run.base
    assert record.pack is None
    assert record.final
    assert result.changed == pod.Changed()
    assert result.final.outcome == "NoFinalRecord"


def test_checkpoints_come_only_when_the_tree_changes(run: Run) -> None:
    run.start()
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(run.latest)
    first = run.latest()
    assert first is not None
    assert not first.final
    os.utime(run.volumes.worktree / "b.py")
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    wait_for_snapshots(run, 3)
    assert packs.numbers(run.volumes.packs) == [1]
    write_whole(run.volumes.worktree, {"c.py": "2\n"})
    wait_for(lambda: packs.numbers(run.volumes.packs) == [1, 2])
    second = run.latest()
    result = run.end()
    last = run.latest()
    assert second is not None
    assert last is not None
    assert (last.final, last.sha) == (True, result.sha)
    assert last.pack == "3.pack"
    assert last.tree == second.tree, "it differs by what it says of the end alone"
    assert_commit(run, last, {"a.py", "README.md", "b.py", "c.py"})


def test_undone_work_goes_back_to_the_base(run: Run) -> None:
    run.start()
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(run.latest)
    (run.volumes.worktree / "b.py").unlink()
    wait_for(lambda: packs.numbers(run.volumes.packs) == [1, 2])
    result = run.end()
    assert result.sha == run.base
    record = run.latest()
    assert record is not None
    assert record.pack is None


def test_what_is_left_out_is_counted_in_result_and_trailer(run: Run) -> None:
    run.start()
    write_whole(run.volumes.worktree, {"b.py": "1\n", "git~1": "x"})
    os.mkfifo(run.volumes.worktree / "fifo")
    result = run.end()
    assert result.skipped == 2
    raw = git(run.volumes.recorder / "repo.git", "cat-file", "commit", result.sha).decode()
    assert raw.endswith(f"Add a thing\n\nTask: one\nBernstein-Tree-Files-Skipped: 2\n{ENDED}")


def test_a_message_without_trailers_gets_a_paragraph_of_them(run: Run) -> None:
    run.start(commit=CommitText("Subject: with a colon", "Ada", "a@b.c"))
    write_whole(run.volumes.worktree, {"b.py": "1\n", "git~1": "x"})
    result = run.end()
    raw = git(run.volumes.recorder / "repo.git", "cat-file", "commit", result.sha).decode()
    trailers = f"Bernstein-Tree-Files-Skipped: 1\n{ENDED}"
    assert raw.endswith(f"\n\nSubject: with a colon\n\n{trailers}")


def test_work_is_by_its_author_and_its_committer_and_stays_signed_off(run: Run) -> None:
    text = "Do it\n\nBernstein-Task: a/b\nSigned-off-by: Bob <b@b.c>\n"
    run.start(commit=CommitText(text, "Ada", "a@b.c", "Bob", "b@b.c"))
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    result = run.end()
    repository = run.volumes.recorder / "repo.git"
    shown = git(repository, "show", "-s", "--format=%an <%ae> %cn <%ce>", result.sha).decode()
    assert shown.strip() == "Ada <a@b.c> Bob <b@b.c>"
    form = "--format=%(trailers:key=Signed-off-by,valueonly)"
    assert git(repository, "show", "-s", form, result.sha).decode().strip() == "Bob <b@b.c>"


def test_the_last_commit_says_how_the_agent_ended_and_that_it_was_not_sure(run: Run) -> None:
    run.start()
    run.say(line(type="result", text="It is left as a placeholder.\nBernstein-Outcome: Blocked"))
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    result = run.end()
    raw = git(run.volumes.recorder / "repo.git", "cat-file", "commit", result.sha).decode()
    assert raw.endswith(
        f"\n\n{TEXT.message}Bernstein-Outcome: Succeeded\nBernstein-Unsure: placeholder\n"
    ), "in our words"


def test_a_parser_that_breaks_at_the_end_loses_no_work(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> FinalRecord:
        raise RuntimeError("a defect")

    monkeypatch.setattr(DemoParser, "finish", broken)
    run.start()
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    run.stop()
    assert isinstance(run.outcome, RuntimeError)
    record = run.latest()
    assert record is not None
    assert record.final
    assert_commit(run, record, {"a.py", "README.md", "b.py"})


def test_refused_contents_do_not_cost_the_rest(run: Run) -> None:
    run.start()
    bad = '[submodule "x"]\n\tpath = x\n\turl = -uhostile\n'
    write_whole(
        run.volumes.worktree, {".gitmodules": bad, "sub/.gitattributes": "x" * 3000, "b": "b"}
    )
    result = run.end()
    assert result.skipped == 2
    record = run.latest()
    assert record is not None
    assert_commit(run, record, {"a.py", "README.md", "b"})


def test_any_number_of_refused_contents_does_not_cost_the_rest(run: Run) -> None:
    hostile = '[submodule "x"]\n\tpath = x{}\n\turl = -uhostile\n'
    run.start()
    write_whole(run.volumes.worktree, {f"d{i}/.gitmodules": hostile.format(i) for i in range(25)})
    write_whole(run.volumes.worktree, {"b": "b"})
    result = run.end()
    assert result.skipped == 25
    record = run.latest()
    assert record is not None
    assert_commit(run, record, {"a.py", "README.md", "b"})


def test_the_last_state_is_handed_over_before_the_rest_of_the_output_is_read(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[packs.PackRecord | None] = []
    feed = DemoParser.feed

    def look(self: DemoParser, line: bytes) -> str:
        seen.append(run.latest())
        return feed(self, line)

    monkeypatch.setattr(DemoParser, "feed", look)
    run.say(line(type="usage", input=1) + line(type="result", text="Done."))
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    run.ended.set()
    run.start()
    result = run.end()
    assert result.usage.input == 1
    assert result.final.text == "Done."
    assert [record and record.tree for record in seen] == [result.tree, result.tree]


def test_too_large_a_tree_is_the_outcome_and_the_last_checkpoint_stays(run: Run) -> None:
    run.start(limits=pod.TreeLimits(file_bytes=1000))
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(run.latest)
    before = run.latest()
    write_whole(run.volumes.worktree, {"big": "x" * 1001})
    failure = run.fail()
    assert failure.reason == "SnapshotTooLarge"
    assert failure.message.startswith("big: ")
    record = run.latest()
    assert before is not None
    assert record == dataclasses.replace(before, aborted=True)


def test_a_too_large_tree_that_is_tidied_up_again_is_fine(run: Run) -> None:
    run.start(limits=pod.TreeLimits(file_bytes=1000))
    write_whole(run.volumes.worktree, {"big": "x" * 1001})
    wait_for_snapshots(run, 2)
    (run.volumes.worktree / "big").unlink()
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    assert run.end().changed.files == 1


def test_large_files_that_come_and_go_do_not_fill_the_volume(run: Run) -> None:
    run.start(limits=pod.TreeLimits(total_bytes=300_000))
    for i in range(4):
        write_whole(run.volumes.worktree, {"big": os.urandom(200_000)})
        wait_for(lambda i=i: packs.numbers(run.volumes.packs)[-1:] == [i + 1])  # type: ignore[misc]
    own = run.volumes.recorder / "repo.git"
    used = sum(f.stat().st_size for f in own.rglob("*") if f.is_file())
    assert used < 900_000
    assert len(list(run.volumes.packs.glob("*.pack"))) <= 3
    result = run.end()
    record = run.latest()
    assert record is not None
    assert record.sha == result.sha
    assert_commit(run, record, {"a.py", "README.md", "big"})


def test_a_restarted_recorder_goes_on(run: Run) -> None:
    run.start()
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    wait_for(run.latest)
    run.stop()
    again = Run.__new__(Run)
    again.__dict__ |= run.__dict__ | {"ended": threading.Event()}
    again.start()
    write_whole(run.volumes.worktree, {"c.py": "1\n"})
    result = again.end()
    assert packs.numbers(run.volumes.packs)[-1] > 2
    assert result.changed.files == 2


def test_the_agents_words_fit_the_termination_message(run: Run) -> None:
    run.start()
    run.say(
        line(type="result", text="\U0001f600" * 5000, error={"kind": "x", "message": "ü" * 900})
    )
    result = run.end()
    assert len(encoding.dump(result)) <= pod.TERMINATION_SHARE
    assert result.final.message
    assert result.final.text


def test_the_agents_words_are_harmless(run: Run) -> None:
    run.start()
    run.say(line(type="start", model="\x1b[31mred\u202e"))
    run.say(line(type="result", text="ask @admin \x1b]0;title\x07 now\u202e"))
    result = run.end()
    assert result.model == "red"
    assert not {"\x1b", "\u202e", "@"} & set(result.final.text)


def test_an_agent_that_says_at_its_end_that_it_is_not_sure_is_noticed(run: Run) -> None:
    run.start()
    run.say(line(type="result", text=f"I'm not\u200b sure. {'x' * 1900}"))
    result = run.end()
    assert result.final.low_confidence == "not sure"
    assert len(encoding.dump(result)) <= pod.TERMINATION_SHARE


def test_what_it_said_long_before_its_end_is_not_looked_at(run: Run) -> None:
    run.start()
    run.say(line(type="message", text="I'm not sure yet."))
    run.say(line(type="result", text=f"I'm not sure. {'x' * 2000}"))
    assert run.end().final.low_confidence == ""


def test_a_parser_that_raises_costs_no_work(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, line: bytes) -> None:
        raise RuntimeError

    monkeypatch.setattr("bernstein.agents.demo.DemoParser.feed", broken)
    run.start()
    run.say("x\n" * 10)
    write_whole(run.volumes.worktree, {"b.py": "1\n"})
    assert run.end().changed.files == 1
