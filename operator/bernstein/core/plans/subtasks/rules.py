"""What subtasks may not say, wherever they are written: in a plan, or by an agent.

Which agent, model or repository; files that are not those of the Task that is split; parts of
their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bernstein.api.meta import LONGEST_RELATIVE_PATH
from bernstein.checks.globs import Listed, exactly, first_wildcard, plain
from bernstein.core.plans.field_errors import FieldError, quoted

FIELD = "subtasks"
NOT_ITS_OWN = (
    *("cli", "model", "effort", "repo", "depends_on_repo", "mode", "changes"),
    FIELD,
)
"""Fields of steps that a subtask does not have."""


def broken(
    path: str, listed: Sequence[object], own: tuple[str, ...], most: int | None
) -> Iterator[FieldError]:
    """All that the subtasks listed at `path` break. `own`: the files of what is split; `most`: how
    many there may be, where that is known."""
    if most is not None and len(listed) > most:
        yield FieldError(path, f"{path}: at most {most}, got {len(listed)}")
    yield from _not_its_own(path, listed)
    yield from _files(path, listed, own)


def _mappings(path: str, listed: Sequence[object]) -> Iterator[tuple[str, Mapping[object, object]]]:
    for index, entry in enumerate(listed):
        if isinstance(entry, dict):
            yield f"{path}[{index}]", entry


def _not_its_own(path: str, listed: Sequence[object]) -> Iterator[FieldError]:
    for place, entry in _mappings(path, listed):
        for key in NOT_ITS_OWN:
            if key in entry:
                where = f"{place}.{key}"
                yield FieldError(where, f"{where}: a subtask does not say that")


def _files(path: str, listed: Sequence[object], own: tuple[str, ...]) -> Iterator[FieldError]:
    """Where the Task that is split declares no files, its subtasks may change any."""
    if not own:
        return
    mine = Listed(own)
    for place, entry in _mappings(path, listed):
        files = entry.get("files")
        for index, each in enumerate(files if isinstance(files, list) else ()):
            if isinstance(each, str) and not _is_among(each, own, mine):
                where = f"{place}.files[{index}]"
                text = f"{quoted(each)} is none of the files of the task that is split"
                yield FieldError(where, f"{where}: {text}")


def own_files(listed: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    """The files of a subtask without problems."""
    mine = Listed(own)
    return tuple(_as_had(path, own, mine) or path for path in listed)


def _as_had(path: str, own: tuple[str, ...], mine: Listed) -> str | None:
    """The path as the Task has it. It may be a folder: where the Task has it by a glob that does
    not go on within that, what has the path's name alone. None: that cannot be written."""
    if not own or first_wildcard(path) is not None or mine.holds_all_in(plain(path)):
        return path
    glob = exactly(path)
    return glob if glob is not None and len(glob) <= LONGEST_RELATIVE_PATH else None


def _is_among(path: str, own: tuple[str, ...], mine: Listed) -> bool:
    """A glob is one of them where the list has it, or has the folder that it stays in."""
    if path in own:
        return True
    wildcard = first_wildcard(path)
    if wildcard is None:
        return mine.holds(plain(path)) and _as_had(path, own, mine) is not None
    folder = path[:wildcard].rpartition("/")[0]
    whole = [plain(entry) for entry in own if first_wildcard(entry) is None]
    return any(f"{folder}/".startswith(f"{entry}/") for entry in whole if folder)
