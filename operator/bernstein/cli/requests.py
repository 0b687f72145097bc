"""Requests, as the command line makes them: appended to `spec.requests`, answered by the operator.

`by` must be the user's own name, which the API server knows and tells.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from bernstein.api.meta import is_line
from bernstein.api.plan import Plan
from bernstein.api.reasons import Reason
from bernstein.api.requests import KILL, MOST_REQUESTS, UNBLOCK, Answer, Request
from bernstein.api.states import TaskState
from bernstein.api.task import Task
from bernstein.cli.cluster import Cluster
from bernstein.cli.errors import INVALID, CliError
from bernstein.cli.naming import called, find, resource_of
from bernstein.cli.output.terminal import Terminal
from bernstein.core.reasons import policy
from bernstein.core.requests import answer_for, unanswered, with_room
from bernstein.core.sanitise import line
from bernstein.core.waiting import parted
from bernstein.kube.errors import ApiError, Conflict, Forbidden, NotFound
from bernstein.kube.resource import SELF_SUBJECT_REVIEWS

_TRIES = 5
_TICK = 0.5
LONGEST_REQUEST_REASON = 300
ANSWER_SECONDS = 15.0
"""An answer is waited for; the operator gives it within a few."""
_NEXT = {
    "NothingToRetry": "see how it stands with `bernstein logs {name}`",
    "TaskDeleted": "apply a Plan with what is left, under another name; or, where all the rest is "
    "Closed, deliver that: `bernstein deliver {name} --partial`",
    "PushedTo": "push to its branch what mends it, or cancel it with `bernstein cancel {name}`",
    "NothingToVerify": "see what it does, or waits for, with `bernstein logs {name}`",
    "NothingToMerge": "see what it does, or waits for, with `bernstein logs {name}`",
    "MergeInProgress": "ask again once the merge is over",
    "NotBlocked": "see what it does, or waits for, with `bernstein logs {name}`",
    "NotClaimed": "ask for Kill, which ends an agent at work, or `bernstein cancel {name}`",
    "NothingToKill": "see how it ended with `bernstein logs {name}`",
    "Cancelled": "apply the work anew, under another name",
    "PlanEnded": "apply the work anew, under another name",
    "BeingDelivered": "see how far it is with `bernstein status`",
    "OperatorTooOld": "run the version of the operator that the CRDs are from",
}
"""What helps where a request is refused for a reason that only requests have."""

_WITH_SESSION = (TaskState.CLAIMED, TaskState.IN_PROGRESS)

S = TypeVar("S", Plan, Task, Plan | Task)


class UnknownUserError(CliError):
    """The API server does not say who the user is."""

    def __init__(self, refusal: ApiError) -> None:
        super().__init__(
            "UnknownUser",
            f"the API server does not tell who you are: {line(refusal.message, 300)}",
            "allow 'create' on 'selfsubjectreviews' of authentication.k8s.io to you, as the "
            "cluster's role system:basic-user does",
        )


def check_reason(reason: str, longest: int = LONGEST_REQUEST_REASON) -> None:
    """Raises CliError where it is none that a request can have, or what else takes `longest`."""
    if not 1 <= len(reason) <= longest or not is_line(reason):
        message = f"a reason is one line of 1 to {longest} characters, all of them visible"
        raise CliError("InvalidReason", message, "say why with --reason", INVALID)


async def ask(cluster: Cluster, subject: Plan | Task, verb: str, reason: str) -> str:
    """Ask for it, and return the request's id; one that has no answer and does the same will do."""
    user = await user_name(cluster)
    for _ in range(_TRIES):
        asked, answers = subject.spec.requests, subject.status.requests
        new = Request(
            id=f"{verb.lower()}-{secrets.token_hex(6)}", verb=verb, by=user, reason=reason
        )
        waits = [request for request in unanswered(asked, answers) if _will_do(request, new)]
        if waits:
            return waits[0].id
        body = {
            "metadata": {"resourceVersion": subject.metadata.resource_version},
            "spec": {"requests": [*_kept(subject), new.dump()]},
        }
        name = subject.metadata.name
        try:
            await cluster.client.patch(resource_of(subject), name, cluster.namespace, body)
        except Conflict:
            subject = await again(cluster, subject)
            continue
        return new.id
    text = f"{called(subject)} changes too often to be asked for anything"
    raise CliError("Conflict", text, "try again")


def _will_do(request: Request, new: Request) -> bool:
    """Whether nothing is lost where this one stands for the new one: of Unblock an agent is told
    the reason."""
    if request.verb != new.verb:
        return False
    return new.verb != UNBLOCK or (request.by, request.reason) == (new.by, new.reason)


def _kept(subject: Plan | Task) -> list[dict[str, Any]]:
    """What was asked for before; where there is no room, an answered request goes."""
    made: tuple[Request, ...] = subject.spec.requests
    asked = with_room(made, subject.status.requests)
    if len(asked) >= MOST_REQUESTS:
        raise CliError(
            "TooManyRequests",
            f"{called(subject)} has {MOST_REQUESTS} requests without an answer",
            "ask again once the operator has answered one; does it run? `bernstein doctor`",
        )
    return [request.dump() for request in asked]


async def user_name(cluster: Cluster) -> str:
    """The user's name, as the API server knows it.

    Raises UnknownUserError where it does not say.
    """
    review = {
        "apiVersion": SELF_SUBJECT_REVIEWS.api_version,
        "kind": SELF_SUBJECT_REVIEWS.kind,
    }
    try:
        answer = await cluster.client.create(SELF_SUBJECT_REVIEWS, review)
    except (Forbidden, NotFound) as error:
        raise UnknownUserError(error) from error
    return str(answer["status"]["userInfo"]["username"])


async def author_name(terminal: Terminal, cluster: Cluster) -> dict[str, str]:
    """The field `author` of what is made now; without it where nobody tells the name, which is
    said: only a policy by which an author may not approve needs it."""
    try:
        return {"author": await user_name(cluster)}
    except UnknownUserError as error:
        needs = "spec.author stays empty, which a policy with approverIsNotAuthor does not take"
        terminal.complain(f"! {error.message}: {needs}", "yellow")
        terminal.complain(f"  {error.remedy}")
        return {}


async def again(cluster: Cluster, subject: S) -> S:
    """The same object, read once more."""
    kind = resource_of(subject).kind.lower()
    current = await find(cluster, f"{kind}/{subject.metadata.name}")
    assert isinstance(current, type(subject))
    return current


async def answer_to(
    cluster: Cluster,
    subject: S,
    request: str,
    seconds: float,
    enough: Callable[[S], bool] = lambda _: False,
) -> tuple[S, Answer | None]:
    """The object with the answer, waited for so long, or until that is `enough`; None: there is
    none yet."""
    clock: Callable[[], float] = asyncio.get_running_loop().time
    end = clock() + seconds
    while True:
        subject = await again(cluster, subject)
        answer = answer_for(request, subject.status.requests)
        if answer is not None or enough(subject) or clock() >= end:
            return subject, answer
        await asyncio.sleep(_TICK)


async def of_task(
    cluster: Cluster,
    name: str,
    verb: str,
    reason: str,
    enough: Callable[[Task], bool] = lambda _: False,
) -> tuple[Task, str, Answer | None]:
    """Ask it of the Task `name`: the Task, the request's id, and the answer if it came in time.

    Raises CliError where it is refused.
    """
    subject = await find(cluster, f"task/{name.removeprefix('task/')}")
    assert isinstance(subject, Task)
    task: Task = subject
    request = await ask(cluster, task, verb, reason)
    task, answer = await answer_to(cluster, task, request, ANSWER_SECONDS, enough)
    if answer is not None and answer.answer == "Refused":
        raise refused(task, answer)
    return task, request, answer


def refused(
    subject: Plan | Task, answer: Answer, known: Mapping[str, str] = MappingProxyType({})
) -> CliError:
    """What to tell of a request that was refused; `known` as of `refusal`."""
    return refusal(subject, answer.verb, answer.reason, answer.message, known)


def refusal(
    subject: Plan | Task,
    verb: str,
    reason: str,
    message: str,
    known: Mapping[str, str] = MappingProxyType({}),
) -> CliError:
    """What to tell of a request that is refused for this. `known`: what helps here where that is
    something else than with other verbs, by the reason; the message's own remedy goes before."""
    message, own = parted(message)
    text = f"{called(subject)}: {verb} is refused: {line(message, 500)}"
    name = f"{'plan/' * isinstance(subject, Plan)}{subject.metadata.name}"
    helps = line(own, 1024) if own else {**_NEXT, **known}.get(reason, "").format(name=name)
    if not helps and reason in set(Reason):
        helps = policy(reason).remedy
    return CliError(reason, text, helps)


def not_answered(subject: Plan | Task) -> CliError:
    """What to tell of a request that has no answer in time: nobody knows yet what comes of it."""
    text = f"{called(subject)}: it is asked for; the operator has not answered yet"
    helps = "the request stands, and asking again adds none; does it run? `bernstein doctor`"
    return CliError("NotAnswered", text, helps)


async def end_sessions(cluster: Cluster, reason: str) -> dict[str, CliError | None]:
    """Ask for the end of every session of the namespace, at once and without a soft stop.

    Returns the names of their Tasks, in the order of their age, each with why it cannot be asked,
    if so: that saves no other. One that ends meanwhile is refused by the operator: nobody waits for
    the answers here.
    """
    check_reason(reason)
    at_work = [task for task in await cluster.tasks() if task.status.state in _WITH_SESSION]
    asked: dict[str, CliError | None] = {}
    for task in at_work:
        try:
            await ask(cluster, task, KILL, reason)
        except UnknownUserError:
            raise
        except NotFound:
            continue  # its session goes with it
        except CliError as problem:
            if problem.reason != "NotFound":
                asked[task.metadata.name] = problem
            continue
        asked[task.metadata.name] = None
    return asked
