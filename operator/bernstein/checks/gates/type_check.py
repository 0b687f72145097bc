"""Gate `type_check`: the type checker finds no errors, or none that the base lacks.

Pyright passes over files for their names, and over folders that look like an environment. A work
that could choose either would choose what is judged. So the marks of environments get other names
first, and what is passed over for its name is named to pyright by a second call.
"""

from __future__ import annotations

from bernstein.checks.gate import Command, Gate
from bernstein.checks.linter_files import LINTER_FILES

_MARKS = (
    r"\( -name pyvenv.cfg -o -name conda-meta"
    r" -o -path '*/bin/activate' -o -path '*/Scripts/activate'"
    # Such a folder may lead out of the tree.
    r" -o -type l \( -name bin -o -name Scripts \) -exec test -e {}/activate \; \)"
)
_UNMARKED = (
    # A name that nobody knows beforehand: into a folder of that name `mv` would move the mark.
    "as=$(mktemp -u XXXXXXXX); "
    f"""find . -depth ! -path './.git/*' {_MARKS} -exec mv {{}} "{{}}.$as" \\; ; """
)
_CONFIGURED = (
    # Names that are passed over are so below the folder of the configuration: so it is one beside
    # the tree, which takes all else from that of the tree.
    """for of in pyrightconfig.json pyproject.toml ''; do [ -e "$of" ] && break; done; """
    """printf '{%s"executionEnvironments": [{"root": "%s", "extraPaths": ["%s/src"]}]}' """
    """"${of:+\\"extends\\": \\"$PWD/$of\\", }" "$PWD" "$PWD" > "$TMPDIR/pyrightconfig.json"; """
)
_NAMES = " -o ".join(
    f"-path '*/{name}'" for name in (".*", "node_modules/*", "__pycache__/*", "__editable__.*")
)
_PASSED_OVER = (
    rf"find . -name .git -prune -o \( \( -name '*.py' -o -name '*.pyi' \) \( {_NAMES} \)"
    r" -o -name '*.pyw' \) \( -type f -o -type l -exec test -f {} \; \)"
)
_OURS = '-p "$TMPDIR/pyrightconfig.json"'
_BEFORE = f"set -e; export PYRIGHT_PYTHON_IGNORE_WARNINGS=1; {_UNMARKED}{_CONFIGURED}"
_LISTS = f"""sh -c 'pyright --outputjson {_OURS} "$@" || [ $? -eq 1 ]' sh"""

COMMAND = Command(
    # What a type is, and which packages there are, is the Project's to configure: so its own files
    # count, as they were when the work began. Its wrapper would ask for a newer version.
    f"{_BEFORE}pyright; {_PASSED_OVER} -exec pyright {_OURS} {{}} +",
    pinned=LINTER_FILES,
    findings=f"{_BEFORE}pyright --outputjson || [ $? -eq 1 ]; {_PASSED_OVER} -exec {_LISTS} {{}} +",
    output="pyright",
)

GATE = Gate(
    name="type_check",
    condition="python_changed",
    default_on=False,
    runs=COMMAND,
)
