"""Makes and cancels Tasks of a Plan, for what it says itself and for a Task of it that is split."""

from __future__ import annotations

from bernstein.controllers import job_actions
from bernstein.controllers.wiring import Context
from bernstein.controllers.writer import check_content
from bernstein.core.actions import CancelTasks, CreateTasks
from bernstein.kube.errors import NameConflict
from bernstein.kube.resource import Key, Object, controller_of
from bernstein.resources import TASKS


async def change(action: CreateTasks | CancelTasks, key: Key, context: Context) -> None:
    """For the object of this key, which asks for it. Of those to be made it makes none where the
    cache shows that a name is taken. Raises NameConflict, Refused and KubeError."""
    if isinstance(action, CancelTasks):
        for name in action.names:
            body = {"spec": {"cancel": action.cancel.dump()}}
            await context.writer.merge(key, TASKS, name, body)
        return
    for task in action.objects:
        _check_name(task, key, context)
    for task in action.objects:
        with job_actions.refusable(TASKS, task["metadata"]["name"], key, context):
            await context.writer.create(key, TASKS, task)


def _check_name(task: Object, key: Key, context: Context) -> None:
    live = context.caches.tasks.informer.get(Key(key.namespace, task["metadata"]["name"]))
    if live is None:
        return
    if _owner_uid(live) != _owner_uid(task):
        raise NameConflict("the name is taken", live=live, differs="owner")
    check_content(TASKS, live, task)


def _owner_uid(task: Object) -> str | None:
    return (controller_of(task) or {}).get("uid")
