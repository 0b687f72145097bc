"""Why a forge did not do what it was asked: stable words, and what follows from each."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from bernstein.api.programs.remote import Policy


class ForgeReason(StrEnum):
    TOKEN_REFUSED = "ForgeTokenRefused"  # noqa: S105
    """The forge does not know the token, or not any more."""
    TOKEN_UNREADABLE = "ForgeTokenUnreadable"  # noqa: S105
    """The file of the token is not there, or holds no token."""
    ADDRESS_INVALID = "ForgeAddressInvalid"
    """The address is none of a forge's API, or would send the token in clear text; or the forge
    answers that the repository is elsewhere."""
    RIGHTS_MISSING = "ForgeRightsMissing"
    """The token is known, and may not do this."""
    NOT_FOUND = "ForgeNotFound"
    """There is no such repository, branch or pull request, or not for this token."""
    EXISTS = "ForgeExists"
    """What was to be made is there already."""
    OPENED_BY_OTHER = "ForgeOpenedByOther"
    """Another account has opened a pull request of the same branches, and may rename and close it.
    """
    REFUSED = "ForgeRefused"
    """The forge takes the request for a wrong one."""
    RATE_LIMITED = "ForgeRateLimited"
    """The forge limits the rate of requests."""
    UNAVAILABLE = "ForgeUnavailable"
    """The forge answers with a server error."""
    UNREACHABLE = "ForgeUnreachable"
    """There is no connection to the forge, or it broke."""
    UNTRUSTED = "ForgeUntrusted"
    """Nobody whom we trust has signed the forge's certificate."""
    TIMEOUT = "ForgeTimeout"
    """The answer was not there in time."""
    ANSWER_INVALID = "ForgeAnswerInvalid"
    """What came is no answer of this forge's."""


POLICIES: Final[Mapping[ForgeReason, Policy]] = {
    ForgeReason.TOKEN_REFUSED: Policy("Put a token that is valid into its Secret."),
    ForgeReason.TOKEN_UNREADABLE: Policy(
        "Put the token, and nothing else, into the Secret: one line of visible ASCII characters."
    ),
    ForgeReason.ADDRESS_INVALID: Policy(
        "Correct the repository's url, where it was renamed or moved, or the address of the "
        "forge's API: https, and as the forge documents it."
    ),
    ForgeReason.RIGHTS_MISSING: Policy("Give the token the right to write pull requests."),
    ForgeReason.NOT_FOUND: Policy(
        "Correct the repository's url, or let the token's account see the repository."
    ),
    ForgeReason.EXISTS: Policy("Look at the pull request that is there for the same branch."),
    ForgeReason.OPENED_BY_OTHER: Policy(
        "Close that pull request: another one is opened then. It is not taken for ours, as who has "
        "opened it may rename and close it."
    ),
    ForgeReason.REFUSED: Policy("Read what the forge said, and whether the branch may be merged."),
    ForgeReason.RATE_LIMITED: Policy(
        "Wait for the time it names, or raise the forge's limit.", again=True
    ),
    ForgeReason.UNAVAILABLE: Policy("Look at the forge's status page or log.", again=True),
    ForgeReason.UNREACHABLE: Policy(
        "Check the forge's address, and that pods may reach it (network.forge, where it is a "
        "private one).",
        again=True,
    ),
    ForgeReason.UNTRUSTED: Policy(
        "Name the certificate authority of the address, where it is a private one."
    ),
    ForgeReason.TIMEOUT: Policy("Look whether the forge is slow for everybody.", again=True),
    ForgeReason.ANSWER_INVALID: Policy(
        "Check that the address is the forge's API, and which forge it is."
    ),
}
