"""What can be told of a prompt from outside of its pod: all of it, or what is known without the
repository."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bernstein.api.projects.knowledge import Knowledge
from bernstein.api.projects.workplace import Workplace
from bernstein.api.session import AgentSession, Prompt
from bernstein.cli.errors import CliError
from bernstein.cli.local import prompts
from bernstein.cli.local.git import GitFailed
from bernstein.cli.local.prompts import Asked, Clone, Lacking
from bernstein.core.delivery import kept
from bernstein.core.prompts import knowledge, parts
from bernstein.core.prompts.assembly import Assembled, ContextFile, Told
from bernstein.core.prompts.complete import complete, unshown
from bernstein.core.sanitise import line
from bernstein.core.sessions.prompt import of_snapshot
from bernstein.core.snapshot import TaskSnapshot
from bernstein.pods.errors import PodError

_OLD_KEY = "prompt.md"
"""An older release kept the whole prompt under the session's own name."""
_MARK = "0" * 24
"""Stands for the one that the pod draws."""
_NOT_ALL = "not here: what the pod adds, which reads the repository and draws the mark"


@dataclass(frozen=True)
class Shown:
    """What can be told of a prompt from here."""

    text: str
    exact: bool = False
    """It is what the agent got, to the byte."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of each of its parts."""
    notes: tuple[str, ...] = ()
    """Why it is not exact, and what helps."""


@dataclass(frozen=True)
class Began:
    """A session whose prompt's parts are there."""

    session: AgentSession
    content: Mapping[str, str]
    """Of its ConfigMap."""
    project: Workplace | None
    """None: it is gone, or the caller may not read it."""

    @property
    def given(self) -> Prompt | None:
        """None: its agent has not begun."""
        return self.session.status.prompt


# --- what an agent got ---------------------------------------------------------------------------


async def shown(subject: Began, repo: str) -> Shown:
    """The prompt of its agent, as far as the clone at `repo` has what it is made of."""
    session, content, given = subject.session, subject.content, subject.given
    if given is None or given.mark is None or _OLD_KEY in content:
        return shown_of(content, session)
    asked = Asked(content, given, session.spec.rejected)
    clone, problem = await _clone(repo) if _needs(asked) else (None, "")
    if problem:
        return shown_of(content, session, problem, "name a clone with --repo")
    try:
        made = await prompts.put_together(asked, clone)
    except Lacking as lacking:
        text = f"the clone at {repo} lacks {lacking}"
        shallow = clone is not None and clone.is_shallow
        fetches = (f"`{each}` brings it" for each in _fetches(subject, lacking, shallow=shallow))
        return shown_of(content, session, text, *fetches)
    except PodError as error:
        return shown_of(content, session, f"git cannot read {repo}: {line(error.message, 300)}")
    return compared(given, made, partial=clone is not None and clone.is_partial)


def _needs(asked: Asked) -> tuple[str, ...]:
    try:
        return asked.needs
    except ValueError as error:
        raise CliError("InvalidObject", f"the prompt cannot be read: {error}") from error


async def _clone(repo: str) -> tuple[Clone | None, str]:
    """The clone, or why there is none."""
    try:
        return await prompts.find(repo), ""
    except GitFailed as error:
        return None, f"no clone is at {repo}: {line(str(error), 300)}"


def _fetches(subject: Began, lacking: Lacking, *, shallow: bool) -> list[str]:
    """The commands that bring these commits into a clone."""
    spec = subject.session.spec
    ref_of = {spec.rejected.sha: spec.rejected.ref} if spec.rejected is not None else {}
    refs = dict.fromkeys(ref_of.get(sha, spec.base_ref) for sha in lacking.commits)
    commands = [kept.fetch(subject.project, ref) for ref in refs]
    deep = "git fetch --unshallow "
    return [each.replace("git fetch ", deep, 1) if shallow else each for each in commands]


def compared(given: Prompt, made: Assembled, *, partial: bool = False) -> Shown:
    """The prompt that was put together anew, and whether it is what the agent got. `partial`: the
    clone may lack contents of files."""
    if hashlib.sha256(made.text.encode()).hexdigest() == given.digest:
        return Shown(made.text, exact=True, sizes=made.sizes)
    there = given.parts
    differ = [
        f"{name} ({there.get(name, 0):,} bytes there, {made.sizes.get(name, 0):,} here)"
        for name in dict.fromkeys((*there, *made.sizes))
        if there.get(name, 0) != made.sizes.get(name, 0)
    ]
    where = f"different in {', '.join(differ)}" if differ else "of the same length in every part"
    why = "The pod may have had another release of Bernstein, Python or git."
    if partial:
        why = "The clone is a partial one: `git fetch --refetch --no-filter` brings all contents."
    notes = (f"This is not what the agent got: {where}.", why)
    return Shown(made.text, sizes=made.sizes, notes=notes)


# --- what is known without the repository --------------------------------------------------------


def shown_of(content: Mapping[str, str], session: AgentSession, *problem: str) -> Shown:
    """The prompt as far as a ConfigMap's content tells it. `problem`: why the rest is not there,
    and what helps. Raises CliError for no such content."""
    if _OLD_KEY in content:
        return Shown(content[_OLD_KEY], exact=True)
    given = session.status.prompt
    # Until the pod has told, what is most likely is shown.
    resumed = given is None or given.resumed is not False
    at = f"as it is in commit {given.base}" if given is not None else "as in its first commit"
    if given is not None and given.mark is None:
        problem = ("its pod is of an older release, which told no mark",)
    notes = (f"Not to the byte what the agent reads; {_NOT_ALL}.", *map(_sentence, problem))
    made = _without_contents(content, _change(session), at, resumed=resumed)
    return Shown(made.text, sizes=made.sizes, notes=notes)


def _change(session: AgentSession) -> str:
    """What stands in place of the patch."""
    given, rejected = session.status.prompt, session.spec.rejected
    if rejected is None or (given is not None and given.resumed):
        return ""
    if given is not None and given.change_missing is not None:
        return unshown(given.change_missing)
    return f"(What commit {rejected.sha} changes, which is at {rejected.ref}: the pod adds it.)"


def shown_of_next(snapshot: TaskSnapshot) -> Shown:
    """What the first session of a Task would be told now."""
    texts = of_snapshot(snapshot, next_attempt(snapshot))
    spec = snapshot.project.spec if snapshot.project is not None else None
    told = [_next(each) for each in spec.knowledge] if spec is not None else []
    content = parts.data(texts, snapshot.task.spec.context_files) | knowledge.data(told)
    made = _without_contents(content, "", "as in its first commit", resumed=True)
    note = f"No session has begun: this is what the first one would be told now; {_NOT_ALL}."
    unknown = () if snapshot.project is not None else ("What its Project adds cannot be read.",)
    return Shown(made.text, sizes=made.sizes, notes=(note, *unknown))


def _next(entry: Knowledge) -> Told:
    """What a session will be told of it."""
    if entry.config_map is None:
        return Told(entry.name, None, path=entry.path or "")
    source = f"'{entry.config_map.key}' of ConfigMap '{entry.config_map.name}'"
    return Told(entry.name, None, f"it is {source}, as that is when the session begins")


def _without_contents(
    content: Mapping[str, str], change: str, at: str, *, resumed: bool
) -> Assembled:
    try:
        paths, asked = parts.context_of(content), knowledge.told_in(content)
    except ValueError as error:
        raise CliError("InvalidObject", f"the prompt cannot be read: {error}") from error
    adds = f"the pod adds it, {at}"
    files = [ContextFile(path, None, adds) for path in dict.fromkeys(paths)]
    told = [replace(each, why=adds) if each.path else each for each in asked]
    return complete(content, files, change, resumed, lambda: _MARK, told)


def next_attempt(snapshot: TaskSnapshot) -> int:
    """The attempt that the Task's next session is one of."""
    return snapshot.status.attempt + 1


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
