"""What a Project says of how its tests are listed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bernstein.api.meta import Model


class CollectTests(Model):
    """How the tests of a tree are listed, so that those of the work are compared with those of the
    commit before it."""

    enabled: bool = Field(
        default=False,
        description="true: tests that are listed there and not in the work any more are told, and "
        "with protectTests the work is rejected.",
    )
    command: Annotated[str, Field(min_length=1, max_length=4096)] | None = Field(
        default=None,
        description="Shell command that prints the name of each test on a line of its own, and "
        "nothing else, and ends with 0; it runs in the toolchain's image. Absent: pytest.",
    )
