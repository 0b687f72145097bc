"""Documents of YAML: read beside the agent, and handed over as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from bernstein.api import encoding
from bernstein.api.pod import LeftDocument, RecorderResult
from bernstein.core.documents import OUTPUT, PLAN, SUBTASKS, Document, handed
from tests.programs.pods.agent_pod import write_whole
from tests.programs.pods.programs.recorder.run import BASE, Run
from tests.programs.pods.programs.recorder.test_documents import (
    DONE,
    TOKEN,
    VALUES,
    Printed,
    committed,
)

SUBTASK = "subtasks:\n  - {title: One, files: [a.py]} # the first\n"


def leaves(
    run: Run, document: Document, written: str | bytes, *, may: tuple[Document, ...] = (SUBTASKS,)
) -> RecorderResult:
    """The result of an agent that may leave these documents, and leaves this one."""
    run.start(documents=tuple(each.name for each in may))
    write_whole(run.volumes.worktree, {"b.py": "b = 1\n", document.path: written})
    run.say(DONE)
    return run.end()


@pytest.mark.parametrize("document", [SUBTASKS, PLAN])
def test_of_yaml_its_json_is_handed_over(run: Run, capfd: Printed, document: Document) -> None:
    result = leaves(run, document, SUBTASK, may=(document,))

    made = b'{"subtasks":[{"title":"One","files":["a.py"]}]}'
    assert result.final.outcome == "Succeeded"
    assert result.documents == (LeftDocument(document.name, len(made), handed.digest(made)),)
    log = capfd.readouterr().out.encode()
    assert handed.found(log, document.name, len(made), handed.digest(made)) == made
    assert committed(run, result) == {*BASE, "b.py"}


def test_beside_it_there_may_be_values_for_others(run: Run) -> None:
    run.start(documents=(SUBTASKS.name,))
    write_whole(run.volumes.worktree, {OUTPUT.path: VALUES, SUBTASKS.path: SUBTASK})
    run.say(DONE)

    assert [each.name for each in run.end().documents] == [OUTPUT.name, SUBTASKS.name]


@pytest.mark.parametrize("may", [(), (PLAN,)])
def test_one_that_nobody_asks_for_is_refused_and_never_committed(
    run: Run, capfd: Printed, may: tuple[Document, ...]
) -> None:
    result = leaves(run, SUBTASKS, SUBTASK, may=may)

    assert (result.final.outcome, result.final.message) == (
        "DocumentRefused",
        f"{SUBTASKS.path} is not taken: nobody asks this task for one",
    )
    assert result.documents == ()
    assert committed(run, result) == {*BASE, "b.py"}
    assert capfd.readouterr().out == ""


NESTED = "it is nested deeper than 21 (line 1, column 22)"


@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("[" * 10_000 + "]" * 10_000, NESTED),
        ("x" * 2_000_000, "it has more than 65536 bytes"),
        ("a: 1.0e+400", "one of its numbers is too large, or none"),
        ("a:\n\t- b", "it is no YAML that is read (line 2, column 1)"),
        (b"\xff\xfe", "it is no UTF-8"),
        ("a: !!python/name:os.system", "it is no YAML that is read (line 1, column 4)"),
        (".nan: 1", "one of its keys is no text: put it in quotes"),
        (
            f"a: &a {'x' * 50_000}\nb: *a",
            "it has more than 65536 bytes with all aliases written out",
        ),
    ],
)
def test_yaml_that_is_hostile_is_refused_in_our_words(
    run: Run, capfd: Printed, written: str | bytes, why: str
) -> None:
    result = leaves(run, SUBTASKS, written)

    assert (result.final.outcome, result.final.message) == (
        "DocumentRefused",
        f"{SUBTASKS.path} is not taken: {why}",
    )
    assert result.documents == ()
    assert capfd.readouterr().out == ""


def test_yaml_that_is_a_link_is_not_followed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text(SUBTASK)
    run.start(documents=(SUBTASKS.name,))
    (run.volumes.worktree / ".bernstein").mkdir()
    (run.volumes.worktree / SUBTASKS.path).symlink_to(tmp_path / "own.yaml")
    run.say(DONE)
    result = run.end()

    assert result.final.message == (
        f"{SUBTASKS.path} is not taken: it is no regular file that can be read"
    )


@pytest.mark.parametrize(
    "written",
    [
        f"# {TOKEN}\na: 1\n",
        'a: "' + "".join(f"\\x{ord(char):02x}" for char in TOKEN) + '"\n',
        f"a: >-\n  {TOKEN}\n",
    ],
)
def test_a_secret_in_yaml_goes_nowhere_however_it_is_written(
    run: Run, capfd: Printed, written: str
) -> None:
    result = leaves(run, SUBTASKS, written)

    assert result.final.outcome == "DocumentRefused"
    assert result.final.message.startswith(f"{SUBTASKS.path} is not taken: it holds a secret: ")
    assert TOKEN not in encoding.dump(result) + capfd.readouterr().out
