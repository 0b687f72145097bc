"""What the operator tells programs of a commit that they make."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommitText:
    """Author, committer and text of a commit to be made."""

    message: str
    """The whole message, with its trailers."""
    author: str = "Bernstein"
    email: str = "bernstein@bernstein.dev"
    committer: str = ""
    """Name of the committer; "": that is the author."""
    committer_email: str = ""

    @property
    def committed_by(self) -> tuple[str, str]:
        """Name and address of the committer."""
        if self.committer:
            return self.committer, self.committer_email
        return self.author, self.email
