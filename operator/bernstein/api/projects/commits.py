"""Who the commits that land are by, and who has signed them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from bernstein.api.meta import NOT_IN_A_LINE, DataKey, Model, cel, outside, rule
from bernstein.api.projects.credentials import SecretKey, told_apart

NAME_PATTERN = outside((*NOT_IN_A_LINE, (0x3C, 0x3C), (0x3E, 0x3E)))
_LEFT_OUT = r"[ .,:;\\x22\\x27\\x5c]"
"""What git leaves out where a name begins or ends: a sign-off would name somebody else."""
_LABEL = "[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?"
EMAIL_PATTERN = rf"^[A-Za-z0-9_]([A-Za-z0-9_.+\[\]-]*[A-Za-z0-9_\]])?@{_LABEL}([.]{_LABEL})*$"


class Person(Model):
    """A name and an address, as commits have them."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                f"!self.name.matches('^{_LEFT_OUT}|{_LEFT_OUT}$')",
                "a name neither begins nor ends with a space, a quote or one of . , : ; \\",
                fieldPath=".name",
            )
        ),
    }

    name: Annotated[
        str, Field(min_length=1, max_length=100, json_schema_extra={"pattern": NAME_PATTERN})
    ]
    """On one line, without < and >."""
    email: Annotated[str, Field(max_length=254, json_schema_extra={"pattern": EMAIL_PATTERN})]
    """Address of electronic mail; nothing is sent there."""


class Commits(Model):
    """Who the commits are by that Jobs of the Project make."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": cel(
            rule(
                "!has(self.signOff) || !self.signOff || has(self.author) || has(self.committer)",
                "somebody signs off: name the 'author' or the 'committer'",
                fieldPath=".signOff",
            )
        ),
    }

    author: Person | None = Field(
        default=None,
        description="Author of new commits; those that are there stay as they were verified. "
        "Absent: Bernstein.",
    )
    committer: Person | None = None
    """Committer of new commits; absent: the author."""
    sign_off: bool = Field(
        default=False,
        description="The message ends with a Signed-off-by of the committer, as the Developer "
        "Certificate of Origin asks for.",
    )


class Signing(Model):
    """How the commits that land are signed."""

    model_config = {
        **Model.model_config,
        "json_schema_extra": told_apart("SSH key"),
    }

    key: SecretKey = Field(
        description="Private SSH key of the type ed25519, without a passphrase. No Job but the one "
        "that lands work mounts it."
    )
    public_key: DataKey | None = Field(
        default=None,
        description="Key of the same Secret with the public half, as in a .pub file, which is "
        "tried at once; nothing is signed by another key. Absent: what is wrong shows when work "
        "lands.",
    )
