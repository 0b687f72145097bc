"""Gates in Python that cannot be asked, or give no answer: Errored, with a reason that stays."""

from __future__ import annotations

import pytest

from bernstein.pods import plugins
from bernstein.pods.errors import PodError
from tests.programs.plugins.gate import FILE, NO_FOO, Gates, Run, is_there, of, says

pytestmark = pytest.mark.verification

OTHER = ".bernstein/gates/other.py"


def errored(run: Run) -> tuple[str, str]:
    """(reason, text)"""
    assert run.verdict is not None, run.output
    assert (run.verdict.verdict, run.code) == ("Errored", 0)
    return run.verdict.reason, run.verdict.excerpt


def test_a_name_that_nobody_has_is_not_found(gates: Gates) -> None:
    reason, text = errored(gates.judge({"a": "1"}, name="no_bar"))

    assert reason == "PluginNotFound"
    assert text.endswith("has a gate 'no_bar'; there are: no_foo")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("import nowhere\n", "it cannot be loaded: ModuleNotFoundError: No module named 'nowhere'"),
        ("def (:\n", "it cannot be loaded: SyntaxError"),
        ("raise SystemExit(0)\n", "it cannot be loaded: SystemExit: 0"),
        (of(says(), name="lint"), "'lint' is the name of a built-in gate"),
        (of(says()), "'no_foo' is the name of a gate in .bernstein/gates/no_foo.py, too"),
        (of(says(), name="No Foo"), "its name is 'No Foo'; it has to be lower-case letters"),
        (of(says(), name="n" * 31), "it has to be lower-case letters"),
        (of(says(), name="other") + "    def __init__(self): 1 / 0\n", "no object can be made of"),
    ],
    ids=["import", "syntax", "exit", "built in", "twice", "name", "long name", "constructor"],
)
def test_a_file_that_cannot_be_used_leaves_no_gate(content: str, words: str, gates: Gates) -> None:
    """The other file may hold the same name, and be the one that was meant."""
    reason, text = errored(gates.judge({"a": "1"}, {FILE: NO_FOO, OTHER: content}))

    assert reason == "PluginInvalid"
    assert text.startswith(f"{OTHER}: ")
    assert words in text


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        (of(says(), condition="sometimes"), "its condition is 'sometimes'; it has to be one of"),
        (of(says(), required="None"), "its 'required' is neither True nor False"),
        (of(says(), required="property(lambda self: 1 / 0)"), "its required cannot be read"),
    ],
)
def test_a_class_that_says_nonsense_of_itself_is_not_asked(
    plugin: str, words: str, gates: Gates
) -> None:
    reason, text = errored(gates.judge({"a": "1"}, {FILE: plugin}))

    assert reason == "PluginInvalid"
    assert words in text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 1 / 0", "run() raised ZeroDivisionError: division by zero (no_foo.py, line 10)"),
        ("raise SystemExit", "run() raised SystemExit (no_foo.py, line 10)"),
        ("return None", "run() returned no GateResult, but NoneType"),
        ("return {'status': 'pass'}", "run() returned no GateResult, but dict"),
        (says("ok"), "the status of its result is 'ok'; it has to be one of pass, fail, skipped"),
        (says("pass", blocked="True"), "its result has status 'pass' and blocked=True"),
        (says("pass", "1"), "the details of its result are no text"),
        (says().replace("self.name", "'x'"), "its result is of a gate 'x'"),
        ("import os; os._exit(0)", "it ended its process (exit code 0) instead of an answer"),
        ("import os; os.abort()", "it was killed (signal 6) instead of an answer"),
        ("import os; os.closerange(3, 99); os._exit(3)", "it ended its process (exit code 3)"),
    ],
)
def test_a_class_without_an_answer_is_errored(body: str, words: str, gates: Gates) -> None:
    reason, text = errored(gates.judge({"a": "1"}, {FILE: of(body)}))

    assert reason == "PluginFailed"
    assert text.startswith(f"{FILE}: ")
    assert words in text


def test_an_error_is_in_the_log_with_all_its_lines(gates: Gates) -> None:
    run = gates.judge({"a": "1"}, {FILE: of("return 1 / 0")})

    assert "Traceback (most recent call last)" in run.output
    assert "return 1 / 0" in run.output


def test_an_error_that_cannot_be_told_is_one(gates: Gates) -> None:
    body = "class Bad(Exception):\n    def __str__(self):\n        raise self\nraise Bad"

    reason, text = errored(gates.judge({"a": "1"}, {FILE: of(body)}))

    assert (reason, "run() raised Bad" in text) == ("PluginFailed", True)


def test_a_file_that_is_never_loaded_is_given_up(gates: Gates) -> None:
    sleeps = "import time\ntime.sleep(600)\n"
    soon = ("LOAD_SECONDS = 60.0", "LOAD_SECONDS = 1.0")

    run = gates.judge({"a": "1"}, {OTHER: sleeps}, altered=soon)

    assert errored(run) == ("PluginInvalid", "the plugins were not loaded after 1 s")


def test_what_a_class_has_started_is_gone_when_the_verdict_is_there(gates: Gates) -> None:
    body = "import subprocess\nstarted = subprocess.Popen(['sleep', '600'])\n"

    run = gates.judge({"a": "1"}, {FILE: of(body + says("fail", "str(started.pid)"))})

    assert run.verdict is not None, run.output
    assert not is_there(int(run.verdict.excerpt))


def test_a_process_that_a_class_leaves_holds_up_no_answer(gates: Gates) -> None:
    body = "import os, time\nif os.fork() == 0:\n    time.sleep(600)\nos._exit(0)"

    reason, text = errored(gates.judge({"a": "1"}, {FILE: of(body)}))

    assert (reason, "ended its process" in text) == ("PluginFailed", True)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("->../../README.md", "is no plain file"),
        ("#" * 1_000_001, "has over 1000000 bytes"),
    ],
)
def test_a_gate_that_is_no_file_of_this_size_is_refused_before_anything_runs(
    content: str, words: str, gates: Gates
) -> None:
    with pytest.raises(PodError) as refused:
        gates.judge({"a": "1"}, {OTHER: content})

    assert refused.value.reason == "PluginInvalid"
    assert refused.value.message == f"{OTHER} {words}"


def test_too_many_files_are_refused(gates: Gates, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_MOST_FILES", 1)

    with pytest.raises(PodError, match=r"\.bernstein/gates has over 1 files"):
        gates.judge({"a": "1"}, {OTHER: ""})


def test_what_is_no_python_file_of_the_folder_is_passed_over(gates: Gates) -> None:
    beside: dict[str, bytes | str | None] = {
        ".bernstein/gates/README.md": "->/etc/passwd",
        ".bernstein/gates/more/bad.py": "raise ValueError",
        ".bernstein/bad.py": "raise ValueError",
    }

    run = gates.judge({"a": "1"}, beside)

    assert run.verdict is not None, run.output
    assert run.verdict.verdict == "Passed"
