"""The ConfigMap with which Argo CD learns our kinds, made of the scripts in `gitops/argocd`.

python -m tests.platform.gitops.customizations           # writes it
python -m tests.platform.gitops.customizations --check   # fails where it is not current
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[3] / "gitops" / "argocd"
FILE = FOLDER / "argocd-cm.yaml"
_HEAD = """\
# Made of the scripts beside it by `make generate`. To be merged into Argo CD's own ConfigMap:
# kubectl --namespace argocd patch configmap argocd-cm --patch-file argocd-cm.yaml
"""


class _Dumper(yaml.SafeDumper):
    """Scripts stay readable."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def kinds() -> list[Path]:
    """The folder of each kind, in Argo CD's own layout: group, kind."""
    return sorted(path.parent for path in FOLDER.glob("*/*/health.lua"))


def data() -> dict[str, str]:
    """What `argocd-cm` has to hold."""
    made: dict[str, str] = {}
    for folder in kinds():
        key = f"{folder.parent.name}_{folder.name}"
        made[f"resource.customizations.health.{key}"] = (folder / "health.lua").read_text()
        actions = folder / "actions"
        if actions.is_dir():
            made[f"resource.customizations.actions.{key}"] = _dump(_actions(actions))
    return made


def _actions(folder: Path) -> dict[str, Any]:
    return {
        "discovery.lua": (folder / "discovery.lua").read_text(),
        "definitions": [
            {"name": path.parent.name, "action.lua": path.read_text()}
            for path in sorted(folder.glob("*/action.lua"))
        ],
    }


def _dump(value: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, width=1000)
    return text


def text() -> str:
    """The file that a user applies."""
    return _HEAD + _dump({"data": data()})


def main(arguments: list[str]) -> int:
    if arguments == ["--check"]:
        return int(not FILE.exists() or FILE.read_text() != text())
    FILE.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
