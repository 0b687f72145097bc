"""What people read of a pull request: made of statuses and of the words of its Plan or Task.

No word of an agent but the titles of subtasks, and none of a repository or of a command's output,
is in it. Whoever wrote the rest may not know the forge: nobody is mentioned, no issue is linked or
closed, no CI is left out, and no Markdown of theirs is one. The same status says the same, so that
a Job that is made once more changes nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from urllib.parse import quote

from bernstein.api.delivery import Delivery, PullRequest
from bernstein.api.integration import Integration
from bernstein.api.meta import Metadata
from bernstein.api.plan import Plan, PlanStatus, Step
from bernstein.api.plans.rows import PlanTask
from bernstein.api.plans.workflow import Node
from bernstein.api.project import Project
from bernstein.api.projects.repository import Repository
from bernstein.api.task import Task, TaskStatus
from bernstein.api.verification import CheckResult, Verification
from bernstein.core.sanitise import count, line, text
from bernstein.core.snapshot import PlanSnapshot, TaskSnapshot
from bernstein.core.verification.candidate import is_of_people

MOST_ROWS = 100
"""Steps that are listed; of all others their number is told."""
_TITLE = 200
_STEP = 120
_GOAL = 4000
_REASON = 200
_NAMED = 5
"""Bypassed gates that are named for a step."""
_DETAILS = 12_000
"""Characters of what steps were asked and by which checks they were judged, in all."""
_ASKED = 1000
_CHECKS = 20
"""Names of checks."""
_CHECK = 80
_LONGEST_ADDRESS = 300

_MEANS_SOMETHING = re.compile(
    r"(?i)[#!](?=\w)|&(?=\d)|(?<![a-z0-9_])G[HL]-(?=\d)|(?:[\w+.-]{1,32}:){1,4}//+"
    r"|\[(?=[^\[\]]*(?:skip|no[ _-]?ci))"  # [skip ci] keeps a forge's CI from running
    r"|\[(?=[a-z]\w{0,40}:)"  # [work_item:1] of GitLab
    r"|-(?=by\s*:)"  # Signed-off-by: is for people to say
    r"|(?-i:(?<![A-Z0-9_])[A-Z0-9_]+-(?=\d))"  # a key of Jira, or of whom it is like
)
_COMMITS = {"github": "commit", "gitea": "commit", "gitlab": "-/commit"}
"""Where the forges have the page of a commit, below that of its repository."""
_ADDRESS = re.compile(
    r"(?P<server>https://(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?)/(?P<path>[^?#\s]+)"
)
_DEFUSED = {"#": "\uff03", "!": "\uff01", "[": "\uff3b", "-": "\u2011", "&": "\uff06"}
"""They look like it to a reader, and mean nothing to a forge."""


@dataclass(frozen=True, slots=True)
class PullRequestText:
    title: str
    body: str
    """Markdown."""


@dataclass(frozen=True, slots=True)
class Piece:
    """What has landed of a Plan: a step, or a subtask of one."""

    row: PlanTask
    step: PlanTask
    """The row of the step."""

    @property
    def is_whole(self) -> bool:
        return self.row is self.step


def of_plan(
    snapshot: PlanSnapshot, status: PlanStatus, integration: Integration
) -> PullRequestText:
    """What a Plan delivers."""
    plan, meta = snapshot.plan, snapshot.plan.metadata
    pieces = landed(status)
    # Of several repositories each tells what its own steps have cost.
    several = any(row.repository is not None for row in status.tasks)
    its = sum((Decimal(row.spend_usd) for row in status.tasks), Decimal(0))
    spent = str(its) if several else status.spend_usd
    return _text(
        plan.spec.name,
        meta,
        f"{_whose('Plan', meta, snapshot.project, status.project)}: "
        f"{_how_many(status, pieces)}, ${_money(spent)}.",
        block(plan.spec.description),
        _table(plan, pieces, snapshot.tasks),
        _details(plan, pieces, snapshot.tasks),
        _whole(status, integration),
        _beside(snapshot.beside),
        _more(f"bernstein -n {meta.namespace} logs plan/{meta.name}", status.delivery),
    )


def of_task(snapshot: TaskSnapshot, status: TaskStatus) -> PullRequestText:
    """What a Task delivers by a pull request of its own."""
    task, meta, judged = snapshot.task, snapshot.task.metadata, status.verification
    assert judged is not None
    plan = snapshot.plan
    told = _whose("Task", meta, snapshot.project, status.project)
    told += f", of the Plan {code(plan.metadata.name)}" if plan is not None else ""
    return _text(
        task.spec.title,
        meta,
        f"{told}: {count(status.attempt, 'attempt')}, ${_money(status.spend_usd)}.",
        block(task.spec.description),
        f"Verified: {code(judged.sha)}, {_counted(judged.checks)}.{_theirs(judged)}",
        _named(judged.checks),
        _more(f"bernstein -n {meta.namespace} logs task/{meta.name}", status.delivery),
    )


def linked(words: PullRequestText, repository: Repository, sha: str | None) -> PullRequestText:
    """The same with a link to the commit that it proposes, where its page is known."""
    url = _address_of(repository, sha) if sha is not None else None
    if url is None:
        return words
    told = f"What was verified, and is to be merged: [`{sha}`]({url})\n"
    return replace(words, body=f"{words.body}\n{told}")


def _address_of(repository: Repository, sha: str) -> str | None:
    """The commit's page, by the Project's own address of the repository; None: it is not known."""
    below = _COMMITS.get(repository.forge.type) if repository.forge is not None else None
    parts = _ADDRESS.fullmatch(repository.url)
    if below is None or parts is None:
        return None
    # Of what an address may have, nothing ends a link of Markdown.
    path = quote(parts["path"].strip("/").removesuffix(".git"), safe="/%")
    return f"{parts['server']}/{path}/{below}/{sha}"


def why_closed(kind: str, meta: Metadata, project: Project | None, reason: str) -> str:
    """What is said on the pull request of what was cancelled."""
    told = f"{_whose(kind, meta, project, None)} was cancelled, so this pull request is closed."
    why = code(reason, _REASON)
    return "\n\n".join(filter(None, (told, f"Why: {why}" if why else ""))) + "\n"


def why_gone(kind: str, name: str, project: Project) -> str:
    """What is said on the pull request of what was deleted."""
    meta = Metadata(name=name, namespace=project.metadata.namespace)
    return f"{_whose(kind, meta, project, None)} was deleted, so this pull request is closed.\n"


def _text(title: str, meta: Metadata, *parts: str) -> PullRequestText:
    title = defused(title, _TITLE) or meta.name
    return PullRequestText(title, "\n\n".join(filter(None, parts)) + "\n")


def _whose(kind: str, meta: Metadata, project: Project | None, known: str | None) -> str:
    name = project.metadata.name if project is not None else known or ""
    return f"{kind} {code(f'{meta.namespace}/{meta.name}')} of the project {code(name)}"


def _more(command: str, delivery: Delivery | None) -> str:
    """Where all of it is told; with a key of the Project's, also how the commit that is to be
    merged proves it. Where commits are signed, that is another one than was judged."""
    lines = [command]
    if delivery is not None and delivery.sha is not None and delivery.attestation == "Signed":
        lines += [
            "git fetch origin '+refs/bernstein/attestations/*:refs/bernstein/attestations/*'",
            f"bernstein attest verify {delivery.sha} --key PUBLIC_KEY",
        ]
    told = "\n".join(f"$ {each}" for each in lines)
    return f"What every check has said, and who has approved what:\n\n```console\n{told}\n```"


def defused(value: str, limit: int) -> str:
    """Somebody's words on one line, in which no forge, and no tracker that reads along, finds a
    user, an issue or an address, a word that keeps CI from running, or a person who signs off."""
    return _plain(line(value, limit))


def _plain(value: str) -> str:
    """What is left may mean something again, such as `http:http:////a`: each time it is shorter."""
    while (told := _MEANS_SOMETHING.sub(_without_meaning, value)) != value:
        value = told
    return value


def _without_meaning(found: re.Match[str]) -> str:
    word = found[0]
    if word in _DEFUSED:
        return _DEFUSED[word]
    if word[-1] != "-":
        return ""  # what makes an address one
    is_key = not word.replace("_", "").rstrip("-").isdigit()  # 2030-01 is none
    return word[:-1] + _DEFUSED["-"] if is_key else word


def code(value: str, limit: int = _STEP) -> str:
    """As code on one line, which may stand in a table; empty where there is nothing to show."""
    plain = defused(value, limit).replace("`", "'").replace("|", "\u00a6")
    return f"`{plain}`" if plain else ""


def block(description: str | None, limit: int = _GOAL) -> str:
    """What was asked for, as a block of text."""
    words = text(description or "", limit)
    if not words:
        return ""
    rows = map(_plain, words.split("\n"))
    return "\n".join(("```text", *(row.replace("```", "'''") for row in rows), "```"))


def landed(status: PlanStatus) -> list[Piece]:
    """What has landed, in the order of steps: subtasks where the step is whose Task was split."""
    known = {row.name: row for row in status.tasks}
    place = {name: number for number, name in enumerate(known)}
    found = [Piece(row, _step_of(row, known)) for row in status.tasks if row.landed is not None]
    return sorted(found, key=lambda piece: place[piece.step.name])


def _step_of(row: PlanTask, known: Mapping[str, PlanTask]) -> PlanTask:
    while row.parent is not None and row.parent in known:
        row = known[row.parent]
    return row


def _how_many(status: PlanStatus, pieces: Sequence[Piece]) -> str:
    """A step that was split is done once its Task is Closed."""
    whole = {piece.step.name for piece in pieces if piece.is_whole or piece.step.state == "Closed"}
    told = f"{len(whole)} of {count(sum(row.parent is None for row in status.tasks), 'step')}"
    parts = sum(not piece.is_whole for piece in pieces)
    return f"{told}, {count(parts, 'subtask')}" if parts else told


def _table(plan: Plan, pieces: Sequence[Piece], tasks: Mapping[str, Task]) -> str:
    lines = ["| Step | Attempts | Verdicts | Cost |", "|---|---|---|---|"]
    for piece in pieces[:MOST_ROWS]:
        row, task = piece.row, tasks.get(piece.row.name)
        cells = (_called(plan, piece, task), str(row.attempts), _verdicts(task))
        lines.append(f"| {' | '.join(cells)} | ${_money(row.spend_usd)} |")
    if len(pieces) > MOST_ROWS:
        lines.append(f"| and {len(pieces) - MOST_ROWS} more | | | |")
    return "\n".join(lines) if pieces else ""


def _called(plan: Plan, piece: Piece, task: Task | None) -> str:
    step = code(heading(plan, piece.step))
    if piece.is_whole:
        return step
    return f"{step}: {code(task.spec.title if task is not None else piece.row.name)}"


def _details(plan: Plan, pieces: Sequence[Piece], tasks: Mapping[str, Task]) -> str:
    """What each step was asked, and by which checks it was judged, as far as there is room."""
    told: list[str] = []
    room = _DETAILS
    for piece in pieces[:MOST_ROWS]:
        part = _detail(plan, piece, tasks.get(piece.row.name))
        room -= len(part)
        if room < 0:
            told.append("What other steps were asked the Plan says.")
            break
        if part:
            told.append(part)
    return "\n\n".join(told)


def _detail(plan: Plan, piece: Piece, task: Task | None) -> str:
    judged = task.status.verification if task is not None else None
    asked = block(_asked(plan, piece, task), _ASKED)
    named = _named(judged.checks) if judged is not None else ""
    parts = [part for part in (asked, named) if part]
    return "\n\n".join((f"Step {_called(plan, piece, task)}:", *parts)) if parts else ""


def _asked(plan: Plan, piece: Piece, task: Task | None) -> str | None:
    """What the plan says of it; of a subtask that an agent has written that is nothing."""
    step = _step(plan, piece.step)
    if piece.is_whole or step is None:
        return step.description if step is not None else None
    said = step.subtasks if isinstance(step, Step) and piece.row.parent == piece.step.name else ()
    title = task.spec.title if task is not None else None
    return next((part.description for part in said if part.title == title), None)


def _named(checks: Sequence[CheckResult]) -> str:
    """What the checks are called, those of one verdict together."""
    by_verdict: dict[str, list[str]] = {}
    for each in checks[:_CHECKS]:
        by_verdict.setdefault(each.verdict, []).append(code(each.title or each.name, _CHECK))
    told = [f"{word}: {', '.join(those)}" for word, those in sorted(by_verdict.items())]
    more = [f"and {len(checks) - _CHECKS} more"] if len(checks) > _CHECKS else []
    return f"{'; '.join((*told, *more))}." if told else ""


def _beside(others: Sequence[tuple[str, PullRequest | None]]) -> str:
    """The Plan's other repositories, with the pull request in each that is known by now."""
    told = []
    for name, pull in others:
        page = _page(pull) if pull is not None else ""
        told.append(f"{code(name)}: {page}" if page else code(name))
    return f"The same Plan works in other repositories, too: {', '.join(told)}." if told else ""


def _page(pull: PullRequest) -> str:
    """Its address, by which people find it, or else its number."""
    parts = _ADDRESS.fullmatch(pull.url)
    if parts is None or len(pull.url) > _LONGEST_ADDRESS:
        return f"pull request {pull.number}"
    return f"<{parts['server']}/{quote(parts['path'], safe='/%')}>"


def heading(plan: Plan, row: PlanTask) -> str:
    step = _step(plan, row)
    if step is None:
        return row.name
    return step.heading if row.run in (None, 1) else f"{step.heading} (run {row.run})"


def _step(plan: Plan, row: PlanTask) -> Step | Node | None:
    if plan.spec.workflow is not None:
        return next((node for node in plan.spec.workflow.nodes if node.name == row.node), None)
    steps = next((stage.steps for stage in plan.spec.stages if stage.name == row.stage), ())
    known = row.step is not None and row.step < len(steps)
    return steps[row.step] if known and row.step is not None else None


def _verdicts(task: Task | None) -> str:
    judged = task.status.verification if task is not None else None
    return _counted(judged.checks) if judged is not None else "not known any more"


def _counted(checks: Iterable[CheckResult]) -> str:
    """How many checks said what, and without which gates a person has let it go on."""
    listed = [*checks]
    found = Counter(result.verdict for result in listed)
    told = ", ".join(f"{number} {verdict}" for verdict, number in sorted(found.items()))
    without = [code(r.name) for r in listed if r.verdict == "Bypassed"][:_NAMED]
    return f"{told} ({', '.join(without)})" if without else told or "none"


def _whole(status: PlanStatus, integration: Integration) -> str:
    judged: Verification | None = status.verification
    if judged is None:
        return f"Verified: {code(integration.tip)}, as its last step landed it."
    told = f"Verified as a whole: {code(judged.sha)}, {_counted(judged.checks)}."
    named = _named(judged.checks)
    return "\n\n".join(filter(None, (told + _theirs(judged), named)))


def _theirs(judged: Verification) -> str:
    """That it is not what agents have made alone."""
    return " It holds commits that people have pushed." if is_of_people(judged) else ""


def _money(amount: str) -> str:
    return f"{Decimal(amount):.2f}"
