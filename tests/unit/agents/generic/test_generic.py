"""The generic adapter runs any command."""

from __future__ import annotations

import subprocess
from pathlib import Path

from bernstein.agents import NO_CHANGE, RunSettings, get


def test_the_command_finds_model_endpoint_and_key_in_its_environment(tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text("sk-test")
    script = 'printf "%s " "$MODEL" "$MODEL_EFFORT" "$MODEL_BASE_URL" "$MODEL_API_KEY"; cat'
    run = RunSettings(
        prompt_file="",
        model="m1",
        effort="high",
        base_url="http://llm.example",
        api_key_file=str(key),
        command=("sh", "-c", script),
    )
    invocation = get("generic").invocation(run)
    said = subprocess.run(
        invocation.argv,
        env={"PATH": "/usr/bin:/bin", **invocation.env},
        input="the prompt",
        capture_output=True,
        check=True,
        text=True,
    ).stdout
    assert said == "m1 high http://llm.example sk-test the prompt"


def test_without_a_key_the_command_is_started_as_it_is() -> None:
    run = RunSettings(prompt_file="", model="", command=("my-agent", "--fix it"))
    assert get("generic").invocation(run).argv == ("my-agent", "--fix it")


def test_the_exit_code_decides() -> None:
    parser = get("generic").parser()
    assert parser.feed(b"all done\n") == "all done"
    assert parser.finish(0, b"").outcome == "Succeeded"
    failed = parser.finish(3, b"warning\ncannot find the file\n")
    assert failed.outcome == "AgentFailed"
    assert failed.message == "The command ended with 3. cannot find the file"
    assert parser.finish(137, b"").message == "The command ended with killed by signal 9."
    assert parser.finish(None, b"").outcome == "NoFinalRecord"


def test_the_last_lines_are_the_message() -> None:
    parser = get("generic").parser()
    for number in range(1000):
        parser.feed(f"line {number}\n".encode())
    final = parser.finish(0, b"")
    assert final.text.endswith("line 998\nline 999")
    assert not final.no_change
    parser.feed(f"{NO_CHANGE}\n".encode())
    assert parser.finish(0, b"").no_change
