"""What can be wrong with the repositories of a plan file: those that it lists, and those that its
steps name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from bernstein.api.project import ProjectSpec
from bernstein.core import graph
from bernstein.core.plans.field_errors import Findings, quoted
from bernstein.core.plans.fields import nodes_of, stages_of, steps_of
from bernstein.core.projects import repositories

_MOST_MEANT, _LONGEST_MEANT = 10, 64
"""Names for which it is looked for what may have been meant, and their characters: to compare two
long ones takes milliseconds, and a Plan has thousands."""


def judge(findings: Findings, data: Mapping[Any, Any], project: ProjectSpec | None) -> None:
    """Everything that takes more than one field to see."""
    known = _listed(findings, data, project)
    fields = [*_fields(data)]
    hints: dict[str, str] = {}
    for path, said in fields:
        if said not in known:
            if said not in hints:
                hints[said] = _unknown(said, known, guesses=len(hints) < _MOST_MEANT)
            findings.error_at(path, hints[said])
    worked_in = set(_worked_in(data, [*known]))
    for path, said in fields:
        if path.endswith(".depends_on_repo") and said in known and said not in worked_in:
            text = f"no step works in the repository {quoted(said)}, so there is none to wait for"
            findings.error_at(path, text)
    if not findings.errors and any(path.endswith(".depends_on_repo") for path, _ in fields):
        for circle in graph.cycles(_waits(data, [*known])):
            text = f"Cycle detected: {' -> '.join(circle)}"
            findings.error(_place_of(data, circle), text)


def _listed(
    findings: Findings, data: Mapping[Any, Any], project: ProjectSpec | None
) -> dict[str, str]:
    """The place of each entry of `repos`, by what it is called."""
    places: dict[str, str] = {}
    found: dict[str, str] = {}
    for path, entry in _entries(data):
        said, branch = entry["path"].strip(), entry.get("branch")
        name = entry.get("name")
        called = name.strip() if isinstance(name, str) and name.strip() else said
        if called in places:
            field = "name" if called != said else "path"
            findings.error_at(f"{path}.{field}", f"Duplicate repository: {quoted(called)}")
            continue
        places[called] = path
        its = _which(said, branch if isinstance(branch, str) else None, project)
        other = found.setdefault(its, path)
        if other != path:
            findings.error_at(f"{path}.path", f"the same repository as that of {other}")
    return places


def _which(said: str, branch: str | None, project: ProjectSpec | None) -> str:
    its = repositories.find(project, said, branch) if project is not None else None
    return its.name if its is not None else f"{repositories.address(said)} {branch or ''}"


def _entries(data: Mapping[Any, Any]) -> Iterator[tuple[str, Mapping[Any, Any]]]:
    """Those that can be read; what is wrong with others is told elsewhere."""
    listed = data.get("repos")
    for index, entry in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(entry, dict) and isinstance(entry.get("path"), str):
            yield f"repos[{index}]", entry


def _fields(data: Mapping[Any, Any]) -> Iterator[tuple[str, str]]:
    """Each place where a repository is named, with its name."""
    for path, stage in stages_of(data):
        yield from _named(path, stage, "repo")
    for path, step in steps_of(data):
        yield from _named(path, step, "repo")
        yield from _named(path, step, "depends_on_repo")
    for path, _, node in nodes_of(data):
        yield from _named(path, node, "repo")


def _worked_in(data: Mapping[Any, Any], known: list[str]) -> Iterator[str]:
    """What steps call the repositories that they work in."""
    for _, stage in stages_of(data):
        steps = stage.get("steps")
        for step in steps if isinstance(steps, list) else ():
            if isinstance(step, dict) and known:
                yield _where(stage, step, known)


def _where(stage: Mapping[Any, Any], step: Mapping[Any, Any], known: list[str]) -> str:
    """What a step calls the repository that it works in."""
    return _word(step, "repo") or _word(stage, "repo") or known[0]


def _named(path: str, of: Mapping[Any, Any], field: str) -> Iterator[tuple[str, str]]:
    said = of.get(field)
    if isinstance(said, str) and said.strip():
        yield f"{path}.{field}", said.strip()


def _unknown(said: str, known: Mapping[str, str], *, guesses: bool) -> str:
    if not known:
        return f"unknown repository {quoted(said)}: the plan lists none in 'repos'"
    meant: list[str] = []
    if guesses and len(said) <= _LONGEST_MEANT:
        short = [name for name in known if len(name) <= _LONGEST_MEANT]
        meant = get_close_matches(said, short, n=1)
    hint = f", did you mean {quoted(meant[0])}?" if meant else ""
    return f"unknown repository {quoted(said)}{hint} 'repos' has: {', '.join(known)[:300]}"


def _waits(data: Mapping[Any, Any], known: list[str]) -> dict[str, tuple[str, ...]]:
    """What comes first: before a stage its steps, before a step the stages before its own and the
    repository that it names, before a repository all steps in it."""
    declared = [(_word(stage, "name"), _upstream(stage)) for _, stage in stages_of(data)]
    before = graph.dependencies(declared)
    waits: dict[str, tuple[str, ...]] = {name: () for name, _ in declared}
    waits |= {_repository(name): () for name in known}
    for _, stage in stages_of(data):
        name = _word(stage, "name")
        for step in stage.get("steps", ()):
            title = f"step '{_word(step, 'title') or _word(step, 'goal')}'"
            after = _word(step, "depends_on_repo")
            waits[title] = (*before[name], *((_repository(after),) if after else ()))
            waits[name] += (title,)
            waits[_repository(_where(stage, step, known))] += (title,)
    return waits


def _repository(name: str) -> str:
    return f"repository '{name}'"


def _word(of: Mapping[Any, Any], field: str) -> str:
    said = of.get(field)
    return said.strip() if isinstance(said, str) else ""


def _upstream(stage: Mapping[Any, Any]) -> list[str] | None:
    said = stage.get("depends_on")
    return [name.strip() for name in said] if isinstance(said, list) else None


def _place_of(data: Mapping[Any, Any], circle: tuple[str, ...]) -> str:
    """The first of its steps that waits for a repository."""
    for path, step in steps_of(data):
        title = f"step '{_word(step, 'title') or _word(step, 'goal')}'"
        if title in circle and _word(step, "depends_on_repo"):
            return f"{path}.depends_on_repo"
    return "stages"
