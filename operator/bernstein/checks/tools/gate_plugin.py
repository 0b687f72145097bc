"""Runs one gate of a Project's own that is a class in Python.

`gate_plugin.py NAME [FILE]`: the class with this name, of those in `gates/*.py` beside this program
and of the entry points `bernstein.gates`; the verdict goes to FILE, as one object of JSON, which
`bernstein.api.programs.plugin.PluginVerdict` reads. `change.json` beside it tells of the change.

The class is loaded and asked in a process of its own. This one has read nothing of the tree by
then, runs none of its code, and ends whatever is left of that process before it writes.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import os
import re
import select
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

HERE = Path(__file__).resolve().parent
GROUP = "bernstein.gates"
CONDITIONS = ("always", "python_changed", "tests_changed", "any_changed", "deps_changed")
LOAD_SECONDS = 60.0
"""For all plugins together; how long the gate itself may take, the operator says."""
_OLD_CONDITION = re.compile(r"""changed_files\.any\((['"])\.py\1\)""")
_NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")
_VERDICTS = {"pass": "Passed", "fail": "Failed", "skipped": "Skipped"}
_DETAILS = 1500
_MESSAGE_BYTES = 4000
_LOOK_SECONDS = 0.2
_NOT_DUMPABLE = (4, 0)
"""`prctl`: other processes of this user may not read or write this one's memory and files."""

Answer = dict[str, Any]


class Unusable(Exception):  # noqa: N818 - it says of a plugin what it is
    """No gate can be asked: the reason of the verdict, and a text for people."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


# --- which gates there are ----------------------------------------------------------------------


def gates(folder: Path, tree: Path, taken: list[str]) -> dict[str, tuple[Any, str]]:
    """Every gate with the place that it comes from, by its name. Raises Unusable: one that cannot
    be used leaves none, because nobody knows what it is called."""
    sys.path[:] = [path for path in sys.path if path and not _is_below(path, tree)]
    sys.path.insert(0, str(folder / "lib"))
    sys.modules.pop("bernstein_gates", None)
    from bernstein_gates import GatePlugin  # the one beside this program

    found: dict[str, tuple[Any, str]] = {}
    for kind, where in (*_of_files(folder, GatePlugin), *_of_image(tree, GatePlugin)):
        gate = _made(kind, where)
        name = _name(gate, where)
        if name in taken:
            raise _invalid(where, f"'{name}' is the name of a built-in gate")
        if name in found:
            raise _invalid(where, f"'{name}' is the name of a gate in {found[name][1]}, too")
        found[name] = gate, where
    return found


def _is_below(path: str, tree: Path) -> bool:
    whole = Path(path).resolve()
    return whole == tree or tree in whole.parents


def _of_files(folder: Path, base: type) -> Iterator[tuple[type, str]]:
    """The classes that each file defines itself; what is left out in the middle of a line of
    heirs, an abstract class, is no gate."""
    for file in sorted((folder / "gates").glob("*.py")):
        where = f".bernstein/gates/{file.name}"
        name = f"bernstein_gate_file_{file.stem}"
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        with _loading(where):
            spec.loader.exec_module(module)
        for value in list(vars(module).values()):
            is_own = inspect.isclass(value) and value.__module__ == name
            if is_own and issubclass(value, base) and not inspect.isabstract(value):
                yield value, where


def _of_image(tree: Path, base: type) -> Iterator[tuple[type, str]]:
    """What packages of the image have under the group."""
    for point in sorted(set(_entry_points()), key=lambda each: (each.name, each.value)):
        where = f"the entry point '{point.name} = {point.value}' of the image"
        _expect_outside(point, where, tree)
        with _loading(where):
            value = point.load()
        if not inspect.isclass(value) or not issubclass(value, base):
            raise _invalid(where, "it is no class that is derived of bernstein_gates.GatePlugin")
        yield value, where


def _entry_points() -> Any:
    if sys.version_info >= (3, 10):  # noqa: UP036 - the Project's Python may be older than ours
        return metadata.entry_points(group=GROUP)
    return metadata.entry_points().get(GROUP, ())


def _expect_outside(point: metadata.EntryPoint, where: str, tree: Path) -> None:
    """Raises Unusable where its package lies in the tree, before anything of it runs: an image may
    have a package installed so that it is read from there."""
    package = point.value.partition(":")[0].strip().partition(".")[0]
    with _loading(where):
        spec = importlib.util.find_spec(package)
    if spec is None:
        raise _invalid(where, f"there is no package {package}")
    places = [spec.origin if spec.has_location else None, *(spec.submodule_search_locations or ())]
    if any(place is not None and _is_below(place, tree) for place in places):
        raise _invalid(where, "its package lies in the tree that is to be judged")


@contextlib.contextmanager
def _loading(where: str) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        traceback.print_exc()
        raise _invalid(where, f"it cannot be loaded: {_words(error)}") from error


def _made(kind: type, where: str) -> Any:
    try:
        return kind()
    except BaseException as error:
        traceback.print_exc()
        raise _invalid(
            where, f"no object can be made of {kind.__name__}: {_words(error)}"
        ) from error


def _name(gate: Any, where: str) -> str:
    name = _property(gate, "name", where)
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        text = f"its name is {name!r:.60}; it has to be lower-case letters, digits and '_'"
        raise _invalid(where, text)
    return name


def _property(gate: Any, name: str, where: str) -> object:
    try:
        value: object = getattr(gate, name)
    except BaseException as error:
        traceback.print_exc()
        raise _invalid(where, f"its {name} cannot be read: {_words(error)}") from error
    return value


def _invalid(where: str, text: str) -> Unusable:
    return Unusable("PluginInvalid", f"{where}: {text}")


def _words(error: BaseException) -> str:
    """The kind of the error with its own words, which may themselves be an error."""
    try:
        said = " ".join(str(error).split())
    except BaseException:  # noqa: BLE001 - whatever a class of somebody else's does
        said = ""
    return f"{type(error).__name__}: {said}"[:500] if said else type(error).__name__


# --- what one says ------------------------------------------------------------------------------


def asked(name: str, folder: Path, tree: Path, told: dict[str, Any], say: Any) -> Answer:
    """The verdict of the gate. `say`: called with what is known as soon as it is loaded."""
    found = gates(folder, tree, told["taken"])
    if name not in found:
        there = ", ".join(sorted(found)) or "none"
        text = (
            f"neither .bernstein/gates/*.py nor the image has a gate '{name}'; there are: {there}"
        )
        raise Unusable("PluginNotFound", text)
    gate, where = found[name]
    required, condition = _property(gate, "required", where), _condition(gate, where)
    if not isinstance(required, bool):
        raise _invalid(where, "its 'required' is neither True nor False")
    say({"required": required, "where": where})
    if told["ask_condition"] and condition != "always" and condition not in told["met"]:
        return _answer("Skipped", "ConditionNotMet")
    try:
        result = gate.run(list(told["changed"]), tree, str(told["title"]), str(told["description"]))
    except BaseException as error:  # noqa: BLE001 - SystemExit, too
        traceback.print_exc()
        return _failed(f"{where}: run() raised {_words(error)}{_line(error)}")
    wrong = _wrong(name, result)
    if wrong is not None:
        return _failed(f"{where}: {wrong}")
    return _read(result)


def _condition(gate: Any, where: str) -> str:
    condition = _property(gate, "condition", where)
    if isinstance(condition, str) and _OLD_CONDITION.fullmatch(condition):
        return "python_changed"
    if condition not in CONDITIONS:
        text = f"its condition is {condition!r:.60}; it has to be one of {', '.join(CONDITIONS)}"
        raise _invalid(where, text)
    return str(condition)


def _wrong(name: str, result: object) -> str | None:
    """What is wrong with a result, so that nobody knows what it means; None: nothing."""
    from bernstein_gates import GateResult

    if not isinstance(result, GateResult):
        return f"run() returned no GateResult, but {type(result).__name__}"
    if result.name != name:
        return f"its result is of a gate {result.name!r:.60}"
    if not isinstance(result.status, str) or result.status not in _VERDICTS:
        known = ", ".join(_VERDICTS)
        return f"the status of its result is {result.status!r:.60}; it has to be one of {known}"
    if not isinstance(result.blocked, bool) or (result.blocked and result.status == "pass"):
        return f"its result has status {result.status!r} and blocked={result.blocked!r:.60}"
    if not isinstance(result.details, str):
        return "the details of its result are no text"
    return None


def _read(result: Any) -> Answer:
    reason = {"fail": "PluginSaysNo", "skipped": "ConditionNotMet"}.get(result.status, "")
    return _answer(_VERDICTS[result.status], reason, result.details)


def _answer(verdict: str, reason: str = "", excerpt: str = "") -> Answer:
    return {"verdict": verdict, "reason": reason, "excerpt": excerpt[:_DETAILS]}


def _failed(text: str) -> Answer:
    return _answer("Errored", "PluginFailed", text)


def _line(error: BaseException) -> str:
    """Where it was raised, in words."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""


# --- the two processes --------------------------------------------------------------------------


def _ask(name: str, told: dict[str, Any], pipe: int) -> NoReturn:
    """The process that code of others runs in. It ends here, whatever that code has left."""
    os.setpgid(0, 0)

    def say(answer: Answer) -> None:
        os.write(pipe, json.dumps(answer).encode() + b"\n")

    try:
        try:
            answer = asked(name, HERE, Path.cwd().resolve(), told, say)
        except Unusable as error:
            answer = _answer("Errored", error.reason, str(error))
        _flush()  # whoever reads that it is done ends this process
        say(answer | {"done": True})
    finally:
        _flush()
        os._exit(0)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _protect() -> None:
    """Code of the tree that a plugin starts is a process of the same user."""
    try:
        import ctypes

        ctypes.CDLL(None).prctl(*_NOT_DUMPABLE, 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        sys.stderr.write("this Python cannot keep other processes out of this one\n")


def _heard(pid: int, pipe: int) -> Answer:
    """What the other process has said once it is through, or has ended."""
    known: Answer = {}
    left = b""
    until = time.monotonic() + LOAD_SECONDS
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        while select.select([pipe], [], [], 0 if ended else _LOOK_SECONDS)[0]:
            some = os.read(pipe, 65536)
            *lines, left = (left + some).split(b"\n")
            for line in lines:
                known |= json.loads(line)
            if known.get("done"):
                break
            if not some:  # it has closed its end
                time.sleep(_LOOK_SECONDS)
                break
        if known.get("done"):
            return known
        if ended:
            return known | _failed(_how_it_ended(known, status))
        if "where" not in known and time.monotonic() > until:
            text = f"the plugins were not loaded after {LOAD_SECONDS:.0f} s"
            return _answer("Errored", "PluginInvalid", text)


def _how_it_ended(known: Answer, status: int) -> str:
    what = "was killed" if os.WIFSIGNALED(status) else "ended its process"
    code = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    kind = "signal" if os.WIFSIGNALED(status) else "exit code"
    return f"{known.get('where', 'a plugin')}: it {what} ({kind} {code}) instead of an answer"


def _end(pid: int) -> None:
    """Nothing that the plugin has started is there when the verdict is written."""
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(pid, signal.SIGKILL)
    if os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)


def main(arguments: list[str]) -> int:
    name, file = arguments[0], Path(arguments[1] if arguments[1:] else "/dev/termination-log")
    told = json.loads((HERE / "change.json").read_text())
    reading, writing = os.pipe()
    _protect()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _ask(name, told, writing)
    os.close(writing)
    try:
        heard = _heard(pid, reading)
    finally:
        _end(pid)
    file.write_bytes(_message(name, heard))
    return 0


def _message(name: str, heard: Answer) -> bytes:
    """The verdict, with as much of its excerpt as the kubelet takes."""
    told: Answer = {key: heard.get(key) for key in ("verdict", "reason", "excerpt", "required")}
    while True:
        text = json.dumps({"name": name, **told}, ensure_ascii=False).encode("utf-8", "replace")
        if len(text) <= _MESSAGE_BYTES:
            return text
        told["excerpt"] = told["excerpt"][: len(told["excerpt"]) * 3 // 4]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
