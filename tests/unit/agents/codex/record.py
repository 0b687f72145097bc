"""Records what the real codex prints: `python3 -m tests.unit.agents.codex.record CODEX [NAME...]`.

Plays every scenario of recordings/scenarios.yaml with the adapter's command line against the
scripted endpoint, and writes <name>.out, <name>.err and <name>.code beside it. Run it again when
the pinned version of codex changes, inside `unshare --net` to prove that it calls nobody else.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from bernstein.agents import RunSettings, get
from tests.stub_llm import scenario
from tests.stub_llm.server import Endpoint

FOLDER = Path(__file__).parent / "recordings"
EXTRA = ("terminated", "refused")
TIMEOUT = 120


def main() -> None:
    binary, *names = sys.argv[1:]
    script = scenario.parse((FOLDER / "scenarios.yaml").read_bytes())
    with Endpoint(("127.0.0.1", 0), script) as endpoint:
        threading.Thread(target=endpoint.serve_forever, daemon=True).start()
        for name in names or [*(s.name for s in script.scenarios), *EXTRA]:
            started = time.monotonic()
            code = record(Path(binary), name, endpoint)
            print(f"{name}: exit code {code}, {time.monotonic() - started:.1f} s", flush=True)
        endpoint.shutdown()


def record(binary: Path, name: str, endpoint: Endpoint) -> int:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for sub in ("workspace", "home", "tmp", "bin"):
            (root / sub).mkdir()
        (root / "bin/codex").symlink_to(binary.resolve())
        (root / "key").write_text("sk-stub")
        prompt = root / "prompt.md"
        prompt.write_text(f"[stub:{'slow' if name == 'terminated' else name}]\nTask: try\n")
        url = "http://127.0.0.1:1/v1" if name == "refused" else f"{endpoint.url}/{name}/v1"
        run = RunSettings(
            prompt_file=str(prompt),
            model="gpt-5.5",
            effort="low",
            base_url=url,
            api_key_file=str(root / "key"),
            workdir=str(root / "workspace"),
            tmp=str(root / "tmp"),
            home=str(root / "home"),
        )
        code = _run(run, root, name)
        for suffix in (".out", ".err"):
            text = (root / f"output{suffix}").read_text()
            text = text.replace(folder, "").replace(endpoint.url, "http://stub:8099")
            (FOLDER / f"{name}{suffix}").write_text(text)
        (FOLDER / f"{name}.code").write_text(f"{code}\n")
        return code


def _run(run: RunSettings, root: Path, name: str) -> int:
    invocation = get("codex").invocation(run)
    environment = {"PATH": f"{root}/bin:{os.environ['PATH']}", **invocation.env}
    with (
        open(run.prompt_file, "rb") as prompt,  # noqa: PTH123
        (root / "output.out").open("wb") as out,
        (root / "output.err").open("wb") as err,
    ):
        process = subprocess.Popen(
            invocation.argv,
            stdin=prompt,
            stdout=out,
            stderr=err,
            cwd=run.workdir,
            env=environment,
            start_new_session=True,
        )
        if name == "terminated":
            _until_it_sleeps(root / "output.out")
            os.killpg(process.pid, signal.SIGTERM)
        code = process.wait(TIMEOUT)
        return code if code >= 0 else 128 - code  # as the launcher tells it


def _until_it_sleeps(output: Path) -> None:
    deadline = time.monotonic() + TIMEOUT
    while "sleep 300" not in output.read_text():
        if time.monotonic() > deadline:
            raise TimeoutError("codex does not run the command of its second turn")
        time.sleep(0.1)


if __name__ == "__main__":
    main()
