"""What a tool prints about an agent's work may be anything: it is compared in bounded memory."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bernstein.api.encoding import dump
from bernstein.api.programs.comparing import CompareConfig, Compared, Listing

pytestmark = pytest.mark.verification

CONTAINER = 512 * 1024 * 1024
"""Bytes that its container may take."""
MB = 1_000_000
BANDIT = '{"filename": "a.py", "line_number": 1, "test_id": "B1", "issue_text": ""}'
PYRIGHT = '{"file": "a.py", "severity": "error", "message": ""}'
UNUSED = " unused import 'b' (90% confidence)\n"
BLOCK = '{"type": "function", "name": "f", "complexity": 1}'
ADVISORY = '{"package": "a", "version": "1", "path": "b", "id": "c", "severity": "", "fixed": []}'
FAULT = '{"path": "a.py", "line": 1, "what": "", "end": "survived"}'
LONG = "p" * 4000


def ring(size: int) -> str:
    return json.dumps({f"{i}.py": [f"{(i + 1) % size}.py"] for i in range(size)})


def all_by_all(size: int) -> str:
    return json.dumps({f"{i}": [f"{to}" for to in range(size)] for i in range(size)})


def long_names(size: int) -> str:
    return json.dumps({LONG: [json.loads(BLOCK) | {"name": f"f{i}"} for i in range(size)]})


OUTPUTS: dict[str, dict[str, Callable[[], str]]] = {
    "bandit": {
        "objects": lambda: '{"results": [' + "{}," * 10 * MB + "{}]}",
        "pairs": lambda: '{"results": [' + '{"":0},' * 700_000 + "{}]}",
        "wide": lambda: '{"results": ["😀' + "a" * 31 * MB + '"]}',
        "findings": lambda: '{"errors": [], "results": [' + f"{BANDIT}," * 200_000 + "{}]}",
    },
    "pyright": {
        "findings": lambda: '{"generalDiagnostics": [' + f"{PYRIGHT}," * 200_000 + "{}]}",
        "calls": lambda: f'{{"generalDiagnostics": [{PYRIGHT}]}}' * 110_000,
    },
    "vulture": {
        "findings": lambda: f"a.py:1:{UNUSED}" * 2 * MB,
        "empty lines": lambda: "\n" * 90 * MB,
        "one line": lambda: "a" * 90 * MB,
    },
    "ruff": {
        "findings": lambda: '{"filename": "a.py", "location": {"row": 1}}\n' * 2 * MB,
        "a long line": lambda: "[" + "[]," * 30 * MB,
    },
    "imports": {
        "a circle": lambda: ring(90_000),
        "circles": lambda: all_by_all(700),
    },
    "radon": {
        "long names": lambda: long_names(80_000),
    },
    "coverage": {"lines": lambda: '{"files": {"a.py": {"lines": [' + "300," * 3 * MB + "1]}}}"},
    "advisories": {"found": lambda: '{"found": [' + f"{ADVISORY}," * 100_000 + "{}]}"},
    "mutants": {"faults": lambda: '{"faults": [' + f"{FAULT}," * 100_000 + "{}]}"},
    "benchmark": {"objects": lambda: '{"benchmarks": [' + "{}," * 3 * MB + "{}]}"},
}
CASES = [(form, how) for form, outputs in OUTPUTS.items() for how in outputs]


@pytest.mark.parametrize(("form", "how"), CASES)
def test_it_ends_with_a_verdict_whatever_the_tool_prints(
    form: str, how: str, tmp_path: Path
) -> None:
    found = _in_its_container(_flooded(form, OUTPUTS[form][how](), tmp_path))

    assert found.verdict in ("Passed", "Failed", "Skipped"), found


@pytest.mark.parametrize(
    ("form", "how", "without"),
    [
        ("bandit", "objects", "document.MOST_MEMORY = document.MOST_BYTES = 10**12"),
        ("ruff", "a long line", "findings.MOST_LINE = 10**12"),
        ("radon", "long names", "radon._LONG_PATH = 10**12"),
    ],
)
def test_what_a_tool_prints_takes_all_memory_where_it_has_no_bound(
    form: str, how: str, without: str, tmp_path: Path
) -> None:
    flooded = _run(_flooded(form, OUTPUTS[form][how](), tmp_path), without)

    assert flooded.returncode != 0
    assert "MemoryError" in flooded.stderr


def test_what_a_tool_prints_takes_all_time_where_it_has_no_bound(tmp_path: Path) -> None:
    config = _flooded("imports", ring(10_000), tmp_path)
    endless = "imports._MOST_STEPS = 10**12; compare._SECONDS = "
    begun = time.monotonic()
    assert _in_its_container(config).verdict == "Passed"
    seconds = time.monotonic() - begun

    with pytest.raises(subprocess.TimeoutExpired):
        _run(config, f"{endless}10**6", seconds=3 * seconds)

    ended = _run(config, f"{endless}2")
    assert Compared(**json.loads(ended.stdout)).excerpt.endswith("took over 2 s")


def test_of_an_output_without_end_only_so_much_is_read(tmp_path: Path) -> None:
    config = _flooded("vulture", "", tmp_path)
    for listing in (config.head, config.base):
        os.truncate(listing.findings, 1000 * MB)

    unbounded = _run(config, "compare._OUTPUT_BYTES = 10**12")
    assert unbounded.returncode != 0
    assert "MemoryError" in unbounded.stderr

    assert _in_its_container(config).excerpt.endswith("the tool printed nothing, or too much")


def test_it_ends_with_a_verdict_however_many_files_have_other_names(tmp_path: Path) -> None:
    """Each of these files has findings, and as many lines as one may have to be known by them."""
    trees = {}
    for of in ("head", "base"):
        paths = [f"{of}-{number}.py" for number in range(300)]
        trees[of] = _listing(
            tmp_path / of, "".join(f"{path}:1:{UNUSED}" for path in paths).encode()
        )
        for number, path in enumerate(paths):
            text = "".join(f"{of[0]}{number} {line}\n" for line in range(19_000))
            (Path(trees[of].tree) / path).write_text(text)
    config = CompareConfig(
        "gate", "/workspace", trees["head"], trees["base"], output="vulture", decides=True
    )

    unbounded = _run(config, "renames.MOST_LINES_OF_ALL = 10**9")
    assert unbounded.returncode != 0, "without the bound on lines of all files it ends without one"
    assert "MemoryError" in unbounded.stderr

    found = _in_its_container(config)

    assert (found.verdict, found.reason) == ("Failed", "NewFindings")


def _flooded(form: str, output: str, folder: Path) -> CompareConfig:
    """Both are the same, so that both have to be read; the files have as many lines as can be."""
    text = output.encode("utf-8", "surrogatepass")
    tolerance = 10.0 if form in ("radon", "coverage", "benchmark") else None
    head, base = (_listing(folder / of, text) for of in ("head", "base"))
    config = CompareConfig(
        "gate", "/workspace", head, base, output=form, decides=True, tolerance=tolerance
    )
    return replace(config, least=0.5 if form == "mutants" else None)


def _listing(folder: Path, output: bytes) -> Listing:
    tree = folder / "tree"
    tree.mkdir(parents=True)
    (tree / "a.py").write_bytes(b"ab\n" * 7 * MB)
    (folder / "findings").write_bytes(output)
    (folder / "code").write_text("0")
    return Listing(str(tree), str(folder / "findings"), str(folder / "code"))


def _in_its_container(config: CompareConfig) -> Compared:
    """Its verdict, in a process with the container's memory."""
    done = _run(config)
    assert done.returncode == 0, done.stderr[-2000:]
    return Compared(**json.loads(done.stdout))


def _run(
    config: CompareConfig, before: str = "", seconds: float = 300
) -> subprocess.CompletedProcess[str]:
    """The program, in a process with the container's memory, after this line of Python."""
    script = (
        "import sys\n"
        "from bernstein.api import encoding\n"
        "from bernstein.checks import findings, renames\n"
        "from bernstein.checks.outputs import document, imports, radon\n"
        "from bernstein.pods.programs import compare\n"
        f"{before}\n"
        "print(encoding.dump(compare.run(encoding.load(compare.CONFIG, sys.argv[1]))))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", script, dump(config)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (CONTAINER, CONTAINER)),
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )
