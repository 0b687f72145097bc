"""What is run in a checkout before an agent or a check begins."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bernstein.api.meta import Model


class Setup(Model):
    """A command of the Project's that makes a checkout ready, such as one that installs what the
    repository's lock file names."""

    command: Annotated[str, Field(min_length=1, max_length=4096)] = Field(
        description="Shell command that runs in the checkout, in the image of the agent or the "
        "check that follows, and ends with exit code 0."
    )
    timeout_seconds: Annotated[int, Field(ge=1, le=7200)] = 600
    """How long it may take, in seconds; an agent's session has as much more."""
