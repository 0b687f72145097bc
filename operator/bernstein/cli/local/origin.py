"""Where a folder's repository comes from, as its clone says."""

from __future__ import annotations

import re
from pathlib import Path

from bernstein.api.projects.repository import ADDRESS_PATTERN
from bernstein.cli.local import git
from bernstein.cli.local.git import GitFailed
from bernstein.core.sanitise import line

_REMOTE = "origin"
_LONGEST = 2048
_SCP = re.compile(
    r"(?:(?P<user>[A-Za-z0-9_][A-Za-z0-9._-]*)@)?(?P<host>[A-Za-z0-9.-]+):(?P<path>.+)"
)
"""HOST:PATH, which git takes for SSH."""
_FORM = re.compile(ADDRESS_PATTERN)
_SECONDS = 5.0


class NoAddress(ValueError):  # noqa: N818 - it says what is so
    """No address that a Project takes; the text quotes no user and no password."""


async def url(folder: Path) -> str | None:
    """What `git remote get-url origin` prints there; None: nothing."""
    return await _told(folder, "remote", "get-url", _REMOTE)


async def branch(folder: Path) -> str | None:
    """The branch that the server had as its own when it was cloned; None: that is not known."""
    found = await _told(folder, "symbolic-ref", "--short", f"refs/remotes/{_REMOTE}/HEAD")
    return None if found is None else found.removeprefix(f"{_REMOTE}/")


async def _told(folder: Path, *arguments: str) -> str | None:
    asked = ("-C", str(folder), *arguments)
    try:
        out = await git.run(*asked, seconds=_SECONDS, at_most=_LONGEST)
    except GitFailed:
        return None
    return out.decode(errors="replace").strip() or None


def address(given: str) -> str:
    """The address as a Project has it: without password, query and fragment, and with https
    without a user; HOST:PATH as ssh://HOST/PATH. Raises NoAddress."""
    scheme, colon, rest = given.strip().partition("://")
    if not colon:
        found = _of_scp(given.strip())
    elif scheme in ("https", "ssh"):
        place, slash, path = re.split(r"[?#]", rest, maxsplit=1)[0].partition("/")
        user, _, host = place.rpartition("@")
        kept = f"{user.partition(':')[0]}@" if user and scheme == "ssh" else ""
        found = f"{scheme}://{kept}{host}{slash}{path}".rstrip("/")
    else:
        raise NoAddress(f"'{line(scheme, 20)}' is neither https nor ssh")
    if len(found) > _LONGEST or not found.isprintable() or not _FORM.fullmatch(found):
        raise NoAddress("it is no address of https or SSH")
    return found


def host(address_of: str) -> str:
    """The host of such an address, in small letters and without its port."""
    place = address_of.partition("://")[2].partition("/")[0].rpartition("@")[2]
    return place.partition(":")[0].lower()


def _of_scp(given: str) -> str:
    parts = _SCP.fullmatch(given)
    if parts is None or given.startswith((".", "/", "~")):
        raise NoAddress("it is a folder of this machine, which no pod reaches")
    user = f"{parts['user']}@" if parts["user"] else ""
    return f"ssh://{user}{parts['host']}/{parts['path'].lstrip('/')}"
