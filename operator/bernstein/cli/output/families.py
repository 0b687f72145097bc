"""Tasks in the order of their families: what one was split into stands below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bernstein.api.task import Task


def of_tasks(tasks: Sequence[Task]) -> Iterator[tuple[int, Task]]:
    """Each Task with how deep it stands; one whose parent is not among them is nobody's part."""
    places = {_name(task): place for place, task in enumerate(tasks)}
    below = [
        [place for name in _subtasks(task) if (place := places.get(name)) is not None]
        for task in tasks
    ]
    parts = {place for found in below for place in found}
    shown: set[int] = set()

    def family(place: int, depth: int) -> Iterator[tuple[int, Task]]:
        if place in shown:
            return
        shown.add(place)
        yield depth, tasks[place]
        for part in below[place]:
            yield from family(part, depth + 1)

    # Those that name each other are shown, too, after all others.
    for place in sorted(range(len(tasks)), key=lambda each: each in parts):
        yield from family(place, 0)


def _name(task: Task) -> tuple[str, str, str]:
    return task.metadata.namespace, task.metadata.name, task.metadata.uid


def _subtasks(task: Task) -> Iterator[tuple[str, str, str]]:
    for row in task.status.subtasks or ():
        if row.uid is not None:
            yield task.metadata.namespace, row.name, row.uid
