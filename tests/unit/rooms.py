"""The rooms of the package, and the layers that the import contracts put them in."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "operator" / "bernstein"


def contracts(kind: str) -> list[dict[str, Any]]:
    """Those of that type, as pyproject.toml has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return [contract for contract in settings["contracts"] if contract["type"] == kind]


def layers(package: str) -> list[set[str]]:
    """The package's children that its contract names, from the uppermost layer down."""
    for contract in contracts("layers"):
        for container in contract.get("containers", [""]):
            named = [
                {f"{container}.{name}".lstrip(".") for name in re.findall(r"[\w.]+", layer)}
                for layer in contract["layers"]
            ]
            if {name.rpartition(".")[0] for layer in named for name in layer} == {package}:
                return [{name.rpartition(".")[2] for name in layer} for layer in named]
    raise AssertionError(f"no contract has layers of {package}")


def children(package: str) -> set[str]:
    """Modules and packages right inside a package."""
    folder = PACKAGE.parent.joinpath(*package.split("."))
    found = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    return found | {path.parent.name for path in folder.glob("*/__init__.py")}
