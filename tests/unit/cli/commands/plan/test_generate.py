"""`bernstein plan generate`: calls that are wrong are told before any model is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from bernstein.cli.main import app

KEY = {"ANTHROPIC_API_KEY": "sk-0123456789abcdef"}
NOBODY = ("--base-url", "http://127.0.0.1:9")


def refused(runner: CliRunner, *words: str, **environment: str) -> dict[str, Any]:
    given = {**KEY, **environment}
    done = runner.invoke(app, ["--json", "plan", "generate", *words, *NOBODY], env=given)
    assert done.exit_code == 2, done.output
    assert KEY["ANTHROPIC_API_KEY"] not in done.output
    error: dict[str, Any] = json.loads(done.stdout)["error"]
    return error


@pytest.mark.parametrize(
    ("words", "reason", "told"),
    [
        ([" \n\u200b"], "Usage", "nothing was said"),
        (["x" * 20_000], "Usage", "20,000 bytes, and 16,384 are allowed"),
        (["x", "--provider", "claude"], "ProviderUnknown", "no provider 'claude'"),
        (["x", "--provider", "gemini"], "Usage", "no model was said"),
        (["x", "--max-tokens", "1"], "Usage", "1 token is not asked for"),
        (["x", "--max-tokens", "1000000"], "Usage", "1000000 tokens"),
        (["x", "--timeout", "soon"], "InvalidTimeout", "'soon' is no duration"),
        (["x", "--workdir", "/nowhere"], "Usage", "no folder '/nowhere'"),
        (["x", "--api-key-file", "/nowhere"], "ModelKeyUnreadable", "'/nowhere' cannot be read"),
        ([], "Usage", "Missing argument 'TEXT'"),
    ],
)
def test_a_call_that_is_wrong_is_told_with_what_helps(
    runner: CliRunner, tmp_path: Path, words: list[str], reason: str, told: str
) -> None:
    where = [] if "--workdir" in words else ["--workdir", str(tmp_path)]

    error = refused(runner, *words, *where, GEMINI_API_KEY="sk-0123456789abcdef")

    assert error["reason"] == reason
    assert told in error["message"]
    assert error["remedy"]
    assert not [*tmp_path.iterdir()]


def test_without_a_key_nobody_is_asked(runner: CliRunner, tmp_path: Path) -> None:
    error = refused(runner, "x", "--workdir", str(tmp_path), ANTHROPIC_API_KEY="")

    assert error["reason"] == "ModelKeyMissing"
    assert "ANTHROPIC_API_KEY" in error["remedy"]


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_what_is_there_is_not_overwritten(runner: CliRunner, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "plans" / "add-a-cache.yaml"
    path.parent.mkdir()
    if kind == "file":
        path.write_text("mine")
    elif kind == "link":
        path.symlink_to("nowhere")
    else:
        path.mkdir()

    error = refused(runner, "Add a cache", "--workdir", str(tmp_path))

    assert error["reason"] == "FileExists"
    assert error["message"].startswith("add-a-cache.yaml of ")
    assert "--force" in error["remedy"]
