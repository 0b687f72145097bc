"""Puts small faults into code, one at a time, and tells how many of them the tests notice.

`mutants.py code COMMAND`: faults in the lines of Python that the work has changed; COMMAND runs the
tests. `mutants.py tests COMMAND`: faults in code that the changed tests run; COMMAND runs the tests
in the files that follow it. What a fault may be, cosmic-ray says.

It runs in the tree `TREE` (`work` or `base`) and ends within `CHECK_SECONDS`. In the base it only
tells whether the tests can be used. It prints one object of JSON, which
`bernstein.checks.outputs.mutants` reads.
"""

from __future__ import annotations

import ast
import importlib
import json
import math
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

MOST = 30
"""Faults that are tried."""
LEAST = 5
"""Faults that have to be tried, where there are so many."""
_PLACES = 20_000
"""Places to choose from, after which no other file is read."""
_FILE_BYTES = 1_000_000
_SHARE_OF_TIME = 0.9
_SHARE_OF_MEMORY = 0.75
_NO_TESTS, _MISSING = 5, 127
"""Exit codes of pytest, and of a shell that does not find its command."""
_TEST = re.compile(r"test_.*\.py|.*_test\.py", re.DOTALL)
_TEST_FOLDERS = {"test", "tests"}
_UNUSUAL = re.compile(r"if\s+(typing\.)?TYPE_CHECKING|if\s+__name__\s*==\s*(['\"])__main__\2")
"""What no test runs."""
_EQUAL = re.compile(r".*/(RemoveDecorator|(?!.*_(Is_IsNot|IsNot_Is)$).*_(Is|IsNot)(_.*)?)")
"""Faults that often are none: `1 == x` beside `1 is x`, or a function without its cache."""
_COVERAGE = "[run]\nparallel = true\nsource = .\npatch = subprocess\n"


# --- the change ---------------------------------------------------------------------------------


def changed_lines() -> dict[str, set[int]] | None:
    """Numbers of new lines of Python by file, as checkout has told them; None: too many."""
    told = json.loads(Path(os.environ["TOOLS"], "changed.json").read_bytes())
    if told is None:
        return None
    return {
        path: {n for first, last in ranges for n in range(first, last + 1)}
        for path, ranges in told.items()
    }


def is_test(path: str) -> bool:
    """Whether tests lie in it, or beside it."""
    *folders, name = path.split("/")
    return is_test_file(path) or name == "conftest.py" or not _TEST_FOLDERS.isdisjoint(folders)


def is_test_file(path: str) -> bool:
    """Whether pytest looks for tests in it."""
    return _TEST.fullmatch(path.rpartition("/")[2]) is not None


# --- running tests ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Took:
    """What a command took, or may take: seconds by the clock, and of CPU."""

    seconds: float
    cpu: float

    def with_fault(self) -> Took:
        """What it may take where a fault may keep it from ending. Little CPU, as most of them go
        round and round; more time, as others may be at work on the machine."""
        return Took(10 * self.seconds + 10, 3 * self.cpu + 2)


class Tests:
    """Runs commands until its time is over."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        """That there are in all."""
        self._until = time.monotonic() + seconds
        self._env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}
        self._memory = _memory()

    @property
    def left(self) -> float:
        return max(0.0, self._until - time.monotonic())

    def run(self, command: str, most: Took | None = None, shown: bool = False) -> int | None:
        """Its exit code; None: it was not done in time. What it leaves at work is ended."""
        output = sys.stderr if shown else subprocess.DEVNULL
        process = subprocess.Popen(
            ["sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=self._env,
            start_new_session=True,
            preexec_fn=partial(self._limit, most),
        )
        try:
            return process.wait(self.left if most is None else min(most.seconds, self.left))
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def timed(self, command: str) -> tuple[int | None, Took]:
        """Its exit code, and what it took. Ends this program where there is no such command."""
        began, used = time.monotonic(), _used()
        code = self.run(command, shown=True)
        if code == _MISSING:
            sys.exit(_MISSING)
        return code, Took(time.monotonic() - began, _used() - used)

    def _limit(self, most: Took | None) -> None:
        """A fault may take all memory that there is, and would end the container with it."""
        if self._memory is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (self._memory, self._memory))
        if most is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(most.cpu),) * 2)


def _used() -> float:
    """Seconds of CPU that ended processes have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory() -> int | None:
    """Bytes that each process may take; None: the container has no limit."""
    for file in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limit = Path(file).read_text().strip()
        except OSError:
            continue
        if limit.isdigit():
            return int(int(limit) * _SHARE_OF_MEMORY)
    return None


# --- faults -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """One fault at one place of a file."""

    path: str
    line: int
    columns: tuple[int, int]
    node: int
    """Number of the node in the tree of its file, in the order of the text."""
    operator: str
    index: int


class Faults:
    """What cosmic-ray knows to put into code. Raises ImportError."""

    def __init__(self) -> None:
        self._parse: Any = importlib.import_module("parso").parse
        plugins: Any = importlib.import_module("cosmic_ray.plugins")
        named = {name: plugins.get_operator(name) for name in sorted(plugins.operator_names())}
        self._operators = {
            name: operator()
            for name, operator in named.items()
            if not operator.arguments() and not _EQUAL.fullmatch(name)
        }

    def places(self, path: str, source: str, lines: set[int]) -> Iterator[Place]:
        """All faults that begin in these lines."""
        for number, node in enumerate(_nodes(self._parse(source))):
            if node is None or not _overlaps(node, lines):
                continue
            for name, operator in self._operators.items():
                for index, (start, end) in enumerate(operator.mutation_positions(node)):
                    if start[0] in lines:
                        columns = (start[1], end[1])
                        yield Place(path, start[0], columns, number, name, index)

    def put(self, source: str, place: Place) -> str | None:
        """The source with this fault; None: it stays as it is."""
        module = self._parse(source)
        node = next(each for n, each in enumerate(_nodes(module)) if n == place.node)
        parent = node.parent
        at = next(n for n, child in enumerate(parent.children) if child is node)
        mutated = self._operators[place.operator].mutate(node, place.index)
        parent.children[at : at + 1] = [] if mutated is None else [mutated]
        after: str = module.get_code()
        return None if after == source else after


def _nodes(module: Any) -> Iterator[Any]:
    """Every node in the order of the text; None in place of one that no test can judge."""
    waiting = [(module, False)]
    while waiting:
        node, passed_over = waiting.pop()
        passed_over = passed_over or _is_unusual(node)
        yield None if passed_over else node
        children = getattr(node, "children", ())
        waiting += [
            (children[n], passed_over or _is_passed_over(node, n))
            for n in reversed(range(len(children)))
        ]


def _is_passed_over(node: Any, child: int) -> bool:
    """Annotations."""
    if node.type in ("annassign", "tfpdef"):
        return child > 0 and node.children[child - 1] == ":"
    if node.type == "funcdef":
        return child > 0 and node.children[child - 1] == "->"
    return False


def _is_unusual(node: Any) -> bool:
    """What runs only as a program or for type checkers, and nothing else otherwise."""
    if node.type != "if_stmt" or len(node.children) != 4:
        return False
    asked = "".join(part.get_code() for part in node.children[:2]).strip()
    return _UNUSUAL.fullmatch(asked) is not None


def _overlaps(node: Any, lines: set[int]) -> bool:
    first, last = node.start_pos[0], node.end_pos[0]
    return first in lines if first == last else any(n in lines for n in range(first, last + 1))


def chosen(places: list[Place]) -> list[Place]:
    """Those that are tried, in this order: one fault at each place, by chance, but the same for the
    same code; and first one in each line."""
    chance = random.Random(0)  # noqa: S311 - nothing is secret
    at: dict[tuple[str, int, tuple[int, int]], list[Place]] = {}
    for place in places:
        at.setdefault((place.path, place.line, place.columns), []).append(place)
    single = [chance.choice(same) for _, same in sorted(at.items())]
    chance.shuffle(single)
    before = Counter[tuple[str, int]]()
    ranked = []
    for place in single:
        ranked.append((before[place.path, place.line], place))
        before[place.path, place.line] += 1
    ranked.sort(key=lambda each: each[0])
    return [place for _, place in ranked[:MOST]]


# --- what is told -------------------------------------------------------------------------------


def tried(faults: Faults, lines: dict[str, set[int]], tests: Tests, command: str) -> dict[str, Any]:
    """Each fault with what became of it, and how many there was no time for."""
    code, took = tests.timed(command)
    if code is None:
        return {"late": True}
    if code not in (0, _NO_TESTS):
        return {"fails": code}
    places, told = _found(faults, lines, tests)
    wanted = chosen(places)
    for number, place in enumerate(wanted):
        source = _source(place.path)
        try:
            mutated = faults.put(source, place)
        except Exception as error:  # noqa: BLE001 - of what cannot be tried nothing is known
            told.append(_survived(place.path, place.line, f"cannot be changed: {error}"))
            continue
        if mutated is None:
            continue
        end = "survived"
        if code == 0:
            with _written(Path(place.path), mutated):
                end = "survived" if tests.run(command, took.with_fault()) == 0 else "noticed"
            if not tests.left:
                return {"faults": told, "left": len(wanted) - number}
        what = _shown(place.line, source, mutated)
        told.append({"path": place.path, "line": place.line, "what": what, "end": end})
    return {"faults": told, "left": 0} if tests.left else {"late": True}


def _found(
    faults: Faults, lines: dict[str, set[int]], tests: Tests
) -> tuple[list[Place], list[dict[str, Any]]]:
    """Places of as many files as are needed to choose from, and what is told of those that cannot
    be read. Which files those are, is chance, but the same for the same names."""
    paths = sorted(lines)
    random.Random(0).shuffle(paths)  # noqa: S311 - nothing is secret
    places: list[Place] = []
    told: list[dict[str, Any]] = []
    for path in paths:
        if len(places) >= _PLACES or not tests.left:
            break
        try:
            places += faults.places(path, _source(path), lines[path])
        except (ValueError, RecursionError, OSError) as error:
            told.append(_survived(path, 0, f"cannot be read: {error}"))
    return places, told[:MOST]


def _survived(path: str, line: int, why: str) -> dict[str, Any]:
    return {"path": path, "line": line, "what": why[:200], "end": "survived"}


def _shown(line: int, before: str, after: str) -> str:
    was, now = (text.split("\n")[line - 1 : line] for text in (before, after))
    return " => ".join(" ".join("".join(each).split())[:100] for each in (was, now))


def _source(path: str) -> str:
    """Raises ValueError where it is no text, or too long."""
    file = Path(path)
    if file.stat().st_size > _FILE_BYTES:
        raise ValueError(f"it is over {_FILE_BYTES} bytes")
    with file.open(encoding="utf-8", newline="") as opened:
        return opened.read()


@contextmanager
def _written(file: Path, text: str) -> Iterator[None]:
    before = file.read_bytes()
    file.write_bytes(text.encode())
    try:
        yield
    finally:
        file.write_bytes(before)


def usable(tests: Tests, command: str) -> dict[str, Any]:
    """Whether the tests of the base pass, and soon enough for faults to be tried."""
    code, took = tests.timed(command)
    if code not in (0, _NO_TESTS):
        return {"late": True} if code is None else {"fails": code}
    return {"slow": (LEAST + 1) * took.seconds > tests.seconds}


def lines_run(files: str, tests: Tests) -> dict[str, set[int]]:
    """Lines inside functions, outside of tests, that the tests in these files run."""
    import tempfile  # whoever only reads what this prints does without

    folder = Path(tempfile.mkdtemp())
    settings, data, report = (folder / name for name in ("settings", "data", "report"))
    settings.write_text(_COVERAGE)
    ours = f"--rcfile={shlex.quote(str(settings))} --data-file={shlex.quote(str(data))}"
    coverage = "python3 -m coverage"
    tests.run(f"{coverage} run {ours} -m pytest -q -p no:cacheprovider {files}", shown=True)
    tests.run(f"{coverage} combine {ours}", shown=True)
    tests.run(f"{coverage} json {ours} -q -i -o {shlex.quote(str(report))}", shown=True)
    if not report.exists():
        return {}
    found = json.loads(report.read_bytes())["files"]
    lines = {path: set(each["executed_lines"]) for path, each in found.items()}
    return {
        path: inside
        for path, run in sorted(lines.items())
        if path.endswith(".py") and not is_test(path) and Path(path).is_file()
        if (inside := run & _in_functions(path))
    }


def _in_functions(path: str) -> set[int]:
    """Numbers of the lines in bodies of functions."""
    try:
        module = ast.parse(_source(path).removeprefix("\ufeff"))
    except (ValueError, SyntaxError, RecursionError):
        return set()
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(module) if isinstance(node, functions)]
    return {n for body in bodies for n in range(body[0].lineno, (body[-1].end_lineno or 0) + 1)}


def of_tests(
    faults: Faults, changed: dict[str, set[int]], names: list[str], tests: Tests, command: str
) -> dict[str, Any]:
    """Where the work has changed code that its tests run, the faults are in that; else in all that
    they run."""
    files = " ".join(map(_quoted, names))
    run = lines_run(files, tests)
    of_work = {path: run[path] & changed[path] for path in run.keys() & changed.keys()}
    lines = {path: numbers for path, numbers in of_work.items() if numbers} or run
    told = tried(faults, lines, tests, f"{command} {files}")
    return told if lines or "faults" not in told else {"nothing": True}


def of_base(kind: str, changed: dict[str, set[int]], tests: Tests, command: str) -> dict[str, Any]:
    """Whether the same tests can be used there, as far as it has them."""
    if kind == "code":
        return usable(tests, command)
    files = " ".join(_quoted(path) for path in sorted(changed) if Path(path).is_file())
    return usable(tests, f"{command} {files}") if files else {"slow": False}


def _quoted(path: str) -> str:
    return shlex.quote(f"./{path}")


def told_of(faults: Faults, kind: str, command: str) -> dict[str, Any]:
    changed = changed_lines()
    if changed is None:
        return {"much": True}
    tests = Tests(float(os.environ["CHECK_SECONDS"]) * _SHARE_OF_TIME)
    if kind == "tests":
        files = {path: lines for path, lines in changed.items() if is_test_file(path)}
    else:
        files = {path: lines for path, lines in changed.items() if not is_test(path)}
    if not files:
        return {"faults": []}
    if os.environ["TREE"] == "base":
        return of_base(kind, files, tests, command)
    if kind == "code":
        return tried(faults, files, tests, command)
    return of_tests(faults, changed, sorted(files), tests, command)


def main() -> int:
    kind, command = sys.argv[1:]
    try:
        faults = Faults()
        if kind == "tests":
            importlib.import_module("coverage")
    except ImportError as error:
        sys.stderr.write(f"the image lacks it: {error}\n")
        return _MISSING
    json.dump(told_of(faults, kind, command), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
