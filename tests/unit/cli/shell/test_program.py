"""Where kubectl has started the program it is called `kubectl bernstein`, in all that it says."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bernstein.cli.settings import CliSettings
from bernstein.cli.shell import program
from tests.unit.cli import calls

PACKAGE = Path(__file__).parents[4] / "operator"
START = "import sys; sys.argv[0] = '/bin/{}'; from bernstein.cli.main import {} as main; main()"


def start(called: str, *arguments: str, function: str = "main") -> subprocess.CompletedProcess[str]:
    code = START.format(called, function)
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(PACKAGE), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("/usr/bin/bernstein", "bernstein"),
        ("kubectl-bernstein", "kubectl bernstein"),
        ("/x/kubectl-bernstein.exe", "kubectl bernstein"),
        ("/x/kubectl_complete-bernstein", "kubectl bernstein"),
        ("", "bernstein"),
    ],
)
def test_the_file_that_was_started_says_the_name(
    monkeypatch: pytest.MonkeyPatch, file: str, name: str
) -> None:
    monkeypatch.setattr(sys, "argv", [file, "status"])

    assert program.name() == name
    assert CliSettings(namespace="team").command_line("status") == f"{name} status -n team"
    assert CliSettings().placed("see `bernstein doctor`") == f"see `{name} doctor`"
    assert program.named("`bernstein.yaml`, bernstein and `kubectl get`") == (
        "`bernstein.yaml`, bernstein and `kubectl get`"
    )


def test_a_command_is_placed_and_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [program.PLUGIN])
    settings = CliSettings(namespace="team")

    once = settings.placed("see `bernstein retry web`")

    assert once == "see `kubectl bernstein retry web -n team`"
    assert program.named(once) == once


@pytest.mark.parametrize("words", [(), ("status",)], ids=["all", "one command"])
def test_usage_lines_say_how_it_was_called(words: tuple[str, ...]) -> None:
    usage = " ".join(("Usage:", "kubectl bernstein", *words))

    assert usage in start(program.PLUGIN, *words, "--help").stdout
    assert usage.replace("kubectl ", "") in start("bernstein", *words, "--help").stdout


def test_a_remedy_says_how_it_was_called(tmp_path: Path) -> None:
    (tmp_path / "bernstein.yaml").write_text("quality_gates: {lint: true}\n")
    (tmp_path / "plan.yaml").write_text("name: p\n")
    words = ("validate", str(tmp_path / "plan.yaml"), "--workdir", str(tmp_path))

    assert "`kubectl bernstein init` writes" in start(program.PLUGIN, *words).stderr


def test_the_flags_of_kubectl_mean_what_they_mean_there(tmp_path: Path) -> None:
    words = ("--kubeconfig", calls.unreachable(tmp_path), "--context", "other", "-n", "team")

    done = start(program.PLUGIN, "status", *words)

    assert done.returncode == 1
    assert "other" in done.stderr


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("st",), ["status", "stop", "start", ":4"]),
        (("run", "--app"), ["--approval", ":4"]),
        (("completion", "z"), ["zsh", ":4"]),
        (("run", "plan"), [":0"]),
        ((), None),
        (("run", "--no-such", ""), [":0"]),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, tuple) else "",
)
def test_kubectl_is_told_what_a_word_could_become(
    words: tuple[str, ...], answer: list[str] | None
) -> None:
    done = start(program.COMPLETES_PLUGIN, *words, function="complete_plugin")

    rows = [row.partition("\t")[0] for row in done.stdout.splitlines()]
    assert (done.returncode, done.stderr) == (0, "")
    if answer is None:
        assert {"run", "status", "doctor", ":4"} <= {*rows}
    else:
        assert rows == answer
