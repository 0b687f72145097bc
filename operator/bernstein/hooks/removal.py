"""What is in the way of an uninstall: `python3 -m bernstein.hooks.removal`.

Without an operator sessions and agents' pods keep their finalizers, and nobody hears how they end.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from bernstein.api.states import SessionState
from bernstein.core.labels import FINALIZER
from bernstein.core.sanitise import line
from bernstein.hooks.program import Failed, run, say
from bernstein.kube.client import Client
from bernstein.kube.errors import NotFound
from bernstein.kube.resource import Object, Resource, key_of
from bernstein.resources import PLANS, SESSIONS, TASKS

_LOOK_SECONDS = 2.0
_PAGE = 100
"""So many objects are read at once."""
_NAMED = 20
"""So many objects are named."""
_WORDS = 80
_RESTS = ("Suspended", "PlanSuspended", "AwaitingApproval", "PullRequestOpen")
"""Reasons to wait of what nothing of runs: it goes on when the chart is installed again."""


@dataclass(frozen=True)
class Removal:
    namespaces: tuple[str, ...]
    """That are watched; empty: all."""
    cancel: bool
    """Whether what is at work is cancelled, and waited for."""
    seconds: float = 270.0


def at_work(
    resource: Resource, objects: Iterable[Object], runs: Collection[str] = ()
) -> list[Object]:
    """Those that the operator has still to hear of. What stands still for a person is not among
    them, nor what is suspended, unless a session of it runs.

    `runs`: uids of the Tasks and Plans of such sessions.
    """
    return [
        each
        for each in objects
        if _is_held(each) or _is_under_way(resource, each) or each["metadata"].get("uid") in runs
    ]


def owners(sessions: Iterable[Object]) -> set[str]:
    """Uids of the Tasks and Plans of these sessions, of those that have not ended."""
    return {
        each["spec"][ref]["uid"]
        for each in sessions
        for ref in ("taskRef", "planRef")
        if ref in each["spec"] and each.get("status", {}).get("state") != SessionState.DEAD
    }


def _is_held(obj: Object) -> bool:
    """A session keeps our finalizer when it has ended, for when it is deleted."""
    meta = obj["metadata"]
    ended = obj.get("status", {}).get("state") == SessionState.DEAD
    return FINALIZER in meta.get("finalizers", ()) and (not ended or "deletionTimestamp" in meta)


def _is_under_way(resource: Resource, obj: Object) -> bool:
    if resource is SESSIONS:
        return False  # it is held as long as it runs
    status = obj.get("status", {})
    if status.get("observedGeneration", -1) < 0:
        return not obj["spec"].get("suspend", False)
    return any(
        each["type"] == "Reconciling" and each["status"] == "True" and each["reason"] not in _RESTS
        for each in status.get("conditions", ())
    )


def told(resource: Resource, obj: Object) -> str:
    """The object, and what it does."""
    status, key = obj.get("status", {}), key_of(obj)
    does = status.get("state") or status.get("phase") or "new"
    return f"{resource.kind} {key.namespace}/{key.name} ({line(str(does), _WORDS)})"


def refusal(found: Sequence[str], removal: Removal) -> Failed:
    """Says what is in the way, and what can be done."""
    rest = f"; and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    named = "; ".join(found[:_NAMED])
    if removal.cancel:
        message = (
            f"this was cancelled and has not ended within {removal.seconds:.0f} s: {named}{rest}"
        )
        return Failed("StillAtWork", message, "wait, and run `helm uninstall` again")
    return Failed(
        "StillAtWork",
        f"without Bernstein this would never end: {named}{rest}",
        "wait until it has ended, cancel it (`bernstein cancel NAME`), or delete its Plans and "
        "Tasks; then run `helm uninstall` again. `helm uninstall --no-hooks` leaves it as it is",
    )


async def attempt(client: Client, removal: Removal, tell: Callable[[str], None] = say) -> None:
    """Raises Failed with what is in the way."""
    deadline = asyncio.get_running_loop().time() + removal.seconds
    while True:
        found = await _found(client, removal)
        if not found:
            tell("Nothing is at work: Bernstein may go")
            return
        if removal.cancel:
            await _cancel(client, found, tell)
        if not removal.cancel or asyncio.get_running_loop().time() > deadline:
            raise refusal([told(*each) for each in found], removal)
        await asyncio.sleep(_LOOK_SECONDS)


async def _found(client: Client, removal: Removal) -> list[tuple[Resource, Object]]:
    """Of a long list no more is kept than what is at work."""
    sessions = [each async for each in _of_a_kind(client, removal, SESSIONS)]
    runs = owners(sessions)
    above = [
        (resource, each)
        for resource in (PLANS, TASKS)
        async for each in _of_a_kind(client, removal, resource, runs)
    ]
    return [*above, *((SESSIONS, each) for each in sessions)]


async def _of_a_kind(
    client: Client, removal: Removal, resource: Resource, runs: Collection[str] = ()
) -> AsyncIterator[Object]:
    def take(obj: Object) -> list[Object]:
        return at_work(resource, [obj], runs)

    for namespace in removal.namespaces or (None,):
        # Without its CRD there is nothing of a kind.
        with contextlib.suppress(NotFound):
            kept, _ = await client.read(resource, namespace, take, {}, limit=_PAGE)
            for each in itertools.chain.from_iterable(kept):
                yield each


async def _cancel(
    client: Client, found: Iterable[tuple[Resource, Object]], tell: Callable[[str], None]
) -> None:
    for resource, obj in to_cancel(found):
        tell(f"Cancelling {told(resource, obj)}")
        key = key_of(obj)
        change = {"spec": {"cancel": {"reason": "Bernstein is being uninstalled"}}}
        with contextlib.suppress(NotFound):  # it has been deleted since
            await client.patch(resource, key.name, key.namespace, change)


def to_cancel(found: Iterable[tuple[Resource, Object]]) -> Iterator[tuple[Resource, Object]]:
    """Plans, and Tasks of none: the operator cancels those of a Plan itself."""
    for resource, obj in found:
        meta = obj["metadata"]
        owned = any(owner["kind"] == PLANS.kind for owner in meta.get("ownerReferences", ()))
        if resource is SESSIONS or owned or "deletionTimestamp" in meta:
            continue
        if "cancel" not in obj["spec"]:
            yield resource, obj


def _arguments() -> Removal:
    parser = argparse.ArgumentParser(prog="bernstein-removal", description=__doc__)
    add = parser.add_argument
    add("--watch", action="append", default=[], help="namespace (again for more); default: all")
    add("--cancel", action="store_true", help="cancel what is at work, and wait for it")
    add("--seconds", type=float, default=270.0, help="how long that may take")
    found = parser.parse_args()
    return Removal(tuple(found.watch), found.cancel, found.seconds)


def main() -> None:
    """Looks once; with --cancel until nothing is at work."""
    removal = _arguments()
    run(lambda client: attempt(client, removal))


if __name__ == "__main__":
    main()
