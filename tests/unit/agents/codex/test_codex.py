"""The codex adapter: its command line, and its parser on what the real codex printed."""

from __future__ import annotations

import itertools
import json
import subprocess
import tomllib
from pathlib import Path

import pytest

from bernstein.agents import NO_CHANGE, RunSettings, get
from bernstein.agents.codex import CodexParser
from bernstein.api.pod import FinalRecord, Usage

RECORDINGS = Path(__file__).parent / "recordings"

RUN = RunSettings(
    prompt_file="/prompt/prompt.md",
    model="gpt-5.5",
    effort="max",
    base_url="http://llm.example:8099/v1",
    api_key_file="/secrets/model/key",
)


def replay(name: str) -> tuple[CodexParser, FinalRecord]:
    """The parser after a recorded run, and what it says about the end."""
    parser = CodexParser()
    for line in (RECORDINGS / f"{name}.out").read_bytes().splitlines():
        parser.feed(line)
    code = int((RECORDINGS / f"{name}.code").read_text())
    return parser, parser.finish(code, (RECORDINGS / f"{name}.err").read_bytes())


def settings(run: RunSettings) -> dict[str, object]:
    """The `-c` settings of the command line, read as codex reads them: as TOML."""
    argv = get("codex").invocation(run).argv
    text = "\n".join(value for flag, value in itertools.pairwise(argv) if flag == "-c")
    return tomllib.loads(text.removeprefix(argv[2]).lstrip("\n"))


def events(*records: object) -> CodexParser:
    parser = CodexParser()
    for record in records:
        parser.feed(json.dumps(record).encode())
    return parser


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("hello", "Succeeded"),
        ("default", "Succeeded"),
        ("flaky", "Succeeded"),
        ("e401", "ModelAuthFailed"),
        ("e403", "ModelAuthFailed"),
        ("e404", "AgentFailed"),
        ("e400", "AgentFailed"),
        ("e429", "RateLimited"),
        ("e429ra", "RateLimited"),
        ("sratelimit", "RateLimited"),
        ("quota", "UsageLimited"),
        ("squota", "UsageLimited"),
        ("e500", "ProviderUnavailable"),
        ("e503", "ProviderUnavailable"),
        ("soverload", "ProviderUnavailable"),
        ("disc", "ProviderUnavailable"),
        ("refused", "ProviderUnavailable"),
        ("sctx", "AgentFailed"),
        ("terminated", "NoFinalRecord"),
    ],
)
def test_a_recorded_run_is_classified(name: str, outcome: str) -> None:
    _, final = replay(name)
    assert final.outcome == outcome
    assert final.message


def test_every_recording_is_classified_above() -> None:
    marks = test_a_recorded_run_is_classified.pytestmark  # type: ignore[attr-defined]
    classified = {name for name, _ in marks[0].args[1]}
    assert classified == {path.stem for path in RECORDINGS.glob("*.out")}


def test_tokens_of_a_run_are_the_providers_without_the_cached_ones() -> None:
    parser, final = replay("hello")
    assert parser.usage == Usage(input=4400, output=125, cache_read=300)
    assert final.text == "done"
    assert parser.progress == "done"


def test_what_it_says_and_does_is_told_and_never_what_a_command_printed() -> None:
    parser = CodexParser()
    read = [parser.feed(line) for line in (RECORDINGS / "hello.out").read_bytes().splitlines()]
    assert [told for told in read if told] == [
        "I will create hello.txt.",
        "changes /workspace/hello.txt",
        "runs /bin/bash -lc 'cat hello.txt && ls'",
        "done",
    ]
    command = {"type": "command_execution", "command": "env", "aggregated_output": "KEY=secret"}
    message = {"type": "agent_message", "text": "Two\nlines."}
    told = [
        {"type": "item.started", "item": command},
        {"type": "item.completed", "item": command},
        {"type": "item.completed", "item": {"type": "reasoning", "text": "Hm."}},
        {"type": "item.updated", "item": message},
        {"type": "item.completed", "item": message},
    ]
    assert [parser.feed(json.dumps(record).encode()) for record in told] == [
        "runs env",
        *("", "", ""),
        "Two\nlines.",
    ]


def test_a_rate_limit_in_the_stream_says_when_to_come_back() -> None:
    _, final = replay("sratelimit")
    assert final.retry_after == 2


def test_a_failed_run_keeps_its_reason() -> None:
    _, final = replay("e401")
    assert final.message.startswith("unexpected status 401 Unauthorized: Incorrect API key")


def test_only_the_last_report_of_a_thread_counts() -> None:
    parser = events(
        {"type": "thread.started", "thread_id": "a"},
        {"type": "turn.completed", "usage": {"input_tokens": 200, "output_tokens": 20}},
        {"type": "turn.completed", "usage": {"input_tokens": 400, "output_tokens": 40}},
        {"type": "thread.started", "thread_id": "b"},
        {"type": "turn.completed", "usage": {"input_tokens": 7, "output_tokens": 1}},
    )
    assert parser.usage == Usage(input=407, output=41)


def test_a_later_report_never_lowers_the_count() -> None:
    parser = events(
        {"type": "thread.started", "thread_id": "a"},
        {"type": "turn.completed", "usage": {"input_tokens": 200, "output_tokens": 20}},
        {"type": "turn.completed", "usage": {"input_tokens": 1, "output_tokens": 30}},
    )
    assert parser.usage == Usage(input=200, output=30)


@pytest.mark.parametrize("bad", [-1, 10**12, 1.5, "7", None, True, [1]])
def test_a_report_with_an_impossible_count_is_ignored(bad: object) -> None:
    parser = events({"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": bad}})
    assert parser.usage == Usage()


def test_nan_is_no_count() -> None:
    parser = CodexParser()
    parser.feed(b'{"type":"turn.completed","usage":{"input_tokens":NaN,"output_tokens":1}}')
    assert parser.usage == Usage()


def test_success_with_another_exit_code_is_a_failure() -> None:
    parser = events({"type": "turn.completed", "usage": {}})
    assert parser.finish(1, b"").outcome == "AgentFailed"


def test_a_turn_that_was_started_again_has_not_ended() -> None:
    parser = events({"type": "turn.completed", "usage": {}}, {"type": "turn.started"})
    assert parser.finish(0, b"").outcome == "NoFinalRecord"


def test_exit_code_zero_without_output_is_no_success() -> None:
    assert CodexParser().finish(0, b"").outcome == "NoFinalRecord"


def test_no_change_is_told_by_a_line_of_the_last_message() -> None:
    def said(text: str) -> bool:
        item = {"type": "agent_message", "text": text}
        parser = events(
            {"type": "item.completed", "item": item}, {"type": "turn.completed", "usage": {}}
        )
        return parser.finish(0, b"").no_change

    assert said(f"All is well.\n{NO_CHANGE}\n")
    assert not said(f"I was told to say {NO_CHANGE} but changed much.")


def test_the_endpoint_is_a_provider_of_our_own() -> None:
    config = settings(RUN)
    provider = config["model_providers"]["bernstein"]  # type: ignore[index]
    assert config["model_provider"] == "bernstein"
    assert provider["base_url"] == "http://llm.example:8099/v1"
    assert provider["env_key"] == "MODEL_API_KEY"
    assert config["model_reasoning_effort"] == "xhigh"


def test_nothing_is_retried_for_ever_or_reported_home() -> None:
    config = settings(RUN)
    assert config["features"] == {
        "plugins": False,
        "remote_plugin": False,
        "apps": False,
        "unbounded_connection_retries": False,
    }
    assert config["analytics"] == {"enabled": False}
    assert config["approval_policy"] == "never"


def test_settings_of_the_repository_are_not_trusted() -> None:
    assert settings(RUN)["projects"] == {"/workspace": {"trust_level": "untrusted"}}


def test_the_key_is_read_from_its_file_when_the_agent_starts(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("sk-'quoted' $HOME\n")
    folder = tmp_path / "bin"
    folder.mkdir()
    codex = folder / "codex"
    codex.write_text('#!/bin/sh\nprintf "%s|%s" "$MODEL_API_KEY" "$1"\n')
    codex.chmod(0o755)
    run = RunSettings(
        "", "m", api_key_file=str(key), home=str(tmp_path / "home"), tmp=str(tmp_path)
    )
    invocation = get("codex").invocation(run)
    assert not any("sk-" in part for part in invocation.argv)
    said = subprocess.run(
        invocation.argv,
        env={"PATH": f"{folder}:/usr/bin:/bin", **invocation.env},
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert said == "sk-'quoted' $HOME|exec"
    assert (tmp_path / "home/.codex").is_dir()


def test_a_missing_key_file_stops_the_agent(tmp_path: Path) -> None:
    run = RunSettings("", "m", api_key_file=str(tmp_path / "none"), home=str(tmp_path))
    invocation = get("codex").invocation(run)
    ended = subprocess.run(
        invocation.argv,
        env={"PATH": "/usr/bin:/bin", **invocation.env},
        capture_output=True,
        check=False,
    )
    assert ended.returncode != 0
    assert b"none" in ended.stderr


def test_a_configuration_of_the_projects_own_is_put_in_place(tmp_path: Path) -> None:
    config = tmp_path / "etc agent"
    config.mkdir()
    (config / "config.toml").write_text("personality = 'terse'\n")
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "codex").write_text("#!/bin/sh\nexit 0\n")
    (folder / "codex").chmod(0o755)
    run = RunSettings("", "m", config_dir=str(config), home=str(tmp_path / "home"))
    invocation = get("codex").invocation(run)
    subprocess.run(
        invocation.argv, env={"PATH": f"{folder}:/usr/bin:/bin", **invocation.env}, check=True
    )
    assert (tmp_path / "home/.codex/config.toml").read_text() == "personality = 'terse'\n"
