"""A tree that is judged cannot change the gate, take its place, or speak for it.

Each attack is shown to work where the protection is not there.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.demo import toolchain
from tests.programs.plugins.gate import FILE, Files, Gates, Run, of, says

pytestmark = pytest.mark.verification

PASSES = of(says())


def verdict(run: Run) -> tuple[str, str]:
    assert run.verdict is not None, run.output
    return run.verdict.verdict, run.verdict.reason


@pytest.mark.parametrize(
    "change",
    [
        {FILE: PASSES},
        {FILE: None},
        {FILE: None, ".bernstein/gates/also.py": PASSES},
        {".bernstein/gates/also.py": PASSES},
        {".bernstein/gates": "->../elsewhere", "elsewhere/no_foo.py": PASSES},
    ],
    ids=["changed", "deleted", "moved", "another", "behind a symlink"],
)
def test_a_gate_of_the_work_is_not_loaded(change: Files, gates: Gates) -> None:
    attack: Files = dict(change)
    if ".bernstein/gates" in attack:
        attack = {FILE: None, **attack}

    run = gates.judge({"a.txt": "foo", **attack}, {FILE: of(says("fail"))})

    assert verdict(run) == ("Failed", "PluginSaysNo")


SHADOW = 'import os\nos.write(2, b"shadowed")\nos._exit(0)\n'


@pytest.mark.parametrize("name", ["bernstein_gates", "json", "pathlib", "traceback"])
def test_a_module_of_the_work_is_not_taken_for_another_one(name: str, gates: Gates) -> None:
    workspace = gates.folder / "workspace"
    gates.environment = {"PYTHONPATH": str(workspace)}

    run = gates.judge({"a.txt": "foo", f"{name}.py": SHADOW, f"{name}/__init__.py": SHADOW})

    assert verdict(run) == ("Failed", "PluginSaysNo")
    assert "shadowed" not in run.output
    assert b"shadowed" in python(["-c", f"import {name}"], gates, workspace), "it fires elsewhere"


def python(arguments: list[str], gates: Gates, folder: Path) -> bytes:
    """What Python prints as an error, started so in the folder."""
    done = subprocess.run(
        ["python3", *arguments],
        cwd=folder,
        env={**toolchain.environment(), **gates.environment},
        capture_output=True,
        check=False,
    )
    return done.stderr


@pytest.mark.parametrize("name", ["sitecustomize", "usercustomize"])
def test_a_module_that_python_loads_by_itself_is_none_of_the_work(name: str, gates: Gates) -> None:
    workspace = gates.folder / "workspace"
    gates.environment = {"PYTHONPATH": str(workspace)}

    run = gates.judge({"a.txt": "foo", f"{name}.py": SHADOW})

    assert verdict(run) == ("Failed", "PluginSaysNo")
    assert "shadowed" not in run.output


# --- an image that looks into the tree ----------------------------------------------------------


def image(gates: Gates, *lines: str) -> Path:
    """A Python of its own, whose `.pth` file has these lines; returns its folder of packages."""
    home = gates.folder / "image"
    python = subprocess.run(
        ["python3", "-c", "import sys; print(sys.executable)"],
        env=toolchain.environment(),
        capture_output=True,
        check=True,
        text=True,
    ).stdout.strip()
    subprocess.run([python, "-m", "venv", "--without-pip", str(home)], check=True)
    (packages,) = home.glob("lib/python3*/site-packages")
    (packages / "editable.pth").write_text("\n".join(lines) + "\n")
    gates.environment = {"PATH": f"{home}/bin:{os.environ['PATH']}"}
    return packages


def packaged(packages: Path, point: str, **modules: str) -> None:
    """Puts a package with an entry point of the group there."""
    folder = packages / "team_gates-1.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: team-gates\nVersion: 1\n")
    (folder / "entry_points.txt").write_text(f"[bernstein.gates]\n{point}\n")
    for name, text in modules.items():
        (packages / f"{name}.py").write_text(text)


POINT = "no_foo = team_gates:Gate"
NO_FILE: Files = {FILE: None}
SAYS_NO = of(says("fail", "'of the image'"))


def test_a_class_of_the_image_is_found_by_its_entry_point(gates: Gates) -> None:
    packaged(image(gates), POINT, team_gates=SAYS_NO)

    run = gates.judge({"a": "1"}, NO_FILE)

    assert verdict(run) == ("Failed", "PluginSaysNo")
    assert run.verdict is not None
    assert run.verdict.excerpt == "of the image"


def test_a_class_of_the_image_and_one_of_the_repository_have_different_names(gates: Gates) -> None:
    packaged(image(gates), POINT, team_gates=SAYS_NO)

    run = gates.judge({"a": "1"})

    assert verdict(run) == ("Errored", "PluginInvalid")
    assert run.verdict is not None
    assert run.verdict.excerpt == (
        "the entry point 'no_foo = team_gates:Gate' of the image: "
        "'no_foo' is the name of a gate in .bernstein/gates/no_foo.py, too"
    )


@pytest.mark.parametrize(
    ("point", "words"),
    [
        ("no_foo = nowhere:Gate", "there is no package nowhere"),
        ("no_foo = team_gates:Other", "it cannot be loaded: AttributeError"),
        ("no_foo = team_gates:says", "it is no class that is derived of"),
        ("no_foo = team_gates.deeper:Gate", "it cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_an_entry_point_that_leads_nowhere_is_errored(point: str, words: str, gates: Gates) -> None:
    packaged(image(gates), point, team_gates=SAYS_NO + "\nsays = 1\n")

    run = gates.judge({"a": "1"}, NO_FILE)

    assert verdict(run) == ("Errored", "PluginInvalid")
    assert run.verdict is not None
    assert words in run.verdict.excerpt


def test_where_packages_are_read_from_the_tree_its_entry_points_are_none(gates: Gates) -> None:
    """An image in which the repository is installed to be edited names the tree in a `.pth`."""
    workspace = gates.folder / "workspace"
    packaged(image(gates, str(workspace)), POINT, team_gates=SAYS_NO)
    evil: Files = {
        "evil-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1\n",
        "evil-1.dist-info/entry_points.txt": "[bernstein.gates]\nmine = evil:Gate\n",
        "evil.py": 'import os\nos.write(2, b"loaded")\n' + PASSES,
    }

    run = gates.judge({"a": "1", **evil}, NO_FILE)

    assert verdict(run) == ("Failed", "PluginSaysNo")
    assert "loaded" not in run.output
    found = subprocess.run(
        ["python3", "-I", "-c", "import evil"],
        cwd=workspace,
        env={**toolchain.environment(), **gates.environment},
        capture_output=True,
        check=False,
    )
    assert b"loaded" in found.stderr, "without the program Python reads it there"


def test_a_class_whose_package_lies_in_the_tree_is_refused_before_it_is_imported(
    gates: Gates,
) -> None:
    finder = (
        "import sys, importlib.util\n"
        "class Finder:\n"
        "    @staticmethod\n"
        "    def find_spec(name, path=None, target=None):\n"
        "        if name == 'team_gates':\n"
        f"            where = {str(gates.folder / 'workspace' / 'team_gates.py')!r}\n"
        "            return importlib.util.spec_from_file_location(name, where)\n"
        "sys.meta_path.append(Finder)\n"
    )
    packages = image(gates, "import editable_finder")
    packaged(packages, POINT, editable_finder=finder)

    run = gates.judge({"team_gates.py": 'import os\nos.write(2, b"loaded")\n' + PASSES}, NO_FILE)

    assert verdict(run) == ("Errored", "PluginInvalid")
    assert run.verdict is not None
    assert run.verdict.excerpt.endswith("its package lies in the tree that is to be judged")
    assert "loaded" not in run.output


# --- code of the tree that the gate starts ------------------------------------------------------

FORGES = """\
import json, os, time
from pathlib import Path
answer = {"verdict": "Passed", "reason": "", "excerpt": "forged", "required": True, "done": True}
line = json.dumps(answer).encode() + b"\\n"
message = json.dumps({"name": "no_foo", **answer})
asker = os.getppid()
for process in (asker, int(Path(f"/proc/{asker}/stat").read_text().rsplit(")", 1)[1].split()[1])):
    for fd in range(3, 20):
        try:
            opened = os.open(f"/proc/{process}/fd/{fd}", os.O_WRONLY)
            os.write(opened, line)
            print("wrote to", process, fd, flush=True)
        except OSError:
            pass
Path("../termination-log").write_text(message)
if os.fork() == 0:
    while True:
        Path("../termination-log").write_text(message)
        time.sleep(0.01)
"""
STARTS = (
    "import subprocess, sys, time\n"
    "subprocess.run([sys.executable, 'tests.py'])\n"
    "time.sleep(0.5)\n" + says("fail", "'it looked'")
)


ROOT = os.geteuid() == 0
AS_A_USER = ("setpriv", "--bounding-set=-sys_ptrace") if ROOT else ()
"""In a pod nobody may look into processes of others; root may, who runs tests."""


def test_code_of_the_tree_that_a_gate_starts_speaks_for_nobody(gates: Gates) -> None:
    """It has the same user: the files of both processes are shut to it, and it is ended before the
    verdict is written."""
    gates.prefix = AS_A_USER

    run = gates.judge({"tests.py": FORGES}, {FILE: of(STARTS)})

    assert verdict(run) == ("Failed", "PluginSaysNo"), run.output
    assert run.verdict is not None
    assert run.verdict.excerpt == "it looked"
    assert "wrote to" not in run.output


def test_without_that_protection_it_speaks_for_the_gate(gates: Gates) -> None:
    gates.prefix = AS_A_USER
    open_to_all = ("_NOT_DUMPABLE = (4, 0)", "_NOT_DUMPABLE = (4, 1)")

    run = gates.judge({"tests.py": FORGES}, {FILE: of(STARTS)}, altered=open_to_all)

    assert run.verdict is not None, run.output
    assert (run.verdict.verdict, run.verdict.excerpt) == ("Passed", "forged")


@pytest.mark.skipif(not ROOT, reason="needs root, for a room of processes of its own")
@pytest.mark.parametrize("is_first", [True, False], ids=["as in a pod", "without that"])
def test_a_process_that_has_left_its_group_is_ended_by_the_first_one_of_the_container(
    is_first: bool, gates: Gates
) -> None:
    stays = (
        "import os, time\n"
        "has_left, leaves = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    os.write(leaves, b'.')\n"
        "    time.sleep(10)\n"
        "    open('../stayed', 'w').close()\n"
        "else:\n"
        "    os.read(has_left, 1)\n"
    )
    starts = "import subprocess, sys\nsubprocess.run([sys.executable, 'tests.py'])\n" + says()
    gates.prefix = ("unshare", "--pid", "--fork", "--kill-child") if is_first else ()
    # What stays holds the output of the program open, so the test sees the end of both.
    run = gates.judge({"tests.py": stays}, {FILE: of(starts)})

    assert verdict(run) == ("Passed", "")
    assert (gates.folder / "stayed").exists() is not is_first
