"""Author, committer and sign-off of the commits that Jobs of a Project make."""

from __future__ import annotations

from dataclasses import replace

from bernstein.api.programs.commit import CommitText
from bernstein.api.project import Project


def text(project: Project, message: str) -> CommitText:
    """The commit with this message, which ends with trailers: a sign-off is one more of them."""
    asked, made = project.spec.merge.commit, CommitText(message)
    if asked.author is not None:
        made = replace(made, author=asked.author.name, email=asked.author.email)
    if asked.committer is not None:
        who = asked.committer
        made = replace(made, committer=who.name, committer_email=who.email)
    return _signed_off(made) if asked.sign_off else made


def _signed_off(made: CommitText) -> CommitText:
    """As `git commit --signoff` does: by the committer."""
    name, email = made.committed_by
    return replace(made, message=f"{made.message}Signed-off-by: {name} <{email}>\n")
